"""What restricts the labels that may be wanted of a turn, and how often each such context occurs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from scenarios.case import Case
from scenarios.fingerprint import seed_from
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.terms import RoleKey


@dataclass(frozen=True, slots=True, order=True)
class Context:
    """What restricts the combinations of one labelled turn."""

    goal: str
    felicitous: tuple[str, ...] = ()
    """Labels of the felicity dimension that are open to the responder; empty: all."""
    must: tuple[int, ...] = ()
    """Indices of the scheme's requirements that this very turn has to satisfy."""
    role: RoleKey = ""
    """Who speaks in a flow; "" is the responder where there is none."""

    @classmethod
    def of(
        cls,
        scheme: Scheme,
        scenario: Scenario,
        goal: str,
        must: Sequence[int] = (),
        role: RoleKey = "",
    ) -> Self:
        """Return the context, with the open labels in the scheme's order (none if all are open)."""
        labels = scheme.dimension(scheme.felicity).values if scheme.felicity else ()
        given = tuple(label for label in labels if label in scenario.felicitous)
        return cls(goal, () if given == labels else given, tuple(must), role)


def requirements_for(scheme: Scheme, goal: str) -> tuple[int, ...]:
    """Return the indices of the requirements that the goal alone brings into force."""
    return tuple(
        index
        for index, requirement in enumerate(scheme.requirements)
        if set(requirement.when) == {scheme.assigned} and goal in requirement.when[scheme.assigned]
    )


def musts(required: Sequence[int], turns: int, turn: int, shift: int = 0) -> tuple[int, ...]:
    """Return which of the requirements fall on a turn: one each, spread from ``shift`` onwards."""
    return tuple(r for place, r in enumerate(required) if (shift + place) % turns == turn)


def context_at(
    scheme: Scheme, case: Case, scenario: Scenario, turn: int, role: RoleKey = ""
) -> Context:
    """Return the context of one labelled turn of a case: requirements fall on turns that a hash chose.

    Args:
        scheme: whose rules hold.
        case: the case that is played.
        scenario: its scenario.
        turn: which of its labelled turns, from 0.
        role: who speaks, in a scenario with a flow.
    """
    required = requirements_for(scheme, case.goal)
    shift = seed_from(case.seed, case.pair, "required turn") % case.turns
    must = musts(required, case.turns, turn, shift)
    return Context.of(scheme, scenario, case.goal, must, role if scenario.flow else "")


def contexts_of(
    scheme: Scheme, scenario: Scenario, goal: str, lengths: Sequence[int]
) -> Iterator[tuple[Context, float]]:
    """Yield the contexts of the labelled turns of cases of every length, and how many turns each has.

    With a flow the number of turns is the mean of what may be drawn.
    """
    required = requirements_for(scheme, goal)
    if scenario.flow:
        yield from _through_the_flow(scheme, scenario, goal, required)
        return
    for turns in lengths:
        for turn in range(turns):
            yield Context.of(scheme, scenario, goal, musts(required, turns, turn)), 1


def _through_the_flow(
    scheme: Scheme, scenario: Scenario, goal: str, required: Sequence[int]
) -> Iterator[tuple[Context, float]]:
    phases = [
        (phase.rounds, role)
        for phase in scenario.flow
        if not phase.text
        for role in phase.who
        if scenario.roles[role].labelled
    ]
    fewest = sum(least for (least, _), _ in phases)
    most = sum(most for (_, most), _ in phases)
    # A requirement falls on whichever turn a hash chooses, and may so fall on any role.
    lengths = range(fewest, most + 1) if required else range(1, 2)
    for (least, last), role in phases:
        for turns in lengths:
            for turn in range(turns):
                share = (least + last) / 2 / turns / len(lengths)
                must = musts(required, turns, turn)
                yield Context.of(scheme, scenario, goal, must, role), share
