"""The items of a run: as declared, as an expert decided, and as judges agree, side by side."""

from __future__ import annotations

from outputs.evaluation_items.runs import load_run
from outputs.evaluation_items.sets import load_set
from outputs.export.export import export
from outputs.kinds.export_kind import ExportOptions
from outputs.selecting.selection import opened
from outputs.selecting.wish import Selection
from quality.evaluation.item import EvaluationItem
from tests.outputs.corpora import SCHEME, exportable_run
from tests.outputs.test_adjudicated import TURN, decide, other


def item_of(items: tuple[EvaluationItem, ...], case: str, kind: str) -> EvaluationItem:
    turn = None if kind == "conversation" else TURN
    [found] = [i for i in items if (i.case, i.kind, i.turn) == (case, kind, turn)]
    return found


def test_what_an_expert_decided_stands_beside_what_was_declared(tmp_path) -> None:
    run = exportable_run(tmp_path / "run", scenarios=2)
    with opened(Selection((run,))) as found:
        dialogue = next(found.dialogues()).dialogue
    declared = {label.dimension: label.value for label in dialogue.turns[TURN].tactic}
    decided = {name: other(name, value) for name, value in declared.items()}
    before = load_run(run).fingerprint
    decide(run, decided)
    items = load_run(run).items
    assert load_run(run).fingerprint != before
    for kind in ("utterance", "cumulative"):
        item = item_of(items, dialogue.case.id, kind)
        goal = {SCHEME.assigned: dialogue.case.goal}
        assert item.references["declared"] == {**declared, **goal}
        assert item.references["adjudicated"] == decided
    others = [i for i in items if i.case != dialogue.case.id]
    assert others
    assert all("adjudicated" not in item.references for item in others)


def test_a_goal_that_an_expert_decided_on_is_held_against_models_in_run_and_set(tmp_path) -> None:
    run = exportable_run(tmp_path / "run", scenarios=2)
    with opened(Selection((run,))) as found:
        case = next(found.dialogues()).dialogue.case
    better = other(SCHEME.assigned, case.goal)
    decide(run, {SCHEME.assigned: better}, turn=None)
    options = ExportOptions("benchmark", parquet=False, fractions=(0, 0, 1))
    folder = export(Selection((run,)), options, tmp_path / "set").folder
    for items in (load_run(run).items, load_set(folder).items):
        for kind in ("cumulative", "conversation"):
            item = item_of(items, case.id, kind)
            assert item.references["adjudicated"] == {SCHEME.assigned: better}
            assert item.references["declared"][SCHEME.assigned] == case.goal
        others = [i for i in items if i.case != case.id]
        assert others
        assert all("adjudicated" not in item.references for item in others)


def test_items_hold_what_they_have_in_common_once(tmp_path) -> None:
    items = load_run(exportable_run(tmp_path / "run", scenarios=2)).items
    for of in (
        lambda item: [item.asked.scene],
        lambda item: [item.asked.fact],
        lambda item: item.asked.turns,
        lambda item: [item.known],
        lambda item: [item.asked.names],
    ):
        parts = [part for item in items for part in of(item)]
        assert len({id(part) for part in parts}) == len(set(map(repr, parts)))
    labels = [labels for item in items for labels in (item.references, item.asked.right)]
    assert len({id(one) for one in labels}) < len(items)


def test_where_nobody_judged_blind_that_is_said_in_one_sentence(tmp_path) -> None:
    run = exportable_run(tmp_path / "run", scenarios=1)
    found = load_run(run, verdict="any")
    assert len(found.notes) == 1
    assert "no label that its judges agree on" in found.notes[0]
    assert not any("agreed" in item.references for item in found.items)
    assert load_run(run, verdict="any").fingerprint == found.fingerprint
