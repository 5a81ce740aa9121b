"""CSV that a spreadsheet cannot execute, and that comes back as it went."""

from __future__ import annotations

import csv
import io
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality.review.import_csv import read_csv
from quality.tables.formulas import neutral, original
from scenarios.errors import InputError
from scenarios.schemes.registry import load_scheme

HIPO = load_scheme("hipo")


@pytest.mark.parametrize(
    "cell",
    [
        '=HYPERLINK("http://x","y")',
        "+1+1",
        "-2+3+cmd|' /C calc'!A0",
        "@SUM(1)",
        "\t=1",
        "\r=1",
        "\uff1d1+1",
        "'=1",
    ],
)
def test_what_would_be_computed_is_shown_instead(cell: str) -> None:
    assert neutral(cell).startswith("'")
    assert original(neutral(cell)) == cell


@pytest.mark.parametrize("cell", ["-0.3333333333333333", "12", "Quality", "it's fine", "'quoted'"])
def test_plain_cells_stay_as_they_are(cell: str) -> None:
    assert neutral(cell) == cell


@given(st.text(st.characters(codec="utf-8")))
def test_every_cell_comes_back(cell: str) -> None:
    assert original(neutral(cell)) == cell


def table(*rows: dict[str, str], header: str = "item,annotator,veracity,goal,note") -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, header.split(","), restval="")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def test_rows_of_one_person_and_dialogue_are_one_answer() -> None:
    text = table(
        {"item": "c/a#3", "annotator": "A01", "veracity": "Quality"},
        {"item": "c/a#5", "annotator": "A01", "veracity": "Manner"},
        {"item": "c/a", "annotator": "A01", "goal": "deception", "note": "'=1"},
    )
    (sheet,) = read_csv(text, HIPO, "t.csv")
    assert sheet.labels == {
        (3, "veracity"): "Quality", (5, "veracity"): "Manner", (None, "goal"): "deception",
    }  # fmt: skip
    assert sheet.opinion == {"note": "=1"}


def test_rows_nobody_filled_in_are_left_out() -> None:
    assert read_csv(table({"item": "c/a#3"}), HIPO, "t.csv") == []


def test_semicolons_and_a_byte_order_mark_are_understood() -> None:
    text = "\ufeffitem;annotator;veracity\r\nc/a#3;A01;Quality\r\n"
    assert len(read_csv(text, HIPO, "t.csv")) == 1


def test_every_problem_is_named_with_its_line() -> None:
    text = table(
        {"item": "nonsense", "annotator": "A01", "veracity": "Quality"},
        {"item": "c/a#3", "veracity": "Quality"},
        {"item": "c/a#3", "annotator": "A01", "veracity": "Quality"},
        {"item": "c/a#3", "annotator": "A01", "veracity": "Manner"},
    )
    with pytest.raises(InputError) as caught:
        read_csv(text, HIPO, "t.csv")
    assert [problem.line for problem in caught.value.problems] == [2, 3, 5]


def test_a_column_that_is_no_question_is_refused() -> None:
    with pytest.raises(InputError, match="an unknown column"):
        read_csv("item,annotator,veracty\nc/a#3,A01,Quality\n", HIPO, "t.csv")


@given(st.text())
def test_any_text_is_a_table_or_an_error(text: str) -> None:
    with suppress(InputError):
        assert isinstance(read_csv(text, HIPO, "t.csv"), list)
