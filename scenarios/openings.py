"""The fixed lines a case starts with: shared by all goals, or one statement for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scenarios.errors import UsageError
from scenarios.fixed_lines import GoalOpening
from scenarios.plural import first_of
from scenarios.quick_records import quickly_made
from scenarios.spec import Fact, Scenario
from scenarios.terms import Openings, RoleKey

OPENINGS: Final = "openings"
"""The recorded name of the kind of opening; cases without it open by goal."""
OPENING: Final = "opening"
"""The recorded name of the exchange or question that was drawn, counted from 0."""
HARD_QUESTION: Final = "hard_question"
"""The recorded name of the wording of the hard question that was drawn, counted from 0."""
NAMED = 5
"""Scenarios that are named in one message."""


@quickly_made
@dataclass(frozen=True, slots=True)
class FixedLine:
    """A line nobody improvises, and the claims whoever says it makes."""

    role: RoleKey
    text: str
    claims: tuple[str, ...] = ()


def opening_lines(
    scenario: Scenario, fact: str, goal: str, variation: Mapping[str, str]
) -> tuple[FixedLine, ...]:
    """Return the lines a case starts with, the initiator's first.

    A shared opening has three: an easy question, its answer, and the hard question. An opening by
    goal has two: a question and the statement of the goal. Where nothing was drawn, the first
    exchange is used, or the first question under which a statement is false given the fact.

    Raises:
        UsageError: the scenario has no such opening, wording or statement.
    """
    if opens_alike(variation):
        return _shared(scenario, variation)
    openings = scenario.opening.by_goal
    if not openings:
        raise UsageError(
            f"scenario {scenario.id!r} has no opening by goal", "use --openings shared"
        )
    if "opening_question" in variation:
        return _in_the_first_form(scenario, goal, variation)
    index = _index(scenario, OPENING, variation, len(openings), fitting(scenario, fact)[0])
    return _by_goal(scenario, openings[index], goal)


def _in_the_first_form(
    scenario: Scenario, goal: str, variation: Mapping[str, str]
) -> tuple[FixedLine, ...]:
    """Return what hipo 0.1 drew: a wording of the question, and one of the statement for the goal."""
    pairs = [_by_goal(scenario, opening, goal) for opening in scenario.opening.by_goal]
    lines = []
    for place, name in enumerate(("opening_question", "opening_statement")):
        wordings = list(dict.fromkeys(pair[place] for pair in pairs))
        lines.append(wordings[_index(scenario, name, variation, len(wordings))])
    return tuple(lines)


def opens_alike(variation: Mapping[str, str]) -> bool:
    """Return whether a case opens with the same lines under every goal: the hard question last."""
    return variation.get(OPENINGS) == "shared"


def check_openings(scenarios: Iterable[Scenario], goals: Sequence[str], kind: Openings) -> None:
    """Do nothing where every scenario without a flow has the openings of a plan.

    Raises:
        UsageError: some have no opening of the kind, or none for a goal; one message for all.
    """
    chosen = [scenario for scenario in scenarios if not scenario.flow]
    if kind == "shared":
        if lacking := [s.id for s in chosen if s.opening.shared is None]:
            raise UsageError(
                f"no shared opening in {_listed(lacking)}",
                "use --openings by-goal, or add opening.shared (hipo scenarios new shows one)",
            )
        return
    if lacking := [s.id for s in chosen if not s.opening.by_goal]:
        raise UsageError(
            f"no opening by goal in {_listed(lacking)}",
            "use --openings shared, or add opening.by_goal (hipo scenarios new shows one)",
        )
    for goal in goals:
        if silent := [s.id for s in chosen if not _states(s, goal)]:
            raise UsageError(
                f"no opening statement for the goal {goal!r} in {_listed(silent)}",
                "add one under every question of opening.by_goal, or one named any",
            )


def _states(scenario: Scenario, goal: str) -> bool:
    return all(goal in o.statements or "any" in o.statements for o in scenario.opening.by_goal)


def _listed(names: Sequence[str]) -> str:
    """Name the first of some scenarios, and count the others."""
    return f"scenario{'s' if len(names) > 1 else ''} {first_of(names, NAMED)}"


def choices(scenario: Scenario, fact: str, kind: Openings) -> dict[str, tuple[int, ...]]:
    """Return what may be drawn for the opening of a case, by recorded name; the same for all goals."""
    if kind == "by-goal":
        return {OPENING: fitting(scenario, fact)}
    shared = scenario.opening.shared
    if shared is None:
        raise _no_shared(scenario)
    return {
        OPENING: tuple(range(len(shared.exchanges))),
        HARD_QUESTION: tuple(range(len(shared.hard_question))),
    }


def fitting(scenario: Scenario, fact_id: str) -> tuple[int, ...]:
    """Return the places of the openings by goal in which some statement is false given the fact.

    All of them where none is: what the statement says is then no lie, and the deception comes later.
    """
    fact = next((fact for fact in scenario.facts if fact.id == fact_id), None)
    places = range(len(scenario.opening.by_goal))
    false = [i for i in places if fact and _lies(scenario.opening.by_goal[i], fact)]
    return tuple(false or places)


def _lies(opening: GoalOpening, fact: Fact) -> bool:
    return any(set(s.claims) & set(fact.makes_false) for s in opening.statements.values())


def _shared(scenario: Scenario, variation: Mapping[str, str]) -> tuple[FixedLine, ...]:
    shared = scenario.opening.shared
    if shared is None:
        raise _no_shared(scenario)
    easy = shared.exchanges[_index(scenario, OPENING, variation, len(shared.exchanges))]
    hard = _index(scenario, HARD_QUESTION, variation, len(shared.hard_question))
    return (
        FixedLine("initiator", easy.question),
        FixedLine("responder", easy.answer, easy.claims),
        FixedLine("initiator", shared.hard_question[hard]),
    )


def _by_goal(scenario: Scenario, opening: GoalOpening, goal: str) -> tuple[FixedLine, ...]:
    try:
        statement = opening.statement_for(goal)
    except KeyError:
        raise UsageError(
            f"scenario {scenario.id!r} has no opening statement for the goal {goal!r}",
            "add it to the statements of opening.by_goal, or one for the key any",
        ) from None
    return (
        FixedLine("initiator", opening.question),
        FixedLine("responder", statement.text, statement.claims),
    )


def _index(
    scenario: Scenario, name: str, variation: Mapping[str, str], count: int, otherwise: int = 0
) -> int:
    index = variation.get(name, str(otherwise))
    if not index.isdecimal() or int(index) >= count:
        raise UsageError(
            f"scenario {scenario.id!r} has no wording {index!r} for its {name.replace('_', ' ')}",
            f"it has {count}, counted from 0",
        )
    return int(index)


def _no_shared(scenario: Scenario) -> UsageError:
    return UsageError(
        f"scenario {scenario.id!r} has no shared opening",
        "add opening.shared (hipo scenarios new shows one), or use --openings by-goal",
    )
