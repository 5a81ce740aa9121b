"""Reflection: the model is asked whether a draft carries the labels it declares."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.calls.asking import Asker, TurnTask
from pipeline.critics.registry import CriticExtension
from pipeline.expected_calls import ExpectedCalls
from prompts.actors import ActorPrompts
from scenarios.dialogue import Critique, Draft


@dataclass(frozen=True, slots=True)
class Reflection:
    """Asks the model of the role ``reflector``, by default the one that wrote the draft.

    Source: HIPO, section 4.4.1 (2).
    """

    prompts: ActorPrompts
    asker: Asker

    async def critique(self, task: TurnTask, draft: Draft, revision: int) -> tuple[Critique, ...]:
        """Return one critique per dimension."""
        return await self.asker.ask(
            self.prompts.reflect(task.view, task.history, draft, task.wanted),
            task.context(f"reflect-{revision}", role="reflector"),
        )


CRITIC = CriticExtension(
    "reflection",
    lambda parts: Reflection(parts.prompts, parts.asker),
    calls=(
        ExpectedCalls(
            "reflect",
            "reflector",
            lambda turn: turn.prompts.reflect(turn.view, turn.history, turn.draft, turn.wanted),
            answer_tokens=140,
        ),
    ),
)
