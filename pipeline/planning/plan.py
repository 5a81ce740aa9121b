"""The plan of a run: which cases there are, in order, without ever holding them all."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

from pipeline.planning.shard import Shard
from pipeline.tactics.contexts import Context, contexts_of
from scenarios.case import Case, make_case
from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint, seed_from
from scenarios.flow import Improvised, improvised_turns
from scenarios.openings import OPENINGS, check_openings
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.terms import RESPONDER, Openings
from scenarios.variation import Axis, draw_variation

GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, slots=True)
class _ScenarioCases:
    """The cases of one scenario: a range of places in the cycle."""

    scenario: Scenario
    fingerprint: str
    facts: tuple[str, ...]
    """Ids of the facts, of which a case plays one; with a flow "" alone, where all are played."""
    goals: tuple[str, ...]
    turns: tuple[int, ...]
    """Lengths; with a flow one place for the length that each repetition draws."""
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
    """Goal labels; None: every label of the assigned dimension. Of a scenario that is made for some
    goals, those alone are played."""
    facts: Collection[tuple[str, str]] | None = None
    """(scenario, fact) ids to keep to; None: every fact that the responder owns. In a scenario with a
    flow everybody knows all of their facts, whatever is chosen."""
    axes: Mapping[str, Axis] = field(default_factory=dict)
    """The variation axes to draw from."""
    openings: Openings = "by-goal"
    """Whether the two goals of a case open alike; recorded in each case where they do."""
    repetitions: int = 1
    n: int | None = None
    """Cases of the whole plan, all shards together."""
    seed: int = 0
    shard: Shard | None = None
    """The part that is played here; None: all of it."""
    cycle: int = field(init=False)
    """Cases in one cycle."""
    _parts: tuple[_ScenarioCases, ...] = field(init=False, repr=False)
    _stride: int = field(init=False, repr=False)
    _by_id: Mapping[str, Scenario] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check_counts(self)
        goals = tuple(self.goals) if self.goals is not None else self.scheme.goals
        unknown = [goal for goal in goals if goal not in self.scheme.goals]
        if unknown or not goals:
            raise UsageError(
                f"unknown goal {unknown[0]!r}" if unknown else "no goal is selected",
                f"choose from: {', '.join(self.scheme.goals)}",
            )
        check_openings(self.scenarios, goals, self.openings)
        parts, start = [], 0
        for scenario in self.scenarios:
            played = tuple(g for g in goals if not scenario.goals or g in scenario.goals)
            if not played:
                continue
            parts.append(_part_of(self, scenario, played, start))
            start += self._size(parts[-1])
        if not parts:
            raise UsageError(
                "no selected scenario is made for these goals", f"they are: {', '.join(goals)}"
            )
        object.__setattr__(self, "cycle", start)
        object.__setattr__(self, "_parts", tuple(parts))
        object.__setattr__(self, "_stride", _stride(start))
        object.__setattr__(self, "_by_id", {part.scenario.id: part.scenario for part in parts})

    def __len__(self) -> int:
        """Return the number of cases, of the shard where there is one."""
        return self.among(self.total)

    def __iter__(self) -> Iterator[Case]:
        """Yield the cases, all of a scenario before any of the next."""
        return self.beyond(0)

    @property
    def total(self) -> int:
        """Cases of all shards together."""
        return self.cycle * self.repetitions if self.n is None else self.n

    def among(self, total: int) -> int:
        """Return how many cases a plan of ``total`` has in the shard of this one, if it is one."""
        return total if self.shard is None else self.shard.size(total)

    @property
    def series(self) -> str:
        """The content hash of all but the size: of two plans of a series one is part of the other."""
        parts = [
            [part.scenario.id, part.fingerprint, part.facts, part.goals, part.turns]
            for part in self._parts
        ]
        axes = {name: axis.fingerprint for name, axis in self.axes.items()}
        shard = None if self.shard is None else str(self.shard)
        drawn = [self.openings, axes, self.seed]
        return fingerprint([self.scheme.id, parts, list(self.languages), drawn, shard])

    def beyond(self, smaller: int, skip: int = 0) -> Iterator[Case]:
        """Yield the cases that a plan of ``smaller`` cases in all does not have, in order.

        The first ``skip`` of them are left out, without being made.
        """
        for part, place, repetitions in self._beyond(smaller, skip):
            for repetition in repetitions:
                yield self._case(part, place, repetition)

    def improvised_beyond(self, smaller: int, skip: int = 0) -> Improvised:
        """Return the improvised turns of the cases that :meth:`beyond` yields, without making them."""
        return _together(_tally(self._lengths(smaller, skip)))

    def _lengths(self, smaller: int, skip: int = 0) -> Iterator[tuple[int, Improvised]]:
        """Yield how many of the cases that :meth:`beyond` yields improvise which turns."""
        drawn: dict[tuple[str, int], Improvised] = {}
        for part, place, repetitions in self._beyond(smaller, skip):
            if not part.scenario.flow:
                index = self._length_index(part, place)
                yield len(repetitions), self._length(part, index, repetitions[0])
                continue
            for repetition in repetitions:  # a flow draws the length of every repetition anew
                key = part.scenario.id, repetition
                if key not in drawn:
                    drawn[key] = self._length(part, 0, repetition)
                yield 1, drawn[key]

    def _beyond(
        self, smaller: int, skip: int
    ) -> Iterator[tuple[_ScenarioCases, int, Sequence[int]]]:
        """Yield place by place of the cycle which repetitions a plan of ``smaller`` cases lacks."""
        first_whole, first_rest = divmod(smaller, self.cycle)
        whole, rest = divmod(self.total, self.cycle)
        inverse = pow(self._stride, -1, self.cycle)
        offset = seed_from(self.seed, "plan") % self.cycle
        for part in self._parts:
            for place in range(self._size(part)):
                # The place this case has along the stride tells whether the subset reaches it.
                step = (part.start + place - offset) * inverse % self.cycle
                lacking: Sequence[int] = range(
                    first_whole + (step < first_rest), whole + (step < rest)
                )
                if self.shard is not None:
                    takes, cycle = self.shard.takes, self.cycle
                    lacking = [i for i in lacking if takes(i * cycle + step)]
                repetitions = lacking[skip:]
                skip = max(0, skip - len(lacking))
                if repetitions:
                    yield part, place, repetitions

    def along(self, start: int = 0) -> Iterator[Case]:
        """Yield cases along the stride from its ``start``-th place on, cycle after cycle, without end.

        The first of a cycle are those that a small ``n`` plays; of a shard, its own alone.
        """
        offset = seed_from(self.seed, "plan") % self.cycle
        for step in count(start):
            if self.shard is None or self.shard.takes(step):
                repetition, place = divmod(step, self.cycle)
                yield self._case_at((offset + place * self._stride) % self.cycle, repetition)

    @property
    def improvised(self) -> Improvised:
        """Improvised turns of all cases together, counted without making the cases."""
        return _together(self._tallied)

    @property
    def lengths(self) -> frozenset[Improvised]:
        """What single cases improvise: the different lengths that a dialogue of the plan can have."""
        return frozenset(self._tallied)

    @cached_property
    def _tallied(self) -> Mapping[Improvised, int]:
        """How many cases improvise which turns."""
        return _tally(self._lengths(0))

    @property
    def exchanges(self) -> int:
        """Improvised turns of labelled roles, of all cases together."""
        return self.improvised.labelled

    def questions(self, case: Case) -> int:
        """Return how many turns of a case are improvised by roles that are not labelled."""
        scenario = self._by_id[case.scenario]
        if scenario.flow:
            return improvised_turns(scenario, repetition=case.repetition, seed=case.seed).others
        return case.turns - (self.openings == "shared")

    def contexts(self) -> dict[Context, float]:
        """Return the share of each tactic context among the labelled turns of one cycle.

        Taken over the whole cycle whatever ``n`` is, so that a case wants the same tactics in a
        small plan and in the large one that extends it.
        """
        counts: dict[Context, float] = {}
        for part in self._parts:
            weight = len(part.facts) * len(self.languages)
            for goal in part.goals:
                for context, turns in contexts_of(self.scheme, part.scenario, goal, part.turns):
                    counts[context] = counts.get(context, 0) + weight * turns
        total = sum(counts.values())
        return {context: count / total for context, count in counts.items()}

    def _length(self, part: _ScenarioCases, place: int, repetition: int) -> Improvised:
        """Return how many turns of a case are improvised, given its place among the lengths."""
        if part.scenario.flow:
            return improvised_turns(part.scenario, repetition=repetition, seed=self.seed)
        # The first question of a shared opening is fixed.
        turns = part.turns[place]
        return Improvised(turns, turns - (self.openings == "shared"))

    def _case_at(self, place: int, repetition: int) -> Case:
        """Return the case at a place of the cycle."""
        part = self._parts[bisect_right(self._parts, place, key=lambda part: part.start) - 1]
        return self._case(part, place - part.start, repetition)

    def _length_index(self, part: _ScenarioCases, place: int) -> int:
        """Return which of the lengths of a part the case at a place of it has."""
        return place // (len(part.goals) * len(self.languages)) % len(part.turns)

    def _size(self, part: _ScenarioCases) -> int:
        return len(part.facts) * len(part.turns) * len(self.languages) * len(part.goals)

    def _case(self, part: _ScenarioCases, place: int, repetition: int) -> Case:
        # Goals vary fastest: the stride shares no divisor with their number, so it takes turns.
        place, goal_index = divmod(place, len(part.goals))
        place, language_index = divmod(place, len(self.languages))
        fact_index, turns_index = divmod(place, len(part.turns))
        fact, goal = part.facts[fact_index], part.goals[goal_index]
        turns = self._length(part, turns_index, repetition).labelled
        variation = draw_variation(
            self.axes,
            scenario=part.scenario,
            fact=fact,
            turns=turns,
            repetition=repetition,
            seed=self.seed,
            openings=self.openings,
        )
        if (
            self.openings == "shared" and not part.scenario.flow
        ):  # cases of runs that knew no other kind have no such entry
            variation[OPENINGS] = self.openings
        return make_case(
            scheme=self.scheme.id,
            scenario=part.scenario.id,
            scenario_fingerprint=part.fingerprint,
            fact=fact,
            goal=goal,
            turns=turns,
            language=self.languages[language_index],
            variation=variation,
            repetition=repetition,
            seed=self.seed,
        )


def _tally(lengths: Iterable[tuple[int, Improvised]]) -> Counter[Improvised]:
    """Return how many cases there are of each length."""
    found: Counter[Improvised] = Counter()
    for cases, one in lengths:
        found[one] += cases
    return found


def _together(tallied: Mapping[Improvised, int]) -> Improvised:
    """Return the improvised turns of all cases."""
    return Improvised(
        sum(cases * one.labelled for one, cases in tallied.items()),
        sum(cases * one.others for one, cases in tallied.items()),
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


def _part_of(plan: Plan, scenario: Scenario, goals: tuple[str, ...], start: int) -> _ScenarioCases:
    """Take the facts that the responder owns: a dialogue plays one of them, or a flow all."""
    if scenario.flow:
        return _ScenarioCases(scenario, scenario.fingerprint, ("",), goals, (0,), start)
    chosen = plan.facts
    facts = tuple(
        fact.id
        for fact in scenario.facts
        if fact.owner == RESPONDER and (chosen is None or (scenario.id, fact.id) in chosen)
    )
    if not facts:
        which = "" if chosen is None else "selected "
        raise UsageError(f"scenario {scenario.id!r} has no {which}fact that the responder owns")
    return _ScenarioCases(scenario, scenario.fingerprint, facts, goals, tuple(plan.turns), start)


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
