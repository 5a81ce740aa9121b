"""Dialogues written by a model in this process, from the command line."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.hipo.cli.conftest import Hipo
from tests.tiny_model import save_tiny_model

PACKAGES = ("torch", "transformers", "llguidance")
pytestmark = [
    pytest.mark.skipif(
        any(find_spec(package) is None for package in PACKAGES),
        reason="needs pip install 'hipo[local]'",
    ),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
GENERATE = (
    "generate", "--scenarios", "used_car", "--turns", "1", "--strategy", "direct", "-n", "2",
    "--temperature", "1", "-o", "run",
)  # fmt: skip


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return save_tiny_model(tmp_path / "tiny", window=16_384, brief=True)


def test_dialogues_are_written_resumed_and_priced_at_nothing(hipo: Hipo, tiny: Path) -> None:
    first = hipo(*GENERATE, "--model", f"hf/{tiny}", "--budget-usd", "1", "--format", "json")
    assert first.code == 0, first.err
    assert (first.data["generated"], first.data["failed"]) == (2, {})
    again = hipo(*GENERATE, "--model", f"hf/{tiny}", "--format", "json")
    assert again.data["calls"] == first.data["calls"] == 2
    assert (again.data["cost_usd"], again.data["unpriced_calls"]) == (0.0, 0)


def test_without_the_package_for_schemas_the_prompt_asks_for_the_format(
    hipo: Hipo, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "pipeline.providers.hf.provider.find_spec",
        lambda name: None if name == "llguidance" else find_spec(name),
    )
    result = hipo(*GENERATE, "--max-tokens", "16", "--model", f"hf/{tiny}", "--format", "json")
    assert result.data["failed"] == {"truncated": 2}, "a random model writes no JSON by itself"
    assert "the prompt alone asks for the format from now on" in result.err


def test_a_model_that_was_trained_on_is_not_taken_for_the_same(hipo: Hipo, tiny: Path) -> None:
    assert hipo(*GENERATE, "--model", f"hf/{tiny}", "-q").code == 0
    save_tiny_model(tiny, window=16_384, brief=True, seed=1)
    other = hipo(*GENERATE, "--model", f"hf/{tiny}")
    assert other.code == 2
    assert "responder revision (direct): " in other.err


def test_a_folder_without_a_model_is_told_before_anything_is_made(
    hipo: Hipo, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    result = hipo(*GENERATE, "--model", "hf/empty")
    assert result.code == 2
    assert "empty holds no model" in result.err
    assert not (tmp_path / "run").exists()


def test_a_context_that_is_too_small_ends_the_run_with_one_message(
    hipo: Hipo, tmp_path: Path
) -> None:
    small = save_tiny_model(tmp_path / "small", window=512)
    result = hipo(*GENERATE, "--model", f"hf/{small}", "-q")
    assert result.code == 2
    assert "is too small for the prompt of the responder: it holds 512 tokens, and" in result.err


def test_examples_that_do_not_fit_into_the_context_end_an_evaluation_with_one_message(
    hipo: Hipo, tmp_path: Path
) -> None:
    small = save_tiny_model(tmp_path / "small", window=2048)
    made = ("--scenarios", "used_car", "--turns", "1", "-n", "2", "-q")
    assert hipo("generate", "--model", "offline/rules", *made, "-o", "run").code == 0
    result = hipo(
        "evaluate", "run", "run", "--any", "--task", "hipo-utterance", "--mode", "icl",
        "--model", f"hf/{small}", "-o", "evaluated", "-q",
    )  # fmt: skip
    assert result.code == 2
    assert "is too small for the prompt of" in result.err
    assert "it holds 2,048 tokens, and" in result.err


def test_a_model_is_evaluated_and_trained_on_asked_anew(hipo: Hipo, tiny: Path) -> None:
    made = ("--scenarios", "used_car", "--turns", "1", "-n", "2", "-q")
    assert hipo("generate", "--model", "offline/rules", *made, "-o", "run").code == 0
    evaluate = (
        "evaluate", "run", "run", "--any", "--task", "hipo-utterance", "--model", f"hf/{tiny}",
        "--no-page", "-o", "evaluated",
    )  # fmt: skip
    first = hipo(*evaluate, "--format", "json")
    assert first.code == 0, first.err
    rows = Path("evaluated", "results.jsonl").read_text("utf-8").splitlines()
    assert len(rows) == 2
    assert f"hf/{tiny}" in rows[0]
    assert hipo(*evaluate, "-q").code == 0
    save_tiny_model(tiny, window=16_384, brief=True, seed=1)
    other = hipo(*evaluate)
    assert other.code == 2
    assert "revision" in other.err
