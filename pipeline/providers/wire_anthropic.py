"""The Anthropic messages format: requests into arguments, answers into replies."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b

import orjson

from pipeline.providers.failures import broken_body, no_json
from pipeline.providers.protocol import CACHE_FIELD, Choice, FinishReason, Reply, Request, Usage
from pipeline.providers.untrusted import count, identifier
from pipeline.providers.wire_openai import finish_of, if_counted

SEED_HEADER = "X-Hipo-Seed"
"""Carries the seed to endpoints on this machine: the format itself has no field for it."""

LEAST_CACHED_BYTES = 4 * 1_024
"""About 1,024 tokens: the least that any model caches."""
CACHED_S = 300.0
"""How long the cache keeps a text after it was last sent."""
MOST_TEXTS = 1_024
"""Texts that are remembered."""

_FINISH: Mapping[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


@dataclass(frozen=True, slots=True)
class Call:
    """Arguments of ``messages.create`` and the body fields it no longer has arguments for."""

    arguments: Mapping[str, object]
    extra_body: Mapping[str, object]

    @property
    def fields(self) -> frozenset[str]:
        """Names of all fields in the request's body."""
        return frozenset(self.arguments) | frozenset(self.extra_body)


class RecentTexts:
    """Which system texts were sent a short while ago, so that it pays to mark them for the cache.

    Prices in shares of that of a prompt token: a marked text costs 1.25 where the cache has not got
    it, for it is written, and 0.1 where it has; a text without mark costs 1. A text that is sent once
    is therefore dearer with the mark, and one that is sent twice within the cache's lifetime cheaper
    (1.35 against 2). Nobody says beforehand how often a text will be sent. So it is sent plain at
    first, and marked when it comes again while the cache could still hold it: of n times in a row the
    first costs 1, the second 1.25 and all others 0.1, at most 0.9 more than if that had been known.
    The system texts of actors and judges come again with every turn; a translation or a check of an
    endpoint does not. Texts below the least length that any model caches are never marked: the mark
    would be ignored.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Know no text yet; ``clock`` tells the time in seconds."""
        self._clock = clock
        self._sent: dict[bytes, float] = {}

    def comes_again(self, text: str) -> bool:
        """Return whether a text is worth the mark; from now on it has been sent."""
        data = text.encode("utf-8", "replace")
        if len(data) < LEAST_CACHED_BYTES:
            return False
        key, now = blake2b(data, digest_size=16).digest(), self._clock()
        before = self._sent.pop(key, None)
        self._sent[key] = now
        if len(self._sent) > MOST_TEXTS:
            del self._sent[next(iter(self._sent))]
        return before is not None and now - before < CACHED_S


def system_of(request: Request) -> str:
    """Return the system text of a request; empty where it has none."""
    return "\n\n".join(m.content for m in request.messages if m.role == "system")


def call_of(request: Request, *, cached: bool = False) -> Call:
    """Translate a request; its ``omit`` is left out.

    Args:
        request: what is asked.
        cached: whether the system text is marked for the prompt cache, see :class:`RecentTexts`.
    """
    system = system_of(request)
    arguments: dict[str, object] = {
        "model": request.model,
        "max_tokens": request.parameters.max_tokens,
        "messages": [
            {"role": m.role, "content": m.content} for m in request.messages if m.role != "system"
        ],
    }
    if system:
        # A mark for minutes before one for an hour would be refused.
        own = request.parameters.extra.get(CACHE_FIELD, {"type": "ephemeral"})
        mark = {CACHE_FIELD: own} if cached else {}
        arguments["system"] = [{"type": "text", "text": system, **mark}]
    if request.structured == "native":
        arguments["output_config"] = {
            "format": {"type": "json_schema", "schema": dict(request.schema)}
        }
    extra: dict[str, object] = {}
    if request.parameters.temperature is not None:
        extra["temperature"] = request.parameters.temperature
    if request.parameters.top_p is not None:
        extra["top_p"] = request.parameters.top_p
    extra.update(request.parameters.extra)
    return Call(
        {name: value for name, value in arguments.items() if name not in request.omit},
        {name: value for name, value in extra.items() if name not in request.omit},
    )


def read_reply(data: bytes, request_id: str | None = None) -> Reply:
    """Read the answer's body: one choice, of all its text blocks.

    Raises:
        ServerFault: it is not JSON, or not this format.
    """
    try:
        answer = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise no_json(data, request_id) from error
    if not isinstance(answer, dict) or not isinstance(answer.get("content"), list):
        raise broken_body("it has no list of content blocks", request_id=request_id)
    blocks = [block for block in answer["content"] if isinstance(block, dict)]
    text = "".join(
        block["text"]
        for block in blocks
        if block.get("type") == "text" and isinstance(block.get("text"), str)
    )
    finish = finish_of(answer.get("stop_reason"), _FINISH)
    # no block at all is no answer, unless the endpoint says why it stopped short
    empty = not blocks and finish not in {"refusal", "length"}
    choices = () if empty else (Choice(text, finish),)
    return Reply(
        choices=choices,
        usage=if_counted(read_usage(answer.get("usage")), choices),
        request_id=identifier(request_id) or identifier(answer.get("id")),
        model=identifier(answer.get("model")),
    )


def read_usage(data: object) -> Usage | None:
    """Read token counts; None if absent or implausible.

    ``input_tokens`` excludes what was read from or written to the cache; both are added here, so
    that ``prompt`` means the same for every provider.
    """
    if not isinstance(data, dict):
        return None
    counts = {name: count(data.get(name)) for name in _COUNTS}
    if any(counts[name] is None for name in _COUNTS if data.get(name) is not None):
        return None  # one that is no plausible count makes the sum a guess
    fresh, completion, read, written = counts.values()
    if fresh is None or completion is None:
        return None
    kept = data.get("cache_creation")
    hourly = count(kept.get("ephemeral_1h_input_tokens")) if isinstance(kept, dict) else None
    details = data.get("output_tokens_details")
    thinking = count(details.get("thinking_tokens")) if isinstance(details, dict) else None
    return Usage(
        prompt=fresh + (read or 0) + (written or 0),
        completion=completion,
        cached=read or 0,
        reasoning=min(thinking or 0, completion),
        cache_written=written or 0,
        written_long=min(hourly or 0, written or 0),
    )
