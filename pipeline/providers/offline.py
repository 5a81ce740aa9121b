"""The embedded rules and judge as a provider: no network, no key, no cost, equal answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final

from pipeline.offline.lot import draw
from pipeline.offline.reading import PromptNotUnderstood
from pipeline.providers.errors import BadRequest
from pipeline.providers.protocol import Choice, Reply, Request, Usage
from scenarios.extensions import imported

Answer = Callable[[Sequence[tuple[str, str]], int], str]

RULES: Final = "pipeline.offline.engine:answer"
ENGINES: Final[Mapping[str, str]] = {
    "rules": RULES,
    "judge": "pipeline.offline_judge.engine:answer",
    "reader": "pipeline.offline_judge.engine:answer_unprepared",
    "reasoner": "pipeline.offline_reasoner.engine:answer",
}
"""What answers by reading, by the name of the model; any other name is served by the rules."""
RANDOM: Final = "random"
"""The model that does not read and draws its answers by lot."""


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
        messages = [(message.role, message.content) for message in request.messages]
        try:
            texts = [_answer(request, messages, request.seed + i) for i in range(request.n)]
        except PromptNotUnderstood as error:
            raise BadRequest(str(error)) from error
        usage = Usage(
            prompt=sum(_tokens(content) for _, content in messages),
            completion=sum(_tokens(text) for text in texts),
        )
        return Reply(tuple(Choice(text, "stop") for text in texts), usage)

    async def close(self) -> None:
        """Do nothing: there is nothing open."""


def _answer(request: Request, messages: Sequence[tuple[str, str]], seed: int) -> str:
    if request.model == RANDOM:
        return draw(messages, request.schema)
    return _engine(request.model)(messages, seed)


@cache
def _engine(model: str) -> Answer:
    engine: Answer = imported(ENGINES.get(model, RULES))
    return engine


def build(**_: object) -> OfflineProvider:
    """Make the provider; there is nothing to configure."""
    return OfflineProvider()


def _tokens(text: str) -> int:
    """Return the nominal number of tokens of a text."""
    return len(text.encode()) // 4
