"""What an export says of rows that trainers would cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipo.cli.main import run as hipo
from tests.outputs.corpora import exportable_run


@pytest.mark.parametrize(("prompt", "is_advised"), [("short", False), ("long.txt", True)])
def test_the_short_prompt_is_advised_where_another_one_was_taken(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    prompt: str,
    is_advised: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("outputs.token_lengths.DEFAULT_WINDOW", 10)
    Path("long.txt").write_text("Name the labels of the line. " * 20, encoding="utf-8")
    exportable_run(tmp_path / "run", scenarios=3)
    assert hipo(["export", "run", "--to", "sft", "-o", "set", "--prompt", prompt]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "answer first: set max_length" in told
    assert ("or take --prompt short" in told) is is_advised
