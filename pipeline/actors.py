"""The initiator: whoever asks, and knows nothing of what the responder keeps to itself."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.strategies.protocol import Asker, call_context
from prompts.actors import ActorPrompts
from prompts.role_views import InitiatorView
from scenarios.case import Case
from scenarios.dialogue import History


@dataclass(frozen=True, slots=True)
class Initiator:
    """Plays the initiator of one dialogue."""

    prompts: ActorPrompts
    asker: Asker
    view: InitiatorView

    async def utter(self, case: Case, turn: int, history: History, *, epoch: int) -> str:
        """Return the next question.

        Args:
            case: the case that is played.
            turn: the index the utterance will have in the dialogue.
            history: what was said before.
            epoch: how often the case has failed before.

        Raises:
            AnswerUnusable: the model's answers could not be read.
            ProviderError: the endpoint did not answer.
        """
        return await self.asker.ask(
            self.prompts.initiator(self.view, history),
            self.prompts.utterance,
            call_context(case, turn, "initiator", role="initiator", epoch=epoch),
            self.prompts.repair,
        )
