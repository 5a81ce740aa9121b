"""What strategies and critics declare of their calls, and what they are built from.

Importing a recipe reads this module: the types of its fields are imported for checking alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.calls.asking import Asker
    from pipeline.voting import Encoder
    from prompts.actors import ActorPrompts
    from prompts.question import Question
    from prompts.script_view import ScriptView
    from prompts.turn_views import AnsweringView
    from scenarios.dialogue import Critique, Draft, History, Wanted
    from scenarios.spec import Scenario
    from scenarios.terms import RoleKey


@dataclass(frozen=True, slots=True)
class SampleTurn:
    """An utterance to be produced, with stand-ins for what nobody has said yet."""

    prompts: ActorPrompts
    view: AnsweringView
    history: History
    wanted: Wanted
    draft: Draft
    critiques: tuple[Critique, ...]
    scenario: Scenario
    role: RoleKey
    """The id of the role that speaks."""
    script: ScriptView | None = None
    """The dialogue it is in, for whoever writes it as a whole; None where there is no flow."""


@dataclass(frozen=True, slots=True)
class ExpectedCalls:
    """Samples of one kind that are drawn for one labelled utterance, or dialogue; for estimates."""

    kind: str
    """What they are for, in a word: ``responder``, ``reflect``."""
    role: str
    """Whose model is asked."""
    question: Callable[[SampleTurn], Question[object]]
    """Returns an example, whose length is taken for that of all."""
    answer_tokens: int
    """Usual length of an answer, JSON included; of each turn in it where it is a dialogue."""
    expected: float = 1
    most: float = 1
    per_dialogue: bool = False
    """Whether samples are drawn once for a dialogue, and hold all turns that nobody has fixed."""
    together: int = 1
    """Samples of one question: endpoints that draw several in one request read its prompt once."""


@dataclass(frozen=True, slots=True)
class ArmParts:
    """What the strategy and the critic of one arm are built from."""

    prompts: ActorPrompts
    asker: Asker
    encoder: Encoder | None
    """Only for strategies that embed."""
    scenarios: Mapping[str, Scenario] = field(default_factory=dict)
    """By id, with their placeholders filled; for what a program needs of them to check words."""


def answer_calls(samples: int = 1) -> ExpectedCalls:
    """Return the calls for ``samples`` answers of the responder."""
    return ExpectedCalls(
        "responder",
        "responder",
        lambda turn: turn.prompts.responder(turn.view, turn.history, turn.wanted),
        answer_tokens=195,
        expected=samples,
        most=samples,
        together=samples,
    )
