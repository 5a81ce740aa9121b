"""Prose on a terminal: broken between words, and nowhere else."""

from __future__ import annotations

import io
import sys

import pytest

from hipo.cli.terminal.errors import say
from hipo.cli.terminal.wrapping import wrapped, write_text

PROSE = "it is possible that --judge-base-url repairs what one could not have known beforehand"


@pytest.mark.parametrize("width", range(24, 100, 7))
def test_prose_is_broken_between_words_at_any_width(width: int) -> None:
    lines = wrapped(f"  {PROSE}", width).split("\n")
    assert max(map(len, lines)) <= width
    assert all(line.startswith("  ") for line in lines)
    assert " ".join(line.strip() for line in lines) == PROSE


def test_rows_of_tables_and_long_words_stay_whole() -> None:
    table = "strategy    dialogues  calls\nconsistency  1,000      4,000"
    assert wrapped(table, 20) == table
    path = "/a/" + "very-" * 20 + "long/path"
    assert path in wrapped(f"in {path}", 30)


class Window(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_only_what_a_terminal_shows_is_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    say(PROSE)
    write_text(PROSE)
    captured = capsys.readouterr()
    assert captured.err == captured.out == PROSE + "\n"
    window = Window()
    monkeypatch.setattr(sys, "stderr", window)
    monkeypatch.setattr(sys, "stdout", window)
    say(PROSE)
    write_text(PROSE)
    assert max(map(len, window.getvalue().splitlines())) <= 40
