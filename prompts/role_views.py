"""What each role knows: the actors' prompts are made from these views and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from prompts.languages import described_language
from scenarios.case import Case
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario


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
    )


def responder_view(
    scenario: Scenario, scheme: Scheme, case: Case, *, manner: Sequence[str] = ()
) -> ResponderView:
    """Return what the responder of this case knows.

    Raises:
        UsageError: the case's fact or goal does not exist, or the fact is the initiator's.
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
    goal = next((label for label in scheme.goal.labels if label.id == case.goal), None)
    if goal is None:
        raise UsageError(
            f"scheme {scheme.id!r} has no goal {case.goal!r}",
            f"labels of {scheme.assigned}: {', '.join(scheme.goal.values)}",
        )
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
        open_labels=_restricted(scenario, scheme),
    )


def _restricted(scenario: Scenario, scheme: Scheme) -> tuple[str, ...]:
    """Return the felicitous labels in the scheme's order, or nothing where all of them are."""
    if scheme.felicity is None or not scenario.felicitous:
        return ()
    values = scheme.dimension(scheme.felicity).values
    felicitous = tuple(label for label in values if label in scenario.felicitous)
    return () if len(felicitous) == len(values) else felicitous
