"""What each role knows: the actors' prompts are made from these views and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from prompts.languages import described_language
from scenarios.case import Case
from scenarios.errors import UsageError
from scenarios.openings import opening_lines
from scenarios.quick_records import quickly_made
from scenarios.schemes.dimension import Label
from scenarios.schemes.misleading import misleading_goals
from scenarios.schemes.model import Scheme
from scenarios.spec import Fact, Scenario


@quickly_made
@dataclass(frozen=True, slots=True)
class InitiatorView:
    """What the initiator knows. It has no field for anything that is private to the responder."""

    situation: str
    role: str
    description: str
    aim: str
    other_role: str
    other_description: str
    language: str
    """A BCP 47 code with its English name."""
    manner: tuple[str, ...] = ()
    """One line per axis of variation."""
    voice: str = ""
    """How this person talks."""
    angle: str = ""
    """A question that anybody could ask, to be asked sooner or later; the same under every goal."""
    questions: int = 0
    """How often it speaks in the dialogue, the lines of the opening included; 0 is not told."""


@quickly_made
@dataclass(frozen=True, slots=True)
class ResponderView:
    """What the responder knows: the situation, its goal, and one private fact."""

    situation: str
    role: str
    description: str
    aim: str
    other_role: str
    other_description: str
    language: str
    goal: str
    goal_definition: str
    about: str
    """What the fact concerns."""
    fact: str
    manner: tuple[str, ...] = ()
    felicity: str = ""
    """The dimension whose labels ``open_labels`` restricts."""
    open_labels: tuple[str, ...] = ()
    """The labels the role has the standing for; empty where all are open to it."""
    voice: str = ""
    """How this person talks."""
    claimed: tuple[str, ...] = ()
    """What it has claimed with the fixed lines of the opening."""
    untrue: tuple[str, ...] = ()
    """What of that the fact makes untrue."""
    believed: tuple[str, ...] = ()
    """What is to be believed instead of the fact; nothing where the goal misleads nobody."""


def initiator_view(scenario: Scenario, case: Case, *, manner: Sequence[str] = ()) -> InitiatorView:
    """Return what the initiator of this case may know."""
    own, other = scenario.roles["initiator"], scenario.roles["responder"]
    return InitiatorView(
        situation=scenario.background,
        role=own.name,
        description=own.description,
        aim=own.aim,
        other_role=other.name,
        other_description=other.description,
        language=described_language(case.language),
        manner=tuple(manner),
        voice=own.voice or "",
        angle=next((fact.angle for fact in scenario.facts if fact.id == case.fact), None) or "",
        questions=case.turns + 1,  # before each answer of the responder, the fixed one included
    )


def responder_view(
    scenario: Scenario, scheme: Scheme, case: Case, *, manner: Sequence[str] = ()
) -> ResponderView:
    """Return what the responder of this case knows.

    Raises:
        UsageError: the case's fact or goal does not exist, the fact is the initiator's, or the
            scenario has no opening for the case.
    """
    own, other = scenario.roles["responder"], scenario.roles["initiator"]
    try:
        fact = scenario.fact(case.fact)
    except KeyError:
        known = ", ".join(f.id for f in scenario.facts)
        raise UsageError(
            f"scenario {scenario.id!r} has no fact {case.fact!r}", f"facts: {known}"
        ) from None
    if fact.owner != "responder":
        raise UsageError(
            f"fact {fact.id!r} of scenario {scenario.id!r} belongs to the {fact.owner}",
            "a dialogue needs a fact that the responder alone knows",
        )
    goal = assigned_goal(scheme, case)
    claimed, untrue = _claims(scenario, case, fact)
    return ResponderView(
        situation=scenario.background,
        role=own.name,
        description=own.description,
        aim=own.aim,
        other_role=other.name,
        other_description=other.description,
        language=described_language(case.language),
        goal=goal.id,
        goal_definition=goal.definition,
        about=fact.about,
        fact=fact.text,
        manner=tuple(manner),
        felicity=scheme.felicity or "",
        open_labels=restricted_labels(scenario, scheme),
        voice=own.voice or "",
        claimed=claimed,
        untrue=untrue,
        believed=_covers(scenario, fact) if goal.id in (misleading_goals(scheme) or ()) else (),
    )


def assigned_goal(scheme: Scheme, case: Case) -> Label:
    """Return the goal that a case assigns.

    Raises:
        UsageError: the scheme has no such goal.
    """
    for label in scheme.goal.labels:
        if label.id == case.goal:
            return label
    raise UsageError(
        f"scheme {scheme.id!r} has no goal {case.goal!r}",
        f"labels of {scheme.assigned}: {', '.join(scheme.goal.values)}",
    )


def _claims(scenario: Scenario, case: Case, fact: Fact) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what the responder claims with the opening of a case, and what of it is untrue."""
    text_of = {claim.id: claim.text for claim in scenario.claims}
    if not text_of:
        return (), ()
    lines = opening_lines(scenario, case.fact, case.goal, dict(case.variation))
    made = [c for line in lines if line.role == "responder" for c in line.claims if c in text_of]
    return (
        tuple(text_of[claim] for claim in made),
        tuple(text_of[claim] for claim in made if claim in fact.makes_false),
    )


def _covers(scenario: Scenario, fact: Fact) -> tuple[str, ...]:
    """Return what a deceiver would have believed instead of a fact, the likeliest first."""
    text_of = {claim.id: claim.text for claim in scenario.claims}
    return tuple(text_of[cover.claim] for cover in fact.cover if cover.claim in text_of)


def restricted_labels(scenario: Scenario, scheme: Scheme) -> tuple[str, ...]:
    """Return the felicitous labels in the scheme's order, or nothing where all of them are."""
    if scheme.felicity is None or not scenario.felicitous:
        return ()
    values = scheme.dimension(scheme.felicity).values
    felicitous = tuple(label for label in values if label in scenario.felicitous)
    return () if len(felicitous) == len(values) else felicitous
