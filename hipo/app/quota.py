"""A quota of a recipe: read, held against what can be played, and how a run stands to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hipo.app.preparation import Prepared
from pipeline.aims import CellKey
from pipeline.quota import CellTally, Quota, by_cell
from pipeline.quota_file import read_quota
from pipeline.quota_plan import Lanes, gives_up, needs, plan_round
from pipeline.quota_record import RecordedQuota, recorded_quota
from pipeline.quota_tally import categories_of, count_cells
from pipeline.run_material import load_material
from pipeline.store.run_store import RunStore
from quality.forecast import wilson
from scenarios.case import Case
from scenarios.errors import UsageError
from scenarios.yaml_source import read_yaml

CellState = Literal["filled", "open", "given up", "out of reach"]


@dataclass(frozen=True, slots=True)
class CellStanding:
    """One cell as a summary shows it."""

    tally: CellTally
    state: CellState
    why: str = ""
    """Of one that is out of reach or given up."""

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
class QuotaStanding:
    """How a run stands to its quota."""

    cells: tuple[CellStanding, ...]

    def of_state(self, state: CellState) -> list[CellStanding]:
        """Return the cells in a state."""
        return [cell for cell in self.cells if cell.state == state]


@dataclass(frozen=True, slots=True)
class QuotaEstimate:
    """How many dialogues each cell of a quota will probably take."""

    standing: QuotaStanding
    tries: Mapping[CellKey, int]
    """Utterances that will be asked for each cell that is open."""
    cases: int
    dialogues: int


@dataclass(frozen=True)
class PlannedQuota:
    """A quota, held against what the recipe selects."""

    quota: Quota
    lanes: Lanes
    categories: Mapping[str, str]
    arms: int
    most: int | None
    """The most cases that may be drawn."""

    @property
    def record(self) -> RecordedQuota:
        """It as it is stored in the run."""
        return RecordedQuota(self.quota, self.lanes.out_of_reach)

    def count(self, folder: Path) -> list[CellTally]:
        """Return what a run has of every cell."""
        return count_cells(folder, self.quota, self.categories)

    def next_round(self, tallies: Sequence[CellTally], *, whole: bool = False) -> list[Case]:
        """Return the cases to be drawn next, see :func:`pipeline.quota_plan.plan_round`."""
        room = None if self.most is None else self.most - sum(tally.cases for tally in tallies)
        if room is not None and room < 1:
            return []
        return plan_round(self.quota, self.lanes, tallies, arms=self.arms, room=room, whole=whole)

    def standing(self, tallies: Sequence[CellTally]) -> QuotaStanding:
        """Return how a run stands that has so much of every cell."""
        return _standing(self.record, tallies)

    def played(self, prepared: Prepared, cases: int) -> Prepared:
        """Return a plan of so many cases here, which stands for those that will be drawn."""
        shard = self.lanes.plan.shard
        return prepared.of_size(max(1, cases) * (1 if shard is None else shard.of))

    def estimate(self, folder: Path) -> QuotaEstimate:
        """Say how many dialogues the cells still need, at the yield measured in the run so far."""
        there = RunStore.exists(folder)
        tallies = self.count(folder) if there else list(by_cell(self.quota).values())
        cases = len(self.next_round(tallies, whole=True))
        wanted = needs(self.quota, self.lanes, tallies, whole=True)
        return QuotaEstimate(
            self.standing(tallies),
            {need.tally.cell.key: need.tries for need in wanted},
            cases,
            cases * self.arms,
        )


def plan_quota(file: Path, prepared: Prepared) -> PlannedQuota:
    """Read a quota and find the cases that its cells can be drawn from.

    Raises:
        InputError: the file is not right.
        UsageError: no cell of it can be drawn.
    """
    scenarios = prepared.scenarios
    categories = categories_of(scenarios)
    selected = sorted(set(categories.values()))
    quota = read_quota(read_yaml(file), prepared.scheme, selected)
    planned = PlannedQuota(
        quota,
        Lanes(prepared.plan, quota),
        categories,
        len(prepared.arms),
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


def quota_standing(folder: Path) -> QuotaStanding | None:
    """Return how a run stands to the quota it was last played with; None: it has none."""
    with RunStore.open(folder, readonly=True) as store:
        recorded = recorded_quota(store)
        if recorded is None:
            return None
        categories = categories_of(load_material(store).scenarios)
    return _standing(recorded, count_cells(folder, recorded.quota, categories))


def _standing(recorded: RecordedQuota, tallies: Sequence[CellTally]) -> QuotaStanding:
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
        cells.append(CellStanding(tally, state, why))
    return QuotaStanding(tuple(cells))
