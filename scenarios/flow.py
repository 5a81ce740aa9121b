"""Who says something when: the turns of a case, from its opening or from the phases of a flow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.case import Case
from scenarios.conversation import Length, Phase
from scenarios.errors import UsageError
from scenarios.fingerprint import seed_from
from scenarios.openings import opening_lines
from scenarios.quick_records import quickly_made
from scenarios.spec import Scenario
from scenarios.terms import INITIATOR, RESPONDER, RoleKey

WORDING = "wording_"
"""Before the id of a phase: the recorded name of the wording of its fixed words, counted from 0."""


@quickly_made
@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """One turn that is to come."""

    role: RoleKey
    text: str | None = None
    """The words, where they are fixed; None: somebody improvises them."""
    labelled: bool = False
    """Whether what is improvised is labelled."""
    phase: Phase | None = None
    """The part of the conversation it belongs to; None where there is no flow."""
    round: int = 0
    """Which round of the phase, from 0."""
    rounds: int = 1
    """How many rounds the phase has in this case."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Improvised:
    """How many turns of a dialogue nobody has fixed."""

    labelled: int
    others: int


def planned_turns(scenario: Scenario, case: Case) -> tuple[PlannedTurn, ...]:
    """Return the turns of a case in order.

    Raises:
        UsageError: the scenario has no opening, or no fixed words, of the kind the case asks for.
    """
    if scenario.flow:
        return tuple(_through_the_flow(scenario, case))
    return tuple(_by_turns(scenario, case))


def drawn_rounds(scenario: Scenario, *, repetition: int, seed: int) -> tuple[int, ...]:
    """Return how many rounds each phase has, drawn within its least and most.

    Neither goal nor language has a part in it: cases that differ in one of them alone are of the
    same length.
    """
    rounds = []
    for phase in scenario.flow:
        least, most = phase.rounds
        if most > least:
            drawn = seed_from(seed, "rounds", scenario.id, phase.id, repetition)
            least += drawn % (most - least + 1)
        rounds.append(least)
    return tuple(rounds)


def wanted_lengths(scenario: Scenario, case: Case) -> tuple[Length, ...]:
    """Return how long each turn of a case is wanted to be; nothing where there is no flow."""
    if not scenario.flow:
        return ()
    turns = planned_turns(scenario, case)
    return tuple((turn.phase and turn.phase.length) or Length() for turn in turns)


def improvised_turns(scenario: Scenario, *, repetition: int, seed: int) -> Improvised:
    """Return how many turns of a case of a flow are improvised, by whom."""
    counts = {True: 0, False: 0}
    rounds = drawn_rounds(scenario, repetition=repetition, seed=seed)
    for phase, times in zip(scenario.flow, rounds, strict=True):
        if not phase.text:
            for role in phase.who:
                counts[scenario.roles[role].labelled] += times
    return Improvised(counts[True], counts[False])


def _through_the_flow(scenario: Scenario, case: Case) -> Iterator[PlannedTurn]:
    drawn = drawn_rounds(scenario, repetition=case.repetition, seed=case.seed)
    for phase, rounds in zip(scenario.flow, drawn, strict=True):
        for place in range(rounds):
            for role in phase.who:
                text = _fixed_words(scenario, phase, case)
                labelled = scenario.roles[role].labelled and text is None
                yield PlannedTurn(role, text, labelled, phase, place, rounds)


def _fixed_words(scenario: Scenario, phase: Phase, case: Case) -> str | None:
    if not phase.text:
        return None
    index = dict(case.variation).get(WORDING + phase.id, "0")
    if not index.isdecimal() or int(index) >= len(phase.text):
        raise UsageError(
            f"scenario {scenario.id!r} has no wording {index!r} for its phase {phase.id!r}",
            f"it has {len(phase.text)}, counted from 0",
        )
    return phase.text[int(index)]


def _by_turns(scenario: Scenario, case: Case) -> Iterator[PlannedTurn]:
    """Yield the opening, then question and answer in turn until the case is through."""
    last = RESPONDER
    for line in opening_lines(scenario, case.fact, case.goal, dict(case.variation)):
        last = line.role
        yield PlannedTurn(line.role, line.text)
    for exchange in range(case.turns):
        if exchange or last == RESPONDER:  # a shared opening ends with the hard question
            yield PlannedTurn(INITIATOR)
        yield PlannedTurn(RESPONDER, labelled=True)
