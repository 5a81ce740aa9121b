"""What a model endpoint is asked and what it answers, whichever provider stands behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

import orjson

from prompts.question import Message
from scenarios.arms import Parameters
from scenarios.quick_records import quickly_made

Structured = Literal["native", "instruct"]
FinishReason = Literal["stop", "length", "refusal", "other"]
CACHE_FIELD = "cache_control"
"""Field with which Anthropic is asked to keep a prompt, for minutes or for an hour."""
CACHED_MINUTES = "5m"
"""Its ``ttl`` where it names none; any other costs more."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model for ``n`` samples."""

    model: str
    messages: tuple[Message, ...]
    parameters: Parameters
    schema: Mapping[str, object]
    """JSON schema (object, no extra properties, all required) the answer must satisfy."""
    schema_name: str
    seed: int
    """Sample ``i`` of this request is drawn with ``seed + i`` wherever a seed can be sent."""
    n: int = 1
    structured: Structured = "native"
    """Whether to ask the endpoint to enforce the schema; the prompt always describes the format."""
    omit: frozenset[str] = frozenset()
    """Body fields this endpoint has rejected before and which are therefore left out."""
    bounds: Mapping[str, int] = field(default_factory=dict)
    """Characters each text of the answer may have, and values each list, by key; empty: the schema
    sets no bounds."""
    patience: int = 1
    """How many times the usual time it may take: more for one that timed out before."""

    @property
    def bounded_schema(self) -> Mapping[str, object]:
        """The schema with its bounds as ``maxLength`` and ``maxItems``."""
        return _bounded(self.schema, self.bounds).schema

    @property
    def schema_bytes(self) -> int:
        """How long that is as JSON."""
        return _bounded(self.schema, self.bounds).size


class _Bounded(NamedTuple):
    schema: Mapping[str, object]
    size: int
    source: Mapping[str, object]
    """Kept alive, so that nothing else gets its id."""


_BOUNDED: dict[tuple[int, tuple[tuple[str, int], ...]], _Bounded] = {}
"""By the id of a schema and its bounds: a run asks in a handful of formats, thousands of times."""
MOST_BOUNDED = 64


def _with_bounds(source: Mapping[str, object], bounds: Mapping[str, int]) -> dict[str, object]:
    """Return a schema with the bounds of its texts and lists, those of objects in it included."""
    schema = dict(source)
    properties, items, options = (source.get(key) for key in ("properties", "items", "anyOf"))
    if isinstance(properties, Mapping):
        schema["properties"] = {
            name: _with_bound(_with_bounds(value, bounds), bounds.get(name))
            for name, value in properties.items()
        }
    if isinstance(items, Mapping):
        schema["items"] = _with_bounds(items, bounds)
    if isinstance(options, list):
        schema["anyOf"] = [_with_bounds(option, bounds) for option in options]
    return schema


def _with_bound(schema: dict[str, object], bound: int | None) -> dict[str, object]:
    """Return the schema of one value with its bound."""
    if bound is None:
        return schema
    kind = schema.get("type")
    is_list = isinstance(kind, str | list) and "array" in kind
    return {**schema, "maxItems" if is_list else "maxLength": bound}


def _bounded(source: Mapping[str, object], bounds: Mapping[str, int]) -> _Bounded:
    key = id(source), tuple(bounds.items())
    found = _BOUNDED.get(key)
    if found is None:
        schema = _with_bounds(source, bounds) if bounds else dict(source)
        if len(_BOUNDED) >= MOST_BOUNDED:
            _BOUNDED.clear()
        found = _BOUNDED[key] = _Bounded(schema, len(orjson.dumps(schema)), source)
    return found


@quickly_made
@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens one request cost.

    ``cached`` (read from the endpoint's cache) and ``cache_written`` are parts of ``prompt``,
    ``written_long`` (for an hour, not for minutes) is a part of ``cache_written``, ``reasoning`` one
    of ``completion``.
    """

    prompt: int
    completion: int
    cached: int = 0
    reasoning: int = 0
    cache_written: int = 0
    written_long: int = 0


@quickly_made
@dataclass(frozen=True, slots=True)
class Choice:
    """One sample: the raw text and why it ended."""

    text: str
    finish: FinishReason


@quickly_made
@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one request; fewer (or more) choices than asked for are possible."""

    choices: tuple[Choice, ...]
    usage: Usage | None
    request_id: str | None = None
    model: str | None = None
    """The model that answered, as the endpoint calls it; None where it did not say."""
    system_fingerprint: str | None = None
    """What the endpoint calls the state of model and server; None where it did not say."""
    body: str = ""
    """The start of an answer without any choice, to be stored with its request."""


class Provider(Protocol):
    """One endpoint: turns a request into HTTP (or into rules) and the answer into a reply."""

    name: str
    """``openai``, ``anthropic``, ``compatible`` or ``offline``."""
    base_url: str | None
    """Where it sends to; part of the fingerprint of a call."""
    samples_per_request: bool
    """Whether one request may ask for several samples (n > 1)."""

    async def send(self, request: Request, timeout_s: float) -> Reply:
        """Send once, without retrying.

        Raises:
            ProviderError: the endpoint could not or would not answer.
        """

    async def close(self) -> None:
        """Release connections."""
