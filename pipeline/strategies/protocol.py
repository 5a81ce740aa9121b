"""What a strategy is: it produces the utterances that are labelled, or a dialogue as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pipeline.calls.asking import ScriptTask, TurnTask
from scenarios.dialogue import Draft, Trace
from scenarios.quick_records import quickly_made


@quickly_made
@dataclass(frozen=True, slots=True)
class Spoken:
    """The draft that is said, and how it came to be."""

    draft: Draft
    trace: Trace


class Strategy(Protocol):
    """Produces labelled utterances."""

    async def utter(self, task: TurnTask) -> Spoken:
        """Produce one utterance.

        Raises:
            AnswerUnusable: the model's answers could not be read.
            ProviderError: the endpoint did not answer.
        """


@runtime_checkable
class ScriptStrategy(Protocol):
    """Produces the turns of a whole dialogue, whoever speaks."""

    async def script(self, task: ScriptTask) -> tuple[Spoken, ...]:
        """Produce every turn that nobody has fixed, in the order of ``task.view.written``.

        Raises:
            AnswerUnusable: the model's answers could not be read.
            ProviderError: the endpoint did not answer.
        """
