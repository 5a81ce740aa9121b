"""Direct improvisation: the first answer is what is said."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.calls.asking import Asker, TurnTask
from pipeline.expected_calls import answer_calls
from pipeline.strategies.protocol import Spoken
from pipeline.strategies.registry import NoStrategySettings, StrategyExtension
from prompts.actors import ActorPrompts
from scenarios.dialogue import Trace


@dataclass(frozen=True, slots=True)
class Direct:
    """One structured call per utterance; its trace is empty, there was nothing to choose from.

    Source: HIPO, section 4.4.1 (1).
    """

    prompts: ActorPrompts
    asker: Asker

    async def utter(self, task: TurnTask) -> Spoken:
        """Ask once."""
        draft = await self.asker.ask(
            self.prompts.responder(task.view, task.history, task.wanted),
            task.context("responder"),
        )
        return Spoken(draft, Trace(strategy="direct"))


STRATEGY = StrategyExtension(
    "direct",
    "says the first answer",
    NoStrategySettings,
    build=lambda parts, _: Direct(parts.prompts, parts.asker),
    calls=lambda _: [answer_calls()],
)
