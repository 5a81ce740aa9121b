"""The figures of the main paper: as printed, and true to each other where the paper's are."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from statistics import fmean
from typing import get_args

import pytest
from markdown_it import MarkdownIt
from pydantic import ValidationError

from outputs.report.page import CellMark
from outputs.report.wording import NOTHING
from outputs.result_tables.documents import (
    CSV_COLUMNS,
    results_as_csv,
    results_as_html,
    results_as_markdown,
)
from outputs.result_tables.marks import result_marks
from outputs.result_tables.model import ResultTable
from outputs.result_tables.paper import paper_results
from scenarios.schemes.registry import load_scheme
from tests.outputs.html_tree import XHTML, parsed

RESULTS = paper_results()
TABLES = {table.id: table for table in RESULTS.tables}
BOARD, TUNING = TABLES["leaderboard"], TABLES["finetuning"]
CLASSES, TEXT = TABLES["human-classes"], TABLES["human-text"]
MODELS = [row for row in BOARD.rows if row.kind == "model"]
COLUMNS = [f"{c.task} {c.dimension} {c.metric}" for c in BOARD.columns]

# What is bold, and what is underlined, in the printed Table 2, column by column.
PRINTED = {
    "utterance illocutionary accuracy": (["Claude-3.7"], ["Claude-4.0"]),
    "utterance illocutionary F1": (["GPT-4o"], ["GPT-4.1"]),
    "utterance veracity accuracy": (["GPT-4.1"], ["Qwen3-4B"]),
    "utterance veracity F1": (["GPT-4.1"], ["GPT-4o"]),
    "utterance intention accuracy": (["Claude-4.0"], ["Llama-3.2-1B"]),
    "utterance intention F1": (["GPT-4o"], ["Gemini-1.5"]),
    "utterance goal accuracy": (["Gemini-2.5"], ["Claude-3.7"]),
    "utterance goal F1": (["Gemini-2.5"], ["Qwen2.5-14B"]),
    "cumulative illocutionary accuracy": (["Claude-3.7"], ["Claude-4.0"]),
    "cumulative illocutionary F1": (["GPT-4.1"], ["GPT-4o"]),
    "cumulative veracity accuracy": (["GPT-4.1"], ["Qwen3-4B"]),
    "cumulative veracity F1": (["GPT-4.1"], ["GPT-4o"]),
    "cumulative intention accuracy": (["Llama-3.2-1B"], ["Gemini-2.5"]),
    "cumulative intention F1": (["GPT-4o"], ["Gemini-1.5"]),
    "cumulative goal accuracy": (["Gemini-2.5"], ["Llama-3.1-70B"]),
    "cumulative goal F1": (["Llama-3.1-70B"], ["Gemini-2.5"]),
    "conversation goal accuracy": (["Claude-3.7"], ["Gemini-2.5"]),
    "conversation goal F1": (["GPT-o3-mini"], ["Gemini-2.0", "GLM-4-9B"]),
}


def row_of(table, **fields):
    (found,) = [
        row for row in table.rows if all(getattr(row, name) == fields[name] for name in fields)
    ]
    return found


def column(place):
    return [row.values[place] for row in MODELS]


def human_means(place):
    """Return the means of Table 5 over the classes of each dimension, in per cent."""
    means = {}
    for dimension in ("illocutionary", "veracity", "intention", "goal"):
        rows = [row for row in CLASSES.rows if row.dimension == dimension]
        means[dimension] = float(fmean(Decimal(str(100 * row.values[place])) for row in rows))
    return means


def test_every_table_has_the_rows_and_columns_of_the_paper():
    kinds = [row.kind for row in BOARD.rows]
    assert [kinds.count(kind) for kind in ("model", "average", "human")] == [22, 1, 1]
    families = [row.family for row in MODELS]
    expected = {"Llama": 5, "Qwen": 7, "GPT": 4, "Gemini": 3, "Claude": 2, "GLM": 1}
    assert {family: families.count(family) for family in families} == expected
    assert len({row.name for row in MODELS}) == 22
    assert list(PRINTED) == COLUMNS
    assert [row.kind for row in TUNING.rows] == ["average", "model", "tuned", "model", "tuned"]
    assert len(CLASSES.rows) == 14
    assert len(TEXT.rows) == 3


def test_dimensions_and_labels_are_those_of_the_papers_scheme():
    scheme = load_scheme("hipo@1")
    labels = {d.id: {label.id for label in d.labels} for d in scheme.declared}
    for table in RESULTS.tables:
        for name in [c.dimension for c in table.columns] + [r.dimension for r in table.rows]:
            assert not name or name in labels
    left_out = {d: ids - {r.label for r in CLASSES.rows if r.dimension == d}
                for d, ids in labels.items()}  # fmt: skip
    assert {d: ids for d, ids in left_out.items() if ids} == {
        "veracity": {"None"},
        "illocutionary": {"Declarations"},
    }


def test_only_people_lack_values_and_only_where_the_paper_has_none():
    lacking = {
        (table.id, row.kind) for table in RESULTS.tables for row in table.rows if None in row.values
    }
    assert lacking == {("leaderboard", "human"), ("human-text", "human")}
    people = row_of(BOARD, kind="human").values
    assert [c for c, v in zip(COLUMNS, people, strict=True) if v is not None] == [
        *COLUMNS[8:14],
        *COLUMNS[16:],
    ]


@pytest.mark.parametrize("place", range(18), ids=COLUMNS)
def test_a_printed_average_is_the_mean_of_its_column(place):
    printed = row_of(BOARD, kind="average").values[place]
    assert abs(fmean(column(place)) - printed) < 0.1


def test_one_printed_average_alone_is_not_the_rounded_mean():
    averages = row_of(BOARD, kind="average").values
    off = {
        name: round(fmean(column(place)), 3)
        for place, name in enumerate(COLUMNS)
        if abs(fmean(column(place)) - averages[place]) > 0.05 + 1e-9
    }
    assert off == {"conversation goal accuracy": 46.245}


@pytest.mark.parametrize("place", range(18), ids=COLUMNS)
def test_the_computed_marks_are_those_the_paper_prints(place):
    marks = result_marks(BOARD)
    found = tuple(
        [row.name for n, row in enumerate(BOARD.rows) if marks.get((n, place)) == mark]
        for mark in ("best", "second")
    )
    assert found == PRINTED[COLUMNS[place]]


def test_tuned_models_rise_and_fall_as_the_paper_says():
    marks = result_marks(TUNING)
    arrows = ["".join({"up": "+", "down": "-"}[marks[n, c]] for c in range(5)) for n in (2, 4)]
    assert arrows == ["-++-+", "+++--"]
    assert len(marks) == 10


def test_fine_tuning_begins_at_the_rows_of_the_leaderboard():
    places = [COLUMNS.index(f"{c.task} {c.dimension} accuracy") for c in TUNING.columns]
    for row in TUNING.rows:
        if row.kind == "tuned":
            continue
        name = row.name.removesuffix("-Instruct")
        assert row.values == tuple(row_of(BOARD, name=name).values[place] for place in places)


def test_the_gains_told_in_the_text_are_not_those_of_the_table():
    gains = {}
    for row in TUNING.rows:
        if row.kind == "tuned":
            base = row_of(TUNING, name=row.base).values
            change = [
                Decimal(str(t)) - Decimal(str(b)) for t, b in zip(row.values, base, strict=True)
            ]
            gains[row.base] = (float(fmean(change)), float(fmean(change[:4])), float(change[3]))
    assert gains["Qwen2.5-7B-Instruct"] == pytest.approx((7.68, 8.175, -1.2))
    assert gains["Llama-3.1-8B-Instruct"] == pytest.approx((10.3, 13.75, -1.1))


def test_the_f1_of_people_are_means_of_their_classes_and_their_accuracies_are_not():
    people = dict(zip(COLUMNS, row_of(BOARD, kind="human").values, strict=True))
    tasks = {"illocutionary": "cumulative", "veracity": "cumulative", "intention": "cumulative",
             "goal": "conversation"}  # fmt: skip
    for dimension, mean in human_means(0).items():
        assert people[f"{tasks[dimension]} {dimension} F1"] == pytest.approx(mean, abs=0.0501)
    accuracies = human_means(1)
    assert accuracies == pytest.approx(
        {"illocutionary": 69.8, "veracity": 72.375, "intention": 60.95, "goal": 59.7}
    )
    for dimension, mean in accuracies.items():
        assert abs(people[f"{tasks[dimension]} {dimension} accuracy"] - mean) > 3


def test_the_text_of_the_appendix_has_other_figures_for_people():
    for row in TEXT.rows:
        people = [
            row_of(BOARD, kind="human").values[COLUMNS.index(f"cumulative {row.dimension} {m}")]
            for m in ("F1", "accuracy")
        ]
        pairs = zip(row.values, people, strict=True)
        assert all(abs(100 * said - printed) > 0.5 for said, printed in pairs if said is not None)


def test_the_f1_of_the_goal_cannot_be_a_mean_over_two_labels():
    places = [n for n, name in enumerate(COLUMNS) if name.endswith("goal accuracy")]
    pairs = [(row.name, row.values[n], row.values[n + 1]) for n in places for row in MODELS]
    assert sum(f1 > accuracy for _, accuracy, f1 in pairs) == 49
    too_low = [name for name, accuracy, f1 in pairs
               if f1 + 0.05 < least_f1(accuracy - 0.05, labels=2)]  # fmt: skip
    assert too_low == ["Llama-3.1-70B", "Gemini-2.5", "Claude-3.7"]


def test_one_f1_of_intention_is_below_what_its_accuracy_allows():
    place = COLUMNS.index("utterance intention accuracy")
    accuracy, f1 = row_of(BOARD, name="Llama-3.2-1B").values[place : place + 2]
    assert round(least_f1(accuracy, labels=4), 1) == 21.2
    assert f1 == 11.8


def least_f1(accuracy, labels):
    """Return the least macro-F1 there is: all that is right has one label, all errors touch it."""
    return 100 / labels * 2 * accuracy / (100 + accuracy)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"values": (1.0, 2.0)}, "2 values, 1 columns"),
        ({"values": (100.1,)}, "no percent"),
        ({"values": (-0.1,)}, "no percent"),
        ({"kind": "tuned", "base": "nobody"}, "base in the table"),
        ({"base": "m"}, "base in the table"),
    ],
)
def test_a_table_that_cannot_be_is_refused(change, said):
    row = {"kind": "model", "name": "m", "values": (50.0,)}
    table = {"id": "t", "source": "s", "title": "t", "unit": "percent",
             "columns": [{"metric": "accuracy"}]}  # fmt: skip
    ResultTable.model_validate({**table, "rows": [row]})
    with pytest.raises(ValidationError, match=said):
        ResultTable.model_validate({**table, "rows": [row, {**row, **change}]})


def markdown_tables(text):
    """Return the cells of every table, and the marks a reader sees on them, row by row."""
    tables, row, inside = [], None, False
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type in ("th_open", "td_open"):
            inside, row = True, tables[-1][-1]
        elif token.type == "inline" and inside:
            kinds = {child.type for child in token.children}
            mark = "best" if "strong_open" in kinds else "second" if "em_open" in kinds else ""
            row.append(("".join(child.content for child in token.children), mark))
            inside = False
    return tables


def html_tables(text):
    """Return the same of an HTML file that has no parse error."""
    tree = parsed(text)
    marks = {f"{XHTML}strong": "best", f"{XHTML}u": "second"}
    return [
        [
            [("".join(cell.itertext()), marks[cell[0].tag] if len(cell) else "") for cell in row]
            for row in table.iter(f"{XHTML}tr")
        ]
        for table in tree.iter(f"{XHTML}table")
    ]


def test_markdown_and_html_have_the_same_tables_with_the_same_marks():
    markdown = markdown_tables(results_as_markdown([RESULTS]))
    assert markdown == html_tables(results_as_html([RESULTS]))
    assert [len(table) - 1 for table in markdown] == [23, 24, 24, 5, 14, 3]
    marks = [mark for table in markdown[:3] for row in table for _, mark in row if mark]
    assert marks.count("best") == 18
    assert marks.count("second") == 19
    assert ("57.5↑", "") in markdown[3][3]
    assert markdown[5][3] == [("intention", ""), ("0.375", ""), (NOTHING, "")]


@pytest.mark.parametrize("write", [results_as_markdown, results_as_html])
def test_every_document_begins_with_other_items_other_labels(write):
    text = write([RESULTS])
    heading = text.index("Published results: other items, other labels")
    assert heading < text.index("the two cannot be compared") < text.index("Llama-3.1-8B")
    assert text.count("cannot be a macro-F1") == 1


def test_the_csv_holds_every_number_once_as_it_is_printed():
    rows = list(csv.DictReader(io.StringIO(results_as_csv([RESULTS]), newline="")))
    numbers = sum(v is not None for t in RESULTS.tables for r in t.rows for v in r.values)
    assert len(rows) == numbers == 23 * 18 + 8 + 25 + 28 + 5
    assert all(tuple(row) == CSV_COLUMNS for row in rows)
    assert {row["items"] for row in rows} == {"other items, other labels"}
    assert {row["mark"] for row in rows} == {"", *get_args(CellMark)}
    place = [name for name in CSV_COLUMNS if name not in ("value", "mark")]
    assert len({tuple(row[name] for name in place) for row in rows}) == len(rows)
    tops = {"percent": 100.0, "share": 1.0}
    assert all(0 <= float(row["value"]) <= tops[row["unit"]] for row in rows)
    commissives = [row for row in rows if row["label"] == "Commissives"]
    assert [(row["metric"], row["value"]) for row in commissives] == [
        ("F1", "0.741"),
        ("accuracy", "0.833"),
    ]
