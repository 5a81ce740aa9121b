"""The page of commands says what the commands say."""

from __future__ import annotations

import re
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


def test_help_and_pages_say_alike_how_many_calls_one_process_is_enough_for() -> None:
    said = {
        name: re.findall(
            r"some ([\d,]+) calls a second", " ".join((DOCS / name).read_text().split())
        )
        for name in ("commands.md", "workers.md", "clusters.md")
    }
    assert all(said.values())
    assert {figure for figures in said.values() for figure in figures} == {said["workers.md"][0]}


def test_no_list_of_commands_ends_in_the_middle_of_a_sentence() -> None:
    lists = re.findall(
        r"^Commands:\n((?:  .*\n)+)", (DOCS / "commands.md").read_text(), re.MULTILINE
    )
    assert len(lists) > 5
    assert [line for listed in lists for line in listed.splitlines() if line.endswith("...")] == []
