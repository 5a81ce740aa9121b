"""The page of commands says what the commands say."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_of_commands_is_what_the_help_says() -> None:
    generate = runpy.run_path(str(DOCS / "generate_commands.py"))["commands_page"]
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert page == generate(), "run: python docs/generate_commands.py"


def test_the_width_of_the_terminal_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    generate = runpy.run_path(str(DOCS / "generate_commands.py"))["commands_page"]
    wide = generate()
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERMINAL_WIDTH", "40")
    assert generate() == wide
