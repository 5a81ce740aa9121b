"""Critics by name: they say what is wrong with a draft, and the strategy decides what follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol

from pipeline.calls.asking import TurnTask
from pipeline.expected_calls import ArmParts, ExpectedCalls
from scenarios.dialogue import Critique, Draft
from scenarios.extensions import ExtensionPoint
from scenarios.plugins import PointName
from scenarios.spec import Scenario


class Critic(Protocol):
    """Says what is wrong with a draft: a model or a program."""

    async def critique(self, task: TurnTask, draft: Draft, revision: int) -> tuple[Critique, ...]:
        """Say of each label that the draft declares whether its words carry it.

        Args:
            task: the utterance to be produced.
            draft: what is to be said.
            revision: how often it has been revised before.

        Raises:
            AnswerUnusable: a model's answers could not be read.
            ProviderError: an endpoint did not answer.
        """


@dataclass(frozen=True, slots=True)
class CriticExtension:
    """A critic by its name."""

    point: ClassVar[PointName] = "critic"
    name: str
    build: Callable[[ArmParts], Critic]
    calls: tuple[ExpectedCalls, ...] = ()
    """What one critique asks for; nothing where the critic is a program."""
    check: Callable[[Scenario], None] = lambda _: None
    """Does nothing where the critic can criticise the dialogues of a scenario.

    Raises:
        UsageError: the scenario lacks what it needs.
    """


CRITICS: Final[ExtensionPoint[CriticExtension]] = ExtensionPoint(
    "critic",
    CriticExtension,
    {
        "reflection": "pipeline.critics.reflection:CRITIC",
        "verifier": "pipeline.critics.verifier:CRITIC",
    },
)
"""Every critic by its name."""
