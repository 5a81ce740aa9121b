"""Tables of one's own results: what is the same is said once, and labels have tables of their own."""

from __future__ import annotations

import csv
import io
import re

from outputs.evaluation.evaluated import Evaluated
from outputs.evaluation.own_results import own_results
from outputs.report.wording import NOTHING
from outputs.result_tables.documents import results_as_csv, results_as_html, results_as_markdown
from outputs.result_tables.latex import results_as_latex
from quality.evaluation.evaluation_record import EvaluatedModel
from quality.evaluation.scoring_results import score_results
from tests.outputs.evaluation.test_own_results import QUICK, by_hand


def test_references_with_the_same_figures_are_said_once_and_the_csv_has_each():
    made, found = by_hand({"hf/models/tiny": (0, 0, 0, 0), "hf/out/adapter": (0, 1, 0, 0)})
    tuned = EvaluatedModel(name="hf/out/adapter", base="models/tiny")
    made = made.model_copy(update={"models": (made.models[0], tuned)})
    both = [
        row.model_copy(update={"references": row.references | {"agreed": row.references["declared"]}})
        for row in found
    ]  # fmt: skip
    one = Evaluated(made, score_results(both, made.set.labels, how=QUICK))
    block = own_results([one], by_label=True)
    text = results_as_markdown([block])
    assert "| hf/out/adapter | declared = agreed | 75.0 | 73.3 |" in text
    assert "declared = agreed: every figure is the same, and stands here once" in text
    assert not re.search(r"\| agreed ", text)
    assert (
        text.count("before and after training, against") == 2
    )  # one table, and a note of the other
    rows = list(csv.DictReader(io.StringIO(results_as_csv([block]))))
    own = [row for row in rows if row["table"] == "own-1" and row["kind"] == "model"]
    assert [row["reference"] for row in own] == ["declared"] * 2 + ["agreed"] * 2 + [
        "declared"
    ] * 2 + ["agreed"] * 2
    assert {row["n"] for row in own} == {"4"}
    other = [
        row.model_copy(update={"references": {**row.references, "agreed": {}}}) for row in both
    ]
    other[0] = both[0]  # one line is agreed on: other figures
    apart = own_results([Evaluated(made, score_results(other, made.set.labels, how=QUICK))])
    assert re.search(r"\| agreed ", results_as_markdown([apart]))


def test_figures_by_label_have_tables_where_they_are_asked_for():
    # Right labels alternate: 0 1 0 1. All are called 0.
    made, found = by_hand({"a": (0, 0, 0, 0)})
    one = Evaluated(made, score_results(found, made.set.labels, how=QUICK))
    assert [table.id for table in own_results([one]).tables] == ["own-1"]
    block = own_results([one], by_label=True)
    text = results_as_markdown([block])
    assert "| label | name | reference | n | precision | recall | F1 |" in re.sub(
        r"goal (?=precision|recall|F1)", "", text
    )
    assert "| deception | a | declared | 2 | 50.0 | 100.0 | 66.7 |" in text
    assert f"| truthful non-disclosure | a | declared | 2 | {NOTHING} | 0.0 | 0.0 |" in text
    rows = list(csv.DictReader(io.StringIO(results_as_csv([block]))))
    assert [
        (row["label"], row["metric"], row["value"], row["n"]) for row in rows if row["label"]
    ] == [
        ("deception", "precision", "50.0", "2"),
        ("deception", "recall", "100.0", "2"),
        ("deception", "F1", "66.7", "2"),
        ("truthful non-disclosure", "recall", "0.0", "2"),
        ("truthful non-disclosure", "F1", "0.0", "2"),
    ]
    for write in (results_as_html, results_as_latex):
        assert "100.0" in write([block])
