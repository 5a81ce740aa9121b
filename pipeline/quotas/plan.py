"""Plan what is played next for a quota: cases drawn towards the cells that still lack utterances."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from pipeline.aims import Aim, CellKey, aimed
from pipeline.planning.plan import Plan
from pipeline.quotas.quota import CellTally, Quota, QuotaCell, turns_asked
from pipeline.tactics.contexts import Context, context_at, contexts_of
from pipeline.tactics.design import MAX_COMBINATIONS, drawable, possible
from scenarios.case import Case
from scenarios.fingerprint import seed_from
from scenarios.flow import planned_turns
from scenarios.schemes.model import Dimension
from scenarios.spec import Scenario

FIRST_TRIES = 8
"""Utterances that a cell is first asked for, to see what it yields."""
MOST_GROWTH = 3
"""How many times what was asked for so far the next round may ask for."""
COUNTED = 4_000
"""Cases that are drawn to count how many a quota takes; beyond these their number is reckoned."""


@dataclass(frozen=True, slots=True)
class Lane:
    """The cases that can be drawn for one cell, in an order that visits them evenly."""

    cell: QuotaCell
    plan: Plan


@dataclass
class Lanes:
    """Where the cells of a quota can be drawn from, and why some cannot."""

    plan: Plan
    """What the recipe selects; how many cases it plans does not count."""
    quota: Quota
    by_cell: dict[CellKey, Lane] = field(default_factory=dict, init=False)
    out_of_reach: dict[CellKey, str] = field(default_factory=dict, init=False)
    """Why no case can be drawn for a cell, in words."""
    _open: dict[tuple[Context, tuple[tuple[str, str], ...]], bool] = field(
        default_factory=dict, init=False, repr=False
    )

    def __post_init__(self) -> None:
        goals = tuple(self.plan.goals) if self.plan.goals is not None else self.plan.scheme.goals
        for cell in self.quota.cells:
            lane = self._lane(cell, goals)
            if isinstance(lane, Lane):
                self.by_cell[cell.key] = lane
            else:
                self.out_of_reach[cell.key] = lane

    def cases(self, cell: QuotaCell, turns: int, drawn: frozenset[str]) -> Iterator[Case]:
        """Yield cases for a cell, without end: those of the plan in turn, then repetitions.

        Args:
            cell: one that has a lane.
            turns: how many labelled turns of a case are asked for its labels, at most.
            drawn: ids of the cases of the plan that were drawn for it before.
        """
        for case in self.by_cell[cell.key].plan.along(len(drawn)):
            if case.id not in drawn:
                found = self._asking(case, cell, turns)
                if found is not None:
                    yield found

    def _lane(self, cell: QuotaCell, goals: Sequence[str]) -> Lane | str:
        """Return where a cell is drawn from, or why it cannot be."""
        if cell.goal is not None and cell.goal not in goals:
            return f"the goal {cell.goal} is not selected"
        wanted = (cell.goal,) if cell.goal is not None else goals
        scenarios = [
            s for s in self.plan.scenarios if cell.category is None or s.category == cell.category
        ]
        if not scenarios:
            return f"no scenario of the category {cell.category} is selected"
        playable = [s for s in scenarios if any(_plays(s, goal) for goal in wanted)]
        if not playable:
            return f"none of its scenarios is made for the goal {cell.goal}"
        fitting: dict[str, list[Scenario]] = {goal: [] for goal in wanted}
        for scenario in playable:
            for goal in wanted:
                if _plays(scenario, goal) and self._is_open(cell, scenario, goal, self.plan.turns):
                    fitting[goal].append(scenario)
        reached = [goal for goal in wanted if fitting[goal]]
        if not reached:
            return self._why(cell, wanted, playable)
        together = {s.id: s for goal in reached for s in fitting[goal]}
        ordered = [s for s in playable if s.id in together]
        return Lane(
            cell, replace(self.plan, scenarios=ordered, goals=reached, n=None, repetitions=1)
        )

    def _why(self, cell: QuotaCell, goals: Sequence[str], scenarios: Sequence[Scenario]) -> str:
        """Say whether scheme, scenarios or the number of turns keep a cell from being drawn."""
        anywhere = any(
            self._allows(Context(goal, role=role), cell.labels)
            for goal in goals
            for role in {role for s in self.plan.scenarios for role in _speakers(s)}
        )
        if not anywhere:
            return "the rules of the scheme forbid it"
        longer = (max(self.plan.turns) + 1,)
        if any(
            _plays(s, goal) and not s.flow and self._is_open(cell, s, goal, longer)
            for s in scenarios
            for goal in goals
        ):
            turns = " or ".join(map(str, sorted(self.plan.turns)))
            plural = "" if turns == "1" else "s"
            return (
                f"the scheme requires other labels in dialogues of {turns} turn{plural}: select more "
                "with --turns"
            )
        return "none of its scenarios allows it"

    def _is_open(
        self, cell: QuotaCell, scenario: Scenario, goal: str, lengths: Sequence[int]
    ) -> bool:
        contexts = contexts_of(self.plan.scheme, scenario, goal, lengths)
        return any(self._allows(context, cell.labels) for context, _ in contexts)

    def _allows(self, context: Context, labels: tuple[tuple[str, str], ...]) -> bool:
        """Whether rules leave any combination with these labels in a context."""
        if not labels:
            return True
        if (context, labels) not in self._open:
            dimensions = self._dimensions(labels)
            places = {d.id: place for place, d in enumerate(dimensions)}
            self._open[context, labels] = any(
                all(combination[places[name]] == label for name, label in labels)
                for combination in possible(self.plan.scheme, dimensions, context)
            )
        return self._open[context, labels]

    def _dimensions(self, labels: tuple[tuple[str, str], ...]) -> list[Dimension]:
        """Return what combinations are made of: all that is drawable, unless that is too much."""
        every = drawable(self.plan.scheme)
        if math.prod(len(d.labels) + bool(d.when) for d in every) <= MAX_COMBINATIONS:
            return list(every)
        named = {name for name, _ in labels}
        return [d for d in every if d.id in named]

    def _asking(self, case: Case, cell: QuotaCell, turns: int) -> Case | None:
        """Return a case that asks as many of its turns for a cell as it may; None: it may of none.

        Which turns a requirement of the scheme falls on is known when the case is: so places are
        tried until rules allow them.
        """
        if not cell.labels:
            return aimed(case, Aim(cell.key))
        scenario = next(s for s in self.plan.scenarios if s.id == case.scenario)
        roles = [turn.role for turn in planned_turns(scenario, case) if turn.labelled]
        first = seed_from(case.seed, case.pair, "aim")
        for many in range(min(turns, len(roles)), 0, -1):
            for shift in range(len(roles)):
                places = tuple(
                    sorted(
                        (first + shift + i * len(roles) // many) % len(roles) for i in range(many)
                    )
                )
                asking = aimed(case, Aim(cell.key, places))
                contexts = (
                    context_at(self.plan.scheme, asking, scenario, place, roles[place])
                    for place in places
                )
                if all(self._allows(context, cell.labels) for context in contexts):
                    return asking
        return None


def _plays(scenario: Scenario, goal: str) -> bool:
    return not scenario.goals or goal in scenario.goals


def _speakers(scenario: Scenario) -> list[str]:
    """Return whose words are labelled, as contexts name them."""
    if not scenario.flow:
        return [""]
    return [role for role, about in scenario.roles.items() if about.labelled]


def turns_to_ask(likely_yield: float) -> int:
    """Return of how many turns of a case a cell is asked, so that most utterances are accepted.

    A dialogue is accepted as a whole: with a chance ``p`` for every turn that is asked, ``m`` of
    them bring ``m * p**m`` accepted utterances, which is most for ``m = -1 / log(p)``. What is hard
    is asked for once in a dialogue.
    """
    return max(1, round(-1 / math.log(likely_yield)))


@dataclass(frozen=True, slots=True)
class Need:
    """How a cell stands in a round that is planned."""

    tally: CellTally
    tries: int
    """Utterances that are to be asked for it."""
    turns: int
    """Of how many turns of a case, at most."""


def gives_up(tally: CellTally, quota: Quota) -> bool:
    """Whether a cell was asked for in vain so often that it is not tried any further."""
    return tally.missing > 0 and tally.barren >= quota.give_up_after


def needs(quota: Quota, lanes: Lanes, tallies: Sequence[CellTally], *, whole: bool) -> list[Need]:
    """Return what is to be asked for every cell that is missing and within reach.

    Args:
        quota: the cells.
        lanes: where they are drawn from.
        tallies: what there is of them.
        whole: whether all that is probably needed is asked for, as an estimate does; a round is
            bounded by what is known of a cell.
    """
    found = []
    for tally in tallies:
        if not tally.missing or tally.cell.key in lanes.out_of_reach or gives_up(tally, quota):
            continue
        share = tally.likely_yield
        tries = max(0, math.ceil(tally.missing / share) - tally.unjudged - tally.begun)
        if not whole:
            tries = min(tries, max(FIRST_TRIES, MOST_GROWTH * tally.asked))
            if not tally.hits:
                tries = min(tries, max(1, quota.give_up_after - tally.barren))
        found.append(Need(tally, tries, turns_to_ask(share) if tally.cell.labels else 1))
    return found


def plan_round(
    quota: Quota,
    lanes: Lanes,
    tallies: Sequence[CellTally],
    *,
    arms: int,
    room: int | None = None,
) -> list[Case]:
    """Return the cases of the next round, the cells taking turns; none where nothing is to be done.

    The same tallies give the same round. What is asked for a narrow cell is taken off what a wider
    one that takes it in still needs.

    Args:
        quota: the cells.
        lanes: where they are drawn from.
        tallies: what there is of them, in the order of the quota.
        arms: how many arms play each case.
        room: the most cases; None for no limit.
    """
    wanted = needs(quota, lanes, tallies, whole=False)
    planned: list[tuple[float, int, Case]] = []
    for number, (mine, _) in enumerate(_draw(wanted, lanes, arms, room)):
        planned += [((place + 0.5) / len(mine), number, case) for place, case in enumerate(mine)]
    planned.sort(key=lambda entry: entry[:2])
    return [case for _, _, case in planned[:room]]


def count_cases(
    quota: Quota,
    lanes: Lanes,
    tallies: Sequence[CellTally],
    *,
    arms: int,
    room: int | None = None,
) -> int:
    """Return how many cases all that is missing will probably take, see :func:`plan_round`.

    Some of them are drawn, and the others reckoned from these: so it takes a moment for any quota.
    """
    wanted = needs(quota, lanes, tallies, whole=True)
    most = max(FIRST_TRIES, COUNTED // max(1, len(wanted)))
    total = sum(cases for _, cases in _draw(wanted, lanes, arms, room, most))
    return total if room is None else min(total, room)


def _draw(
    wanted: Sequence[Need], lanes: Lanes, arms: int, room: int | None, most: int | None = None
) -> Iterator[tuple[list[Case], int]]:
    """Yield cases for each cell, narrow ones first, and how many there are with those not drawn.

    Args:
        wanted: the cells and what each needs.
        lanes: where they are drawn from.
        arms: how many arms play each case.
        room: the most cases of a cell.
        most: the most that are drawn; None: all.
    """

    def width(need: Need) -> int:
        return -len(need.tally.cell.key)

    ordered = sorted(wanted, key=width)
    expected: dict[CellKey, float] = {}
    for need in ordered:
        cell = need.tally.cell
        tries = need.tries - expected.get(cell.key, 0.0)
        drawing = lanes.cases(cell, need.turns, frozenset(need.tally.drawn))
        mine: list[Case] = []
        asked: float = 0
        bound = min((limit for limit in (room, most) if limit is not None), default=math.inf)
        while asked < tries and len(mine) < bound:
            mine.append(next(drawing))
            asked += turns_asked(mine[-1], cell) * arms
        cases = len(mine)
        if asked < tries and cases == most:
            cases, asked = math.ceil(cases * tries / asked), tries
        yield mine, cases
        for other in ordered[bisect_right(ordered, width(need), key=width) :]:
            if other.tally.cell.takes_in(cell):
                key = other.tally.cell.key
                expected[key] = expected.get(key, 0.0) + asked
