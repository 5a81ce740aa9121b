"""Tables at a terminal."""

from __future__ import annotations

from rich.cells import cell_len

from hipo.cli.console import columns


def test_columns_stand_under_one_another_whatever_script_they_are_in():
    rows = [["安娜", "12"], ["Jürgen", "3"], ["हिन्दी", "4"], ["Cafe\u0301", "5"]]
    header, *lines = columns(["annotator", "items"], rows).split("\n")
    assert [cell_len(line) for line in lines] == [cell_len(header)] * 4


def test_words_are_set_to_the_left_and_numbers_to_the_right():
    assert columns(["name", "n"], [["a", "10"], ["bcdef", "2"]]) == (
        "name    n\na      10\nbcdef   2"
    )
