"""The plan of a run: which cases there are, in order, without ever holding them all."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.tactic_design import Context, musts, requirements_for
from scenarios.case import Case, make_case
from scenarios.errors import UsageError
from scenarios.fingerprint import seed_from
from scenarios.openings import OPENINGS, Openings, check_openings
from scenarios.schemes.model import Scheme
from scenarios.spec import Fact, Scenario
from scenarios.variation import Axis, draw_variation

GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, slots=True)
class _Part:
    """The cases of one scenario: a range of places in the cycle."""

    scenario: Scenario
    fingerprint: str
    facts: tuple[Fact, ...]
    goals: tuple[str, ...]
    start: int


@dataclass(frozen=True)
class Plan:
    """Scenario x fact x turns x language x goal, then repetitions; lazily, scenario by scenario.

    One *cycle* holds every combination once. Without ``n`` the plan is ``repetitions`` cycles.
    With ``n`` it is exactly ``n`` cases: whole cycles as often as they fit, and of the cycle after
    them the first cases along a seeded stride that visits goals and turn lengths evenly and lands
    all over the scenarios. A plan of a smaller ``n`` is always part of that of a larger one.

    Raises:
        UsageError: nothing to plan.
    """

    scheme: Scheme
    scenarios: Sequence[Scenario]
    """With their placeholders filled, in the order they are to be played."""
    turns: Sequence[int] = (1, 2, 3)
    languages: Sequence[str] = ("en",)
    goals: Sequence[str] | None = None
    """Goal labels; None: every label of the assigned dimension."""
    facts: Collection[tuple[str, str]] | None = None
    """(scenario, fact) ids to keep to; None: every fact that the responder owns."""
    axes: Mapping[str, Axis] = field(default_factory=dict)
    """The variation axes to draw from."""
    openings: Openings = "by-goal"
    """Whether the two goals of a case open alike; recorded in each case where they do."""
    repetitions: int = 1
    n: int | None = None
    seed: int = 0
    cycle: int = field(init=False)
    """Cases in one cycle."""
    _parts: tuple[_Part, ...] = field(init=False, repr=False)
    _stride: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check_counts(self)
        goals = tuple(self.goals) if self.goals is not None else self.scheme.goal.values
        unknown = [goal for goal in goals if goal not in self.scheme.goal.values]
        if unknown or not goals:
            raise UsageError(
                f"unknown goal {unknown[0]!r}" if unknown else "no goal is selected",
                f"choose from: {', '.join(self.scheme.goal.values)}",
            )
        check_openings(self.scenarios, goals, self.openings)
        parts, start = [], 0
        for scenario in self.scenarios:
            parts.append(_part_of(scenario, goals, self.facts, start))
            start += len(parts[-1].facts) * len(goals) * len(self.turns) * len(self.languages)
        object.__setattr__(self, "cycle", start)
        object.__setattr__(self, "_parts", tuple(parts))
        object.__setattr__(self, "_stride", _stride(start))

    def __len__(self) -> int:
        """Return the number of cases."""
        return self.cycle * self.repetitions if self.n is None else self.n

    def __iter__(self) -> Iterator[Case]:
        """Yield the cases, all of a scenario before any of the next."""
        whole, rest = divmod(len(self), self.cycle)
        inverse = pow(self._stride, -1, self.cycle)
        offset = seed_from(self.seed, "plan") % self.cycle
        for part in self._parts:
            for place in range(self._size(part)):
                # The place this case has along the stride tells whether the subset reaches it.
                step = (part.start + place - offset) * inverse % self.cycle
                for repetition in range(whole + (step < rest)):
                    yield self._case(part, place, repetition)

    @property
    def exchanges(self) -> int:
        """Improvised answers of all cases together, counted without making the cases."""
        whole, rest = divmod(len(self), self.cycle)
        once = self.cycle // len(self.turns) * sum(self.turns)
        offset = seed_from(self.seed, "plan") % self.cycle
        places = ((offset + step * self._stride) % self.cycle for step in range(rest))
        return whole * once + sum(self._turns_at(place) for place in places)

    def contexts(self) -> dict[Context, float]:
        """Return the share of each tactic context among the responder turns of one cycle.

        Taken over the whole cycle whatever ``n`` is, so that a case wants the same tactics in a
        small plan and in the large one that extends it.
        """
        counts: dict[Context, int] = {}
        for part in self._parts:
            for goal in part.goals:
                required = requirements_for(self.scheme, goal)
                for turns in self.turns:
                    for turn in range(turns):
                        must = musts(required, turns, turn)
                        context = Context.of(self.scheme, part.scenario, goal, must)
                        weight = len(part.facts) * len(self.languages)
                        counts[context] = counts.get(context, 0) + weight
        total = sum(counts.values())
        return {context: count / total for context, count in counts.items()}

    def _turns_at(self, place: int) -> int:
        """Return the exchanges of the case at a place of the cycle."""
        part = self._parts[bisect_right(self._parts, place, key=lambda part: part.start) - 1]
        inside = (place - part.start) // (len(part.goals) * len(self.languages))
        return self.turns[inside % len(self.turns)]

    def _size(self, part: _Part) -> int:
        return len(part.facts) * len(self.turns) * len(self.languages) * len(part.goals)

    def _case(self, part: _Part, place: int, repetition: int) -> Case:
        # Goals vary fastest: the stride shares no divisor with their number, so it takes turns.
        place, goal_index = divmod(place, len(part.goals))
        place, language_index = divmod(place, len(self.languages))
        fact_index, turns_index = divmod(place, len(self.turns))
        fact, goal = part.facts[fact_index], part.goals[goal_index]
        turns = self.turns[turns_index]
        variation = draw_variation(
            self.axes,
            scenario=part.scenario,
            fact=fact.id,
            turns=turns,
            repetition=repetition,
            seed=self.seed,
            openings=self.openings,
        )
        if self.openings == "shared":  # cases of runs that knew no other kind have no such entry
            variation[OPENINGS] = self.openings
        return make_case(
            scheme=self.scheme.id,
            scenario=part.scenario.id,
            scenario_fingerprint=part.fingerprint,
            fact=fact.id,
            goal=goal,
            turns=turns,
            language=self.languages[language_index],
            variation=variation,
            repetition=repetition,
            seed=self.seed,
        )


def _check_counts(plan: Plan) -> None:
    """Raise unless there is something to plan, and no value is given twice."""
    if not plan.scenarios:
        raise UsageError("no scenario is selected")
    if not plan.turns or min(plan.turns) < 1:
        raise UsageError(f"turns must be whole numbers from 1 up, got {list(plan.turns)}")
    if not plan.languages:
        raise UsageError("no language is selected")
    for name, values in (("turns", plan.turns), ("languages", plan.languages)):
        if len(set(values)) < len(values):
            raise UsageError(f"{name} names a value twice: {list(values)}")
    if plan.repetitions < 1:
        raise UsageError(f"repetitions must be at least 1, got {plan.repetitions}")
    if plan.n is not None and plan.n < 1:
        raise UsageError(f"the number of dialogues must be at least 1, got {plan.n}")


def _part_of(
    scenario: Scenario,
    goals: tuple[str, ...],
    chosen: Collection[tuple[str, str]] | None,
    start: int,
) -> _Part:
    """Take the facts that the responder owns: a dialogue plays one of them."""
    facts = tuple(
        fact
        for fact in scenario.facts
        if fact.owner == "responder" and (chosen is None or (scenario.id, fact.id) in chosen)
    )
    if not facts:
        which = "" if chosen is None else "selected "
        raise UsageError(f"scenario {scenario.id!r} has no {which}fact that the responder owns")
    return _Part(scenario, scenario.fingerprint, facts, goals, start)


def _stride(cycle: int) -> int:
    """Return the number nearest the golden section of ``cycle`` that shares no divisor with it.

    Steps of the golden section leave no wide gap however early one stops.
    """
    centre = round(cycle * GOLDEN)
    for distance in range(cycle):
        for stride in (centre + distance, centre - distance):
            if stride > 0 and math.gcd(stride, cycle) == 1:
                return stride
    return 1
