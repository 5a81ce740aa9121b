"""What a strategy is: it produces the utterances that are labelled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pipeline.asking import TurnTask
from scenarios.dialogue import Draft, Trace


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
