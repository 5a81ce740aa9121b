"""Filters and tables say what the run says, and follow it while it is written."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

from pipeline.store.queries.browsing import BrowsingReader
from pipeline.store.run_store import RunStore
from pipeline.store.sqlite import DATABASE, connect_readonly
from quality.viewer.column_reading import ColumnReading
from quality.viewer.columns import DialogueColumns
from quality.viewer.dialogue_filter import DialogueFilter
from quality.viewer.label_table import label_table
from quality.viewer.scenario_table import group_table
from scenarios.dialogue import Dialogue
from scenarios.verdicts import Assessment, Decision, Flag, Verdict
from tests.factories import (
    ARM,
    Tactic,
    make_case,
    make_dialogue,
    make_run,
    make_scenario,
    make_tactic,
)

OTHER = "arm-b"
LIE = make_tactic(veracity="Quality", intention="Convince")
EVASION = make_tactic(veracity="Relevance", intention="Inform")


def dialogue(number: int, *tactics: Tactic, arm: str = ARM, scenario: str = "used_car") -> Dialogue:
    case = make_case(make_scenario(scenario), repetition=number, turns=max(1, len(tactics)))
    said = [word for n in range(len(tactics)) for word in (f"Q{n}?", f"A{n}.")]
    return make_dialogue(*said, case=case, arm=arm, tactics=tactics or ((),))


def judged(
    one: Dialogue, verdict: Verdict, *codes: str, config: str = "c"
) -> tuple[Assessment, Decision]:
    key = (one.case.id, one.arm)
    flags = tuple(Flag(*key, None, code, "because") for code in codes)
    return Assessment(*key, config, flags), Decision(*key, verdict, "policy:review", "so")


@contextmanager
def reading(folder: Path) -> Iterator[ColumnReading]:
    with closing(connect_readonly(folder / DATABASE)) as connection:
        yield ColumnReading(BrowsingReader(connection))


def read(folder: Path) -> DialogueColumns:
    with reading(folder) as columns:
        assert columns.read()
        return columns.columns()


def count(columns: DialogueColumns, **wishes: str) -> int:
    pairs = [(name.replace("__", "."), value) for name, value in wishes.items()]
    return int(columns.mask(DialogueFilter.of(pairs)).sum())


def test_labels_of_a_filter_have_to_stand_in_one_utterance(tmp_path: Path) -> None:
    apart = dialogue(0, make_tactic(veracity="Quality"), make_tactic(intention="Convince"))
    together = dialogue(1, LIE, EVASION)
    columns = read(make_run(tmp_path / "run", [apart, together]))
    assert count(columns, label__veracity="Quality") == 2
    assert count(columns, label__veracity="Quality", label__intention="Convince") == 1
    assert count(columns, label__veracity="Quality", label__intention="Inform") == 0


def test_a_choice_says_how_many_dialogues_it_leaves(tmp_path: Path) -> None:
    there = [dialogue(0, LIE, LIE), dialogue(1, EVASION), dialogue(2, LIE, EVASION, arm=OTHER)]
    columns = read(make_run(tmp_path / "run", there))
    chosen = DialogueFilter.of([("label.veracity", "Quality")])
    choices = columns.choices(chosen)
    assert choices["label.veracity"] == {"Quality": 2, "Relevance": 2}
    assert choices["label.intention"] == {"Convince": 2}
    for dimension, values in choices.items():
        for value, n in values.items():
            if dimension.startswith("label."):
                wish = chosen.with_label(dimension.removeprefix("label."), value)
                assert columns.mask(wish).sum() == n, (dimension, value)


def test_the_newest_verdict_and_the_newest_flags_count(tmp_path: Path) -> None:
    one, other = dialogue(0, LIE), dialogue(1, LIE)

    async def judge(store: RunStore, which: Dialogue, number: int) -> None:
        await store.judgements.assess(*judged(which, "pending", "self_veracity", "repeated"))
        if number == 0:
            await store.judgements.assess(*judged(which, "accepted", config="d"))

    columns = read(make_run(tmp_path / "run", [one, other], each=judge))
    assert count(columns, verdict="accepted") == count(columns, verdict="pending") == 1
    assert count(columns, flag="self_veracity") == 1
    assert sorted(columns.raised.tolist()) == [0, 2]


def test_what_is_added_to_a_run_is_read_on(tmp_path: Path) -> None:
    failing = dialogue(0, LIE)
    folder = make_run(tmp_path / "run", [dialogue(1, EVASION)], failed=[(failing.case, ARM)])
    with reading(folder) as columns:
        assert columns.read()
        before = columns.columns()
        assert count(before, verdict="failed") == 1
        assert not columns.read()
        with RunStore.open(folder) as store:
            late = dialogue(2, LIE)

            async def go_on() -> None:
                await store.finish(failing, 1)
                await store.add_cases([late.case])
                await store.finish(late, 0)
                await store.judgements.assess(*judged(late, "discarded", "repeated"))

            asyncio.run(go_on())
        assert columns.read()
        after = columns.columns()
    assert count(before, verdict="failed") == 1, "what was handed out stays as it was"
    assert count(after, verdict="failed") == 0
    assert count(after, label__veracity="Quality") == 2
    assert count(after, verdict="discarded") == count(after, flag="repeated") == 1
    assert np.all(np.diff(after.utterance) >= 0)


def test_tables_count_what_the_run_holds_the_worst_scenario_first(tmp_path: Path) -> None:
    good = [dialogue(n, LIE) for n in range(3)]
    bad = [dialogue(n, LIE, EVASION, scenario="wedding_ring") for n in range(2)]

    async def judge(store: RunStore, which: Dialogue, number: int) -> None:
        fine = which.case.scenario == "used_car"
        codes = () if fine else ("repeated",)
        await store.judgements.assess(*judged(which, "accepted" if fine else "discarded", *codes))

    columns = read(make_run(tmp_path / "run", [*good, *bad], each=judge))
    everything = columns.mask(DialogueFilter())
    worst, best = group_table(columns, everything, "scenario")
    assert (worst.scenario, worst.n, worst.accepted_share) == ("wedding_ring", 2, 0.0)
    assert (worst.commonest, worst.commonest_n, worst.flags_each) == ("repeated", 2, 1.0)
    assert (best.scenario, best.n, best.flagged_share) == ("used_car", 3, 0.0)
    assert {row.fact for row in group_table(columns, everything, "fact")} == {
        make_scenario(name).facts[0].id for name in ("used_car", "wedding_ring")
    }
    utterances = columns.utterances_with(DialogueFilter())
    order = {"intention": ("Inform", "Convince")}
    table = label_table(columns, everything, utterances, "veracity", "intention", order=order)
    assert table.columns == ("Inform", "Convince")
    assert [label for label, _, _ in table.rows] == ["Quality", "Relevance"]
    counted = {
        (row, column): cell.n
        for row, _, cells in table.rows
        for column, cell in zip(table.columns, cells, strict=True)
    }
    assert counted == {
        ("Quality", "Convince"): 5, ("Quality", "Inform"): 0,
        ("Relevance", "Convince"): 0, ("Relevance", "Inform"): 2,
    }  # fmt: skip
    assert table.utterances == 7


def test_an_empty_run_can_be_read(tmp_path: Path) -> None:
    with reading(make_run(tmp_path / "run", [])) as columns:
        assert not columns.read()
        empty = columns.columns()
    assert len(empty) == 0
    assert empty.choices(DialogueFilter())["verdict"] == {}
    assert empty.rows_at(np.array([1, 2])).tolist() == []


@pytest.mark.parametrize("wish", [("verdict", "no such"), ("flag", "none"), ("label.x", "y")])
def test_a_wish_for_what_never_occurs_finds_nothing(tmp_path: Path, wish: tuple[str, str]) -> None:
    columns = read(make_run(tmp_path / "run", [dialogue(0, LIE)]))
    assert not columns.mask(DialogueFilter.of([wish])).any()
