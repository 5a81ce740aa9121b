"""What one role of a flow knows: its prompts are made from this view and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from prompts.languages import described_language
from prompts.prompt import role_tag
from prompts.role_views import assigned_goal, restricted_labels
from scenarios.case import Case
from scenarios.flow import PlannedTurn
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.terms import RoleKey


@dataclass(frozen=True, slots=True)
class Other:
    """Somebody else who is there."""

    speaker: str
    role: str
    description: str
    speaks: bool


@dataclass(frozen=True, slots=True)
class SharedFact:
    """What a role knows together with some of the others."""

    about: str
    text: str
    others: tuple[str, ...]
    """Who else knows it, as prompts call the speakers."""


@dataclass(frozen=True, slots=True)
class SpeakerView:
    """What a role knows before it speaks. It has no field for what others keep to themselves."""

    situation: str
    key: RoleKey
    """The id of the role."""
    role: str
    description: str
    aim: str
    others: tuple[Other, ...]
    language: str
    """A BCP 47 code with its English name."""
    voice: str = ""
    """How this person talks."""
    labelled: bool = False
    """Whether it labels what it says."""
    goal: str = ""
    """The label it is given for the conversation; "" where it is given none."""
    goal_definition: str = ""
    private: tuple[tuple[str, str], ...] = ()
    """What this role alone knows: what it concerns, and the fact."""
    shared: tuple[SharedFact, ...] = ()
    """What it knows together with some of the others, in the order of the scenario."""
    manner: tuple[str, ...] = ()
    """One line per axis of variation."""
    felicity: str = ""
    """The dimension whose labels ``open_labels`` restricts."""
    open_labels: tuple[str, ...] = ()
    """The labels the role has the standing for; empty where all are open to it."""
    part: str = ""
    """What the part of the conversation is called in which it speaks."""
    brief: str = ""
    """What happens in that part."""
    strategies: tuple[str, ...] = ()
    """Ways to go about it that are open to the role."""
    round: int = 1
    rounds: int = 1
    """Which round of the part it is, of how many."""
    last: bool = False
    """Whether the conversation ends with this part, after others."""
    length: str = ""
    """How long the turn is to be, where it is not as people talk."""
    words: int = 0
    """So many are wanted at most; 0 where it is as people talk."""

    @property
    def speaker(self) -> str:
        """What the role is called where prompts print a conversation."""
        return role_tag(self.key)

    @property
    def names(self) -> dict[RoleKey, str]:
        """What to write beside each speaker of the conversation, to tell them apart."""
        return {self.speaker: "you", **{other.speaker: other.role for other in self.others}}


def speaker_view(
    scenario: Scenario,
    scheme: Scheme,
    case: Case,
    planned: PlannedTurn,
    *,
    manner: Sequence[str] = (),
) -> SpeakerView:
    """Return what the role of a planned turn knows.

    Raises:
        UsageError: the case's goal does not exist.
    """
    own, phase = scenario.roles[planned.role], planned.phase
    known = scenario.private(planned.role)
    goal = assigned_goal(scheme, case) if own.labelled and scheme.assigned else None
    return SpeakerView(
        situation=scenario.background,
        key=planned.role,
        role=own.name,
        description=own.description,
        aim=own.aim,
        others=tuple(
            Other(role_tag(key), other.name, other.description, other.speaks)
            for key, other in scenario.roles.items()
            if key != planned.role
        ),
        language=described_language(case.language),
        voice=own.voice or "",
        labelled=own.labelled,
        goal=goal.id if goal else "",
        goal_definition=goal.definition if goal else "",
        private=tuple((fact.about, fact.text) for fact in known if not fact.also_known_by),
        shared=tuple(
            SharedFact(
                fact.about,
                fact.text,
                tuple(role_tag(key) for key in fact.knowers if key != planned.role),
            )
            for fact in known
            if fact.also_known_by
        ),
        manner=tuple(manner),
        felicity=scheme.felicity or "",
        open_labels=restricted_labels(scenario, scheme) if own.labelled else (),
        part=phase.id.replace("_", " ") if phase else "",
        brief=(phase.brief or "") if phase else "",
        strategies=phase.strategies.get(planned.role, ()) if phase else (),
        round=planned.round + 1,
        rounds=planned.rounds,
        last=len(scenario.flow) > 1 and phase == scenario.flow[-1],
        length=phase.length.told if phase and phase.length else "",
        words=phase.length.words[1] if phase and phase.length else 0,
    )
