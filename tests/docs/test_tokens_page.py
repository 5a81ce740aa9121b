"""The page on tokens and dollars: its table is what the command that it names prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from hipo.cli.main import run

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tokens.md").read_text(encoding="utf-8")


def test_its_prices_are_those_of_the_dry_run_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ((command, table),) = re.findall(
        r"`hipo ([^`]* --dry-run)`:\n\n```\n(.*?)\.\.\.\n```", PAGE, re.DOTALL
    )
    assert run(shlex.split(command)) == 0
    assert table in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
