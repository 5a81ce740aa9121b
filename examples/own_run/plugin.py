"""A strategy and a gate of one's own; ``EXTENSIONS`` is what hipo looks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field

from pipeline.calls.asking import TurnTask
from pipeline.expected_calls import ArmParts, answer_calls
from pipeline.strategies.protocol import Spoken
from pipeline.strategies.registry import StrategyExtension
from quality.gates.protocol import GatedDialogue, GateExtension
from scenarios.dialogue import Attempt, Draft, Trace
from scenarios.strict import Strict
from scenarios.verdicts import Flag


class BriefSettings(Strict):
    """What a recipe may say under ``brief``."""

    k: int = Field(default=3, ge=2)
    """How many answers are drawn."""


@dataclass(frozen=True, slots=True)
class Brief:
    """Draws K answers and says the shortest."""

    parts: ArmParts
    k: int

    async def utter(self, task: TurnTask) -> Spoken:
        """Ask once for K answers."""
        question = self.parts.prompts.responder(task.view, task.history, task.wanted)
        answers = await self.parts.asker.ask_many(question, task.context("responder"), k=self.k)
        drafts = [answer for answer in answers if isinstance(answer, Draft)]
        shortest = min(range(len(drafts)), key=lambda index: len(drafts[index].text))
        trace = Trace("brief", attempts=tuple(map(Attempt, drafts)), chosen=shortest)
        return Spoken(drafts[shortest], trace)


class PromiseSettings(Strict):
    """What a recipe may say under ``verification.gates.promise``."""

    phrases: tuple[str, ...] = ("i promise", "you have my word", "i'll tell you")


@dataclass(frozen=True, slots=True)
class Promise:
    """Flags answers that promise something."""

    phrases: tuple[str, ...]
    code: ClassVar[str] = "promise"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Look for the phrases in every answer, in lower case."""
        return [
            subject.flag(self.code, f"promises: {phrase!r}", turn)
            for turn in subject.answers
            for phrase in self.phrases
            if phrase in turn.text.casefold()
        ]


EXTENSIONS = [
    StrategyExtension(
        "brief",
        "says the shortest of K answers",
        BriefSettings,
        build=lambda parts, settings: Brief(parts, settings.k),
        calls=lambda settings: [answer_calls(settings.k)],
    ),
    GateExtension("promise", PromiseSettings, build=lambda settings: Promise(settings.phrases)),
]
