"""What whoever writes a whole conversation knows: everybody, what each keeps back, and every turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from prompts.prompt import role_tag
from prompts.speaker_view import SpeakerView, speaker_view
from scenarios.case import Case
from scenarios.dialogue import Wanted
from scenarios.flow import PlannedTurn
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.terms import RoleKey


@dataclass(frozen=True, slots=True)
class ScriptTurn:
    """One turn of the conversation, in the order of the plan."""

    number: int
    """Its place in the conversation, from 1."""
    key: RoleKey
    """The id of the role that speaks."""
    part: str
    round: int
    rounds: int
    text: str | None
    """Its words, where they are fixed; None: they are to be written."""
    labelled: bool
    wanted: Wanted = ()
    words: int = 0
    """So many are wanted at most; 0 where it is as people talk."""

    @property
    def speaker(self) -> str:
        """What the role is called in the prompt."""
        return role_tag(self.key)


@dataclass(frozen=True, slots=True)
class ScriptPart:
    """A part of the conversation in which words are to be written."""

    name: str
    brief: str
    strategies: tuple[tuple[str, str], ...]
    """(speaker, a way to go about it)."""
    length: str = ""
    """How long its turns are, where they are not as people talk."""


@dataclass(frozen=True, slots=True)
class Performer:
    """One of the people who are there."""

    view: SpeakerView
    """What this person knows; of its part of the conversation nothing is used."""
    speaks: bool


@dataclass(frozen=True, slots=True)
class ScriptView:
    """Everything about a conversation: unlike the view of a role it hides nothing."""

    situation: str
    language: str
    people: tuple[Performer, ...]
    parts: tuple[ScriptPart, ...]
    turns: tuple[ScriptTurn, ...]
    goal: str = ""
    goal_definition: str = ""
    felicity: str = ""
    """The dimension whose labels somebody's standing restricts."""

    @property
    def written(self) -> tuple[ScriptTurn, ...]:
        """The turns whose words are to be written."""
        return tuple(turn for turn in self.turns if turn.text is None)


def script_view(
    scenario: Scenario,
    scheme: Scheme,
    case: Case,
    planned: Sequence[PlannedTurn],
    *,
    manner: Callable[[RoleKey], Sequence[str]],
    wanted: Sequence[Wanted] = (),
) -> ScriptView:
    """Return what the writer of a conversation knows.

    Args:
        scenario: one with a flow.
        scheme: the labels.
        case: whose conversation it is.
        planned: its turns.
        manner: one line per axis of variation, by role.
        wanted: the labels wanted of each labelled turn, in order; empty: none are.

    Raises:
        UsageError: the case's goal does not exist.
    """
    people = tuple(
        Performer(
            speaker_view(scenario, scheme, case, PlannedTurn(role), manner=manner(role)),
            scenario.roles[role].speaks,
        )
        for role in scenario.roles
    )
    labelled = next((one.view for one in people if one.view.labelled), people[0].view)
    wishes = iter(wanted)
    turns = tuple(
        ScriptTurn(
            number,
            turn.role,
            _named(turn),
            turn.round + 1,
            turn.rounds,
            turn.text,
            turn.labelled,
            next(wishes, ()) if turn.labelled else (),
            turn.phase.length.words[1] if turn.phase and turn.phase.length else 0,
        )
        for number, turn in enumerate(planned, 1)
    )
    return ScriptView(
        situation=scenario.background,
        language=labelled.language,
        people=people,
        parts=_parts(scenario),
        turns=turns,
        goal=labelled.goal,
        goal_definition=labelled.goal_definition,
        felicity=labelled.felicity,
    )


def _named(turn: PlannedTurn) -> str:
    return turn.phase.id.replace("_", " ") if turn.phase else ""


def _parts(scenario: Scenario) -> tuple[ScriptPart, ...]:
    return tuple(
        ScriptPart(
            phase.id.replace("_", " "),
            phase.brief or "",
            tuple((role_tag(role), way) for role, ways in phase.strategies.items() for way in ways),
            phase.length.told if phase.length else "",
        )
        for phase in scenario.flow
        if not phase.text
    )
