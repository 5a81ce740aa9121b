"""A quota of a recipe: read, held against what can be played, and how a run stands to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from hipo.app.preparation.prepared import Prepared
from pipeline.aims import Aim, CellKey
from pipeline.chunks import chunks
from pipeline.playing.engine import CHUNK
from pipeline.quotas.file import read_quota
from pipeline.quotas.plan import Lanes, count_cases, gives_up, needs, plan_round
from pipeline.quotas.quota import CellTally, Quota, by_cell, turns_asked
from pipeline.quotas.record import RecordedQuota, recorded_quota
from pipeline.quotas.tally import categories_of, count_cells
from pipeline.run_material import load_material
from pipeline.store.queries.aims import count_drawn, read_open
from pipeline.store.reading import open_snapshot
from pipeline.store.run_store import RunStore
from quality.forecast import wilson
from scenarios.case import Case
from scenarios.errors import UsageError
from scenarios.plural import plural
from scenarios.yaml_source import read_yaml

CellState = Literal["filled", "open", "given up", "out of reach"]


@dataclass(frozen=True, slots=True)
class CellFill:
    """One cell as a summary shows it."""

    tally: CellTally
    state: CellState
    why: str = ""
    """Of one that is out of reach or given up, or waits for judges."""

    @property
    def yield_share(self) -> float | None:
        """Accepted among those asked for it; None before any was."""
        tally = self.tally
        return tally.hits / tally.asked if tally.asked else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The Wilson interval of the yield at 95 %."""
        tally = self.tally
        return wilson(tally.hits, tally.asked) if tally.asked else None


@dataclass(frozen=True, slots=True)
class QuotaFill:
    """How a run stands to its quota."""

    cells: tuple[CellFill, ...]

    def of_state(self, state: CellState) -> list[CellFill]:
        """Return the cells in a state."""
        return [cell for cell in self.cells if cell.state == state]


@dataclass(frozen=True, slots=True)
class QuotaEstimate:
    """How many dialogues each cell of a quota will probably take."""

    fill: QuotaFill
    tries: Mapping[CellKey, int]
    """Utterances that will be asked for each cell that is open, in cases yet to be drawn."""
    cases: int
    """Cases that will be drawn."""
    dialogues: int
    """Of these cases."""
    begun: int
    """Dialogues still to be played of cases that were drawn."""


@dataclass(frozen=True)
class PlannedQuota:
    """A quota, held against what the recipe selects."""

    quota: Quota
    lanes: Lanes
    categories: Mapping[str, str]
    arms: tuple[str, ...]
    """Ids of those that play each case."""
    most: int | None
    """The most cases that may be drawn, those for earlier quotas of the run included."""

    @property
    def record(self) -> RecordedQuota:
        """It as it is stored in the run."""
        return RecordedQuota(self.quota, self.lanes.out_of_reach)

    def count(self, folder: Path, *, tried: bool = False) -> list[CellTally]:
        """Return what a run has of every cell, see :func:`pipeline.quotas.tally.count_cells`."""
        return count_cells(folder, self.quota, self.categories, tried=tried)

    def next_round(self, folder: Path, tallies: Sequence[CellTally]) -> list[Case]:
        """Return the cases to be drawn next, see :func:`pipeline.quotas.plan.plan_round`."""
        room = self._room(folder)
        return plan_round(self.quota, self.lanes, tallies, arms=len(self.arms), room=room)

    def fill(self, tallies: Sequence[CellTally]) -> QuotaFill:
        """Return how a run stands that has so much of every cell."""
        return _fill(self.record, tallies)

    def played(self, prepared: Prepared, cases: int) -> Prepared:
        """Return a plan of so many cases here, which stands for those that will be drawn."""
        shard = self.lanes.plan.shard
        size = max(1, cases) * (1 if shard is None else shard.of)
        return replace(prepared, plan=replace(prepared.plan, n=size), drawn=cases)

    def estimate(self, folder: Path) -> QuotaEstimate:
        """Say how many dialogues the cells still need, at the yield measured in the run so far."""
        there = RunStore.exists(folder)
        tallies = self.count(folder) if there else list(by_cell(self.quota).values())
        begun = self._count_begun(folder, tallies) if there else 0
        arms, room = len(self.arms), self._room(folder) if there else self.most
        cases = count_cases(self.quota, self.lanes, tallies, arms=arms, room=room)
        wanted = needs(self.quota, self.lanes, tallies, whole=True)
        return QuotaEstimate(
            self.fill(tallies),
            {need.tally.cell.key: need.tries for need in wanted},
            cases,
            cases * arms,
            begun,
        )

    def _room(self, folder: Path) -> int | None:
        """Return how many more cases may be drawn in a run; None for no limit."""
        if self.most is None:
            return None
        with open_snapshot(folder) as connection:
            return max(0, self.most - count_drawn(connection))

    def _count_begun(self, folder: Path, tallies: Sequence[CellTally]) -> int:
        """Count what a round that was begun still asks for; return the dialogues it lacks."""
        by_key = {tally.cell.key: tally for tally in tallies}
        begun = 0
        with open_snapshot(folder) as connection:
            drawn = read_open(connection, self.arms)
        with RunStore.open(folder, readonly=True) as store:
            for arm in self.arms:
                for chunk in chunks(drawn, CHUNK):
                    for case, _ in store.pending(chunk, arm):
                        begun += 1
                        aim = Aim.of(case)
                        if aim is not None and (tally := by_key.get(aim.cell)) is not None:
                            tally.begun += turns_asked(case, tally.cell)
        return begun


def plan_quota(file: str | Path, prepared: Prepared) -> PlannedQuota:
    """Read a quota and find the cases that its cells can be drawn from.

    Raises:
        InputError: the file is not right.
        UsageError: no cell of it can be drawn.
    """
    scenarios = prepared.scenarios
    categories = categories_of(scenarios)
    selected = sorted(set(categories.values()))
    quota = read_quota(read_yaml(Path(file)), prepared.scheme, selected)
    planned = PlannedQuota(
        quota,
        Lanes(prepared.plan, quota),
        categories,
        tuple(arm.id for arm in prepared.arms),
        prepared.recipe.n,
    )
    reasons = planned.lanes.out_of_reach
    if len(reasons) == len(quota.cells):
        listed = "\n".join(f"  {cell.name}: {reasons[cell.key]}" for cell in quota.cells[:10])
        raise UsageError(
            f"no cell of {file} can be filled:\n{listed}",
            "select other scenarios, goals or labels",
        )
    return planned


def quota_fill(folder: str | Path) -> QuotaFill | None:
    """Return how a run stands to the quota it was last played with; None: it has none."""
    folder = Path(folder)
    with RunStore.open(folder, readonly=True) as store:
        recorded = recorded_quota(store)
        if recorded is None:
            return None
        categories = categories_of(load_material(store).scenarios)
    return _fill(recorded, count_cells(folder, recorded.quota, categories))


def _fill(recorded: RecordedQuota, tallies: Sequence[CellTally]) -> QuotaFill:
    cells = []
    for tally in tallies:
        why = recorded.out_of_reach.get(tally.cell.key, "")
        state: CellState
        if not tally.missing:
            state, why = "filled", ""
        elif why:
            state = "out of reach"
        elif gives_up(tally, recorded.quota):
            state = "given up"
            why = f"asked for {tally.barren:,} times in a row and not once accepted"
        else:
            state = "open"
            if tally.unjudged:
                why = f"{plural(tally.unjudged, 'utterance')} asked for it not judged yet"
        cells.append(CellFill(tally, state, why))
    return QuotaFill(tuple(cells))
