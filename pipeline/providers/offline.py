"""The embedded rules and judge as a provider: no network, no key, no cost, equal answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pipeline.offline import engine as rules
from pipeline.offline.reading import PromptNotUnderstood
from pipeline.offline_judge import engine as judge
from pipeline.providers.errors import BadRequest
from pipeline.providers.protocol import Choice, Reply, Request, Usage

Answer = Callable[[Sequence[tuple[str, str]], int], str]

ENGINES: Final[Mapping[str, Answer]] = {"rules": rules.answer, "judge": judge.answer}
"""What answers, by the name of the model; any other name is served by the rules."""


class OfflineProvider:
    """Answers from the text of the messages and the seed alone."""

    name = "offline"
    base_url: str | None = None
    samples_per_request = True

    async def send(self, request: Request, timeout_s: float) -> Reply:
        """Answer sample ``i`` with ``seed + i``; tokens are counted as four bytes each.

        Raises:
            BadRequest: the prompt is not one of the shipped templates'.
        """
        answer = ENGINES.get(request.model, rules.answer)
        messages = [(message.role, message.content) for message in request.messages]
        try:
            texts = [answer(messages, request.seed + i) for i in range(request.n)]
        except PromptNotUnderstood as error:
            raise BadRequest(str(error)) from error
        usage = Usage(
            prompt=sum(_tokens(content) for _, content in messages),
            completion=sum(_tokens(text) for text in texts),
        )
        return Reply(tuple(Choice(text, "stop") for text in texts), usage)

    async def close(self) -> None:
        """Do nothing: there is nothing open."""


def build(**_: object) -> OfflineProvider:
    """Make the provider; there is nothing to configure."""
    return OfflineProvider()


def _tokens(text: str) -> int:
    """Return the nominal number of tokens of a text."""
    return len(text.encode()) // 4
