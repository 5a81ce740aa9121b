"""What a model was trained on is not asked: scenarios or facts, whichever no two splits share."""

from __future__ import annotations

import orjson
import pytest

from hipo.app.evaluation.tuned import TuningQuestion
from outputs.training.training_set import read_training_set
from scenarios.errors import UsageError
from tests.outputs.corpora import exportable_run, exported, rows_in

PARTS = {"parquet": False, "fractions": (0.5, 0.0, 0.5), "split_by": "fact"}


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """Return sets for learning and asking, of scenarios of which one fact each is held out, or more."""
    place = tmp_path_factory.mktemp("facts")
    run = exportable_run(place / "run", scenarios=4, facts=3)
    exported(place / "sft", run, "sft", aspects=("conversation",), **PARTS)
    exported(place / "items", run, "benchmark", aspects=("utterance",), **PARTS)
    learnt, held = (
        {(row["scenario"], row["fact"]) for row in rows_in(place / "items", split)}
        for split in ("train", "test")
    )
    assert not learnt & held
    assert {scenario for scenario, _ in held} <= {scenario for scenario, _ in learnt}
    return place


def lines(folder, split):
    return folder / "jsonl" / f"{split}.jsonl"


def test_facts_that_were_held_out_are_unseen_though_their_scenarios_are_not(facts):
    learnt = read_training_set(facts / "sft")
    asked = TuningQuestion(str(lines(facts / "items", "test")), ())
    assert asked.check(learnt) == 4


def test_facts_that_were_trained_on_are_refused(facts):
    learnt = read_training_set(facts / "sft")
    with pytest.raises(UsageError, match="6 facts of the items are in the training split: ") as no:
        TuningQuestion(str(lines(facts / "items", "train")), ()).check(learnt)
    assert "--split-by" in no.value.hint
    assert TuningQuestion(str(facts / "items"), (), allow_overlap=True).check(learnt) == 4


@pytest.mark.parametrize("line", ["own", "shown beside"])
def test_a_line_beside_a_fact_that_was_trained_on_is_refused(facts, tmp_path, line):
    """A set of swap items shows lines with the fact of somebody else, too."""
    learnt = read_training_set(facts / "sft")
    seen = rows_in(facts / "items", "train")[0]
    fact = {"fact": seen["fact"]} if line == "own" else {"fact_shown": seen["fact"]}
    held = next(r for r in rows_in(facts / "items", "test") if r["scenario"] == seen["scenario"])
    row = {**held, **fact, "line": "x", "shown": "other", "status": "scored", "false": False}
    for name in ("aspect", "context", "label_intention", "label_illocutionary"):
        del row[name]
    path = tmp_path / "swap.jsonl"
    path.write_bytes(orjson.dumps(row))
    with pytest.raises(UsageError, match="1 fact of the items is in the training split"):
        TuningQuestion(str(path), ()).check(learnt)


def test_items_that_do_not_name_their_fact_are_told_by_their_scenario(facts, tmp_path):
    learnt = read_training_set(facts / "sft")
    rows = rows_in(facts / "items", "test")
    path = tmp_path / "items.jsonl"
    path.write_bytes(
        b"\n".join(orjson.dumps({k: v for k, v in row.items() if k != "fact"}) for row in rows)
    )
    with pytest.raises(UsageError, match="4 scenarios of the items are in the training split"):
        TuningQuestion(str(path), ()).check(learnt)
