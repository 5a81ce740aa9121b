"""Count what a run has of every cell of a quota, from its store alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from pipeline.aims import Aim, CellKey, unaimed
from pipeline.quotas.quota import CellTally, Quota, by_cell, turns_asked
from pipeline.store.queries.aims import read_drawn, read_failed, read_objections
from pipeline.store.queries.export import CorpusEntry, CorpusFilter, CorpusReader
from pipeline.store.reading import open_snapshot
from scenarios.spec import Scenario

_NOWHERE: frozenset[tuple[int | None, str]] = frozenset()


def count_cells(
    folder: Path, quota: Quota, categories: Mapping[str, str], *, tried: bool = False
) -> list[CellTally]:
    """Return what a run has of every cell, in the order of the quota.

    An utterance counts for a cell if its dialogue is accepted, if the labels that exports give it
    (the declared ones, or what an expert decided) are those of the cell, and if the judges did not
    find one of these labels not carried; what a person accepted counts whatever judges said.

    Args:
        folder: the run.
        quota: the cells.
        categories: of the scenarios, by id.
        tried: whether judging was tried, so that what was drawn for a cell and is not judged all
            the same is lost; else it is not judged yet.

    Raises:
        UsageError: the run was written by another version of hipo.
    """
    with open_snapshot(folder) as connection:
        return _CellFinder(quota, categories, tried=tried).count(connection)


class _CellFinder:
    """Finds the cells of utterances by what the cells have in common: which dimensions they name."""

    def __init__(self, quota: Quota, categories: Mapping[str, str], *, tried: bool) -> None:
        self._tallies = by_cell(quota)
        self._tried = tried
        self._categories = categories
        self._assigned = next((cell.assigned for cell in quota.cells), "")
        self._shapes = list(
            dict.fromkeys(
                (tuple(name for name, _ in c.labels), c.goal is not None, c.category is not None)
                for c in quota.cells
            )
        )
        self._places = {
            (cell.labels, cell.goal, cell.category): self._tallies[cell.key] for cell in quota.cells
        }

    def count(self, connection: sqlite3.Connection) -> list[CellTally]:
        """Return the tallies of one moment."""
        self._count_drawn(connection)
        for case in read_failed(connection):
            aim = Aim.of(case)
            tally = None if aim is None else self._tallies.get(aim.cell)
            if aim is not None and tally is not None:
                lost = turns_asked(case, tally.cell)
                tally.asked, tally.barren = tally.asked + lost, tally.barren + lost
        objections = read_objections(connection)
        entries = CorpusReader(connection).entries(
            CorpusFilter(), wanted=True, rationales=False, adjudicated=True
        )
        for entry in entries:
            dialogue = entry.dialogue
            self._count(entry, objections.get(dialogue.key, _NOWHERE))
        return list(self._tallies.values())

    def _count_drawn(self, connection: sqlite3.Connection) -> None:
        for one in read_drawn(connection):
            tally = self._tallies.get(one.aim.cell)
            if tally is None:
                continue
            tally.cases += 1
            tally.calls += one.calls
            tally.tokens += one.tokens
            tally.cost_usd += one.cost_usd
            tally.unpriced += one.unpriced
            tally.drawn.add(unaimed(one.case).id)

    def _count(self, entry: CorpusEntry, contested: frozenset[tuple[int | None, str]]) -> None:
        """Count the utterances of one dialogue."""
        aim = Aim.of(entry.dialogue.case)
        waits = entry.verdict is None and not self._tried
        if entry.verdict is None and self._tried and aim is None:
            return  # nobody could judge it, and it was not drawn for a cell
        drawn_for = None if aim is None else aim.cell
        goal = entry.dialogue.case.goal
        category = self._categories.get(entry.dialogue.case.scenario, "")
        accepted = entry.verdict == "accepted"
        for turn in entry.dialogue.answers():
            wanted = dict(turn.wanted)
            has = {label.dimension: label.value for label in turn.tactic}
            decided = turn.index in entry.adjudicated
            for names, of_goal, of_category in self._shapes:
                place = (goal if of_goal else None, category if of_category else None)
                asked = self._at(names, wanted, *place)
                if waits:
                    if asked is not None:
                        asked.unjudged += 1
                    continue
                got = self._at(names, has, *place) if accepted else None
                if got is not None and not decided:
                    refused = any((turn.index, name) in contested for name in names)
                    if refused or (of_goal and (None, self._assigned) in contested):
                        got = None
                _count_one(asked, got, drawn_for)

    def _at(
        self,
        names: tuple[str, ...],
        labels: Mapping[str, object],
        goal: str | None,
        category: str | None,
    ) -> CellTally | None:
        """Return the cell of these labels, of the dimensions that are named; None: there is none."""
        chosen = tuple((name, str(labels.get(name, ""))) for name in names)
        return self._places.get((chosen, goal, category))


def _count_one(asked: CellTally | None, got: CellTally | None, drawn_for: CellKey | None) -> None:
    """Count one utterance for the cell it was asked for, and for the one that it belongs to."""
    if asked is not None:
        asked.asked += 1
        asked.barren += 1
        if got is asked:
            asked.hits += 1
            asked.barren = 0
    if got is not None:
        got.accepted += 1
        got.own += drawn_for == got.cell.key


def categories_of(scenarios: Mapping[str, Scenario]) -> dict[str, str]:
    """Return the category of every scenario, by its id."""
    return {name: scenario.category for name, scenario in scenarios.items()}
