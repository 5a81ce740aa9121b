"""Tables at a terminal."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from hipo.cli.terminal.console import columns
from hipo.cli.terminal.errors import guarded
from scenarios.errors import SHOWN, InputError, Problem, UsageError


def test_columns_stand_under_one_another_whatever_script_they_are_in():
    rows = [["安娜", "12"], ["Jürgen", "3"], ["हिन्दी", "4"], ["Cafe\u0301", "5"]]
    header, *lines = columns(["annotator", "items"], rows).split("\n")
    assert [cell_len(line) for line in lines] == [cell_len(header)] * 4


def test_words_are_set_to_the_left_and_numbers_to_the_right():
    assert columns(["name", "n"], [["a", "10"], ["bcdef", "2"]]) == (
        "name    n\na      10\nbcdef   2"
    )


def test_no_cell_drives_the_terminal_or_breaks_its_row_and_neither_does_a_header():
    assert columns(["\x1b[31mred", "a\nb"], [["\x1b[0m", "c\nd"]]) == (
        "\\x1b[31mred  a b\n\\x1b[0m      c d"
    )


def refusing(error: Exception) -> int:
    def command() -> None:
        raise error

    return guarded(command)


def test_no_message_drives_a_terminal_whatever_it_quotes(capsys: pytest.CaptureFixture[str]):
    error = UsageError("found '\x1b]0;title\x07\x1b[2J\u202eeman'", "see\nbelow")
    assert refusing(error) == 2
    said = capsys.readouterr().err
    assert said == "error: found '\\x1b]0;title\\x07\\x1b[2J\\x202eeman'\n  see\nbelow\n"


def test_a_file_with_countless_problems_is_not_told_all_of_them(
    capsys: pytest.CaptureFixture[str],
):
    problems = [Problem("f", line, "", f"x{line}", "y") for line in range(SHOWN + 1234)]
    assert refusing(InputError(problems)) == 2
    *_, last = capsys.readouterr().err.splitlines()
    assert last == "and 1,234 problems more"
