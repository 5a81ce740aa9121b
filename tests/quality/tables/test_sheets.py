"""Sheets of the review, and turns of runs, as plain tables."""

from __future__ import annotations

from pathlib import Path

from quality.review.outgoing import dimensions_of
from quality.review.spreadsheet import blank_columns, columns
from quality.tables.header import read_header
from scenarios.reviews import ReviewStudy
from scenarios.schemes.registry import load_scheme
from tests.quality.tables.plain_table import answers, read


def test_a_sheet_of_the_review_is_read_by_its_labels_alone(tmp_path: Path) -> None:
    head = "item,scenario,category,utterance,annotator,veracity,goal,issue,issue_reason,scenario_problem,note,lead_s"
    rows = [
        f"{item},used_car,products,Never.,{who},{label},{goal},{issue},{reason},,,{seconds}"
        for who, goal in (("A01", "deception"), ("A02", "deception"))
        for item, label, goal, issue, reason, seconds in (
            ("c/a#3", "Quality", "", "", "", ""),
            ("c/a", "", goal, "confirmed", "goal", "0.000"),
        )
    ]
    table = read(tmp_path, "\n".join([head, *rows]))
    assert table.table.dimensions == ("veracity", "goal")
    assert answers(table) == {
        ("c/a#3", "A01", "veracity", "Quality"), ("c/a#3", "A02", "veracity", "Quality"),
        ("c/a", "A01", "goal", "deception"), ("c/a", "A02", "goal", "deception"),
    }  # fmt: skip
    assert not table.findings
    assert not table.oddities


def test_turns_of_a_run_belong_to_the_dialogue_that_their_names_say(tmp_path: Path) -> None:
    run = f"{'0a' * 10}/{'1b' * 10}"
    lines = [f"{item},{who},x" for item in (f"{run}#0", f"{run}#2", "post#1") for who in "AB"]
    table = read(tmp_path, "\n".join(["item,annotator,label", *lines]))
    assert {(a.item, a.dialogue) for a in table.answers} == {
        (f"{run}#0", run),
        (f"{run}#2", run),
        ("post#1", "post#1"),
    }
    assert {(a.subject.case, a.subject.turn) for a in table.annotations} == {
        (run, 0),
        (run, 2),
        ("post#1", None),
    }


def test_several_labels_in_a_cell_of_a_review_sheet_are_the_same_in_any_order(
    tmp_path: Path,
) -> None:
    head = "item,scenario,category,utterance,annotator,reasons,note,lead_s"
    rows = [
        f"c/a#{turn},used_car,products,Never.,{who},{label},,"
        for who, labels in (("A01", ("logic | emotion", "2")), ("A02", ("emotion|logic", "logic")))
        for turn, label in enumerate(labels, 1)
    ]
    table = read(tmp_path, "\n".join([head, *rows]))
    (reasons,) = table.scheme.dimensions
    assert (reasons.measurement, reasons.values) == ("multi", ("2", "emotion", "logic"))
    assert answers(table) == {
        ("c/a#1", "A01", "reasons", ("emotion", "logic")), ("c/a#2", "A01", "reasons", ("2",)),
        ("c/a#1", "A02", "reasons", ("emotion", "logic")), ("c/a#2", "A02", "reasons", ("logic",)),
    }  # fmt: skip
    assert not table.oddities


def test_a_row_that_nobody_has_filled_in_needs_no_annotator(tmp_path: Path) -> None:
    head = "item,scenario,category,utterance,annotator,veracity,note,lead_s"
    rows = [
        f"c/a#{turn},used_car,products,Never.,{who},{label},,"
        for turn, who, label in (
            (1, "A01", "None"),
            (1, "A02", "Quality"),
            (3, "", ""),
            (5, "", ""),
        )
    ]
    table = read(tmp_path, "\n".join([head, *rows]))
    assert not table.oddities
    table = read(tmp_path, "\n".join([head, *rows, "c/a#7,used_car,products,No.,,Quality,,"]))
    assert [odd.code for odd in table.oddities] == ["no_annotator"]


def test_every_column_of_a_review_sheet_that_is_no_label_is_known() -> None:
    scheme = load_scheme("hipo")
    study = ReviewStudy(1, "review", "review", 3, 0, {})
    for names in (columns(scheme), blank_columns(scheme, study)):
        header = read_header(names)
        assert header.is_review
        dimensions = [d.id for d in dimensions_of(scheme)]
        assert [*filter(None, (header.value, *header.others))] == dimensions
