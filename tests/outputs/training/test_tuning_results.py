"""Base and tuned model side by side, with floors; items of scenarios that were trained on are refused."""

from __future__ import annotations

import pytest

from outputs.evaluation.writing import score_evaluation
from outputs.result_tables.documents import results_as_markdown
from outputs.training.tuning_results import check_unseen, tuning_results
from quality.evaluation.evaluation_record import write_record
from quality.evaluation.result_row import RESULTS
from quality.evaluation.shown_items import ITEMS
from quality.statistics.bootstrap import Resampling
from scenarios.errors import UsageError
from tests.outputs.evaluation.sample_evaluation import UTTERANCE, record, rows, write_sample

BASE, TUNED = "hf/base", "hf/tuned"
QUICK = Resampling(resamples=200)


def hand_made(folder, right, answers, **fields):
    """Write an evaluation of base and tuned model about intention: right labels, and what each said."""
    one = record((UTTERANCE.model_copy(update={"dimensions": ("intention",)}),), [BASE, TUNED], **fields)  # fmt: skip
    template = next(rows(one))
    folder.mkdir()
    write_record(folder, one)
    with (folder / RESULTS).open("wb") as file:
        for model, given in answers.items():
            for number, (said, label) in enumerate(zip(given, right, strict=True)):
                row = template.model_copy(
                    update={
                        "model": model,
                        "item": f"c{number}/a/4/utterance",
                        "case": f"c{number}",
                        "labels": {"intention": said},
                        "faults": {} if said else {"intention": "unreadable"},
                        "references": {"declared": {"intention": label}},
                        "right": {"declared": {"intention": said == label}},
                    }
                )
                file.write(row.to_line())
    (folder / ITEMS).write_text("")
    return score_evaluation(folder, QUICK)


def test_figures_known_by_hand_stand_beside_the_floors(tmp_path):
    right = ["Inform"] * 4 + ["Convince"] * 2 + ["Affect"] * 2
    evaluated = hand_made(
        tmp_path / "e", right,
        {BASE: ["Inform"] * 2 + [None] * 6, TUNED: ["Inform"] * 3 + ["Convince"] * 3 + ["Inform", None]},
    )  # fmt: skip
    (table,) = tuning_results(evaluated, BASE, TUNED, offline_rows=False, overlap=False).tables
    assert [(c.dimension, c.metric) for c in table.columns] == [
        ("intention", "accuracy"), ("intention", "macro-F1"),
    ]  # fmt: skip
    values = {row.name: row.values for row in table.rows}
    # Tuned: right in 5 of 8; F1 Inform 2*3/(4+4), Convince 2*2/(2+3), Affect 0.
    assert values[TUNED] == pytest.approx((62.5, 100 * (0.75 + 0.8) / 3))
    # Base: right in 2 of 8; F1 Inform 2*2/(2+4), the others 0.
    assert values[BASE] == pytest.approx((25.0, 100 * (2 / 3) / 3))
    assert values["offline/majority"] == pytest.approx((50.0, 100 * (2 / 3) / 3))
    assert values["offline/random"][0] == pytest.approx(25.0)
    assert [row.kind for row in table.rows] == ["model", "tuned", "floor", "floor"]
    assert (
        "hipo-utterance, intention: 6 of 8 answers of the base could not be read" in table.notes[1]
    )
    assert table.notes[0] == "8 items of 1 scenario, too few for a claim about new scenarios."
    said = results_as_markdown(
        [tuning_results(evaluated, BASE, TUNED, offline_rows=False, overlap=False)]
    )
    assert "62.5↑" in said


def test_what_takes_the_meaning_from_the_figures_is_said_first(tmp_path):
    evaluated = hand_made(tmp_path / "e", ["Inform"], {BASE: ["Inform"], TUNED: ["Inform"]}, offline=False)  # fmt: skip
    plain = tuning_results(evaluated, BASE, TUNED, offline_rows=False, overlap=False)
    assert plain.warning == ""
    both = tuning_results(evaluated, BASE, TUNED, offline_rows=True, overlap=True)
    assert both.warning.startswith("Template recognition")
    assert "were trained on: nothing here is about unseen ones" in both.warning
    offline = hand_made(tmp_path / "o", ["Inform"], {BASE: ["Inform"], TUNED: ["Inform"]})
    block = tuning_results(offline, BASE, TUNED, offline_rows=False, overlap=False)
    assert block.warning.startswith("Template recognition")


def test_every_task_dimension_and_kind_of_label_is_there(tmp_path):
    evaluated = score_evaluation(write_sample(tmp_path / "e", record(models=(BASE, TUNED))), QUICK)
    block = tuning_results(evaluated, BASE, TUNED, offline_rows=False, overlap=False)
    assert [table.id for table in block.tables] == ["tuned-declared", "tuned-agreed"]
    places = [(c.task, c.dimension) for c in block.tables[0].columns if c.metric == "accuracy"]
    assert places == [
        ("hipo-utterance", "intention"), ("hipo-utterance", "veracity"),
        ("hipo-cumulative", "intention"), ("hipo-cumulative", "veracity"),
        ("hipo-conversation", "goal"),
    ]  # fmt: skip
    assert all(v is not None for table in block.tables for row in table.rows for v in row.values)
    assert any("cannot be told apart" in n or "told apart" in n or "ahead" in n
               for n in block.tables[0].notes)  # fmt: skip


def test_items_of_scenarios_that_were_trained_on_are_refused():
    learnt = {"a", "b", "c", "d", "e"}
    assert check_unseen(learnt, ["x", "y"], allowed=False) == 0
    with pytest.raises(UsageError, match=r"4 scenarios of the items are in the training split: a, b, c, \.\.\.") as it:  # fmt: skip
        check_unseen(learnt, ["x", "d", "a", "b", "c", "a"], allowed=False)
    assert "--allow-overlap" in it.value.hint
    assert check_unseen(learnt, ["x", "a", "a"], allowed=True) == 1
