"""What an error says, whatever the shape of its body: words, names, the field, sizes, the pause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import orjson

from pipeline.providers.retry import retry_after, seconds_of, until_reset
from pipeline.providers.untrusted import count

LONGEST_READ = 10_000
"""Characters of an endpoint's error message that are looked at."""
DEEPEST_ERROR = 12
"""Envelopes around an error that are opened; gateways put a handful around each other's."""
_ENVELOPES = ("error", "errors", "detail", "message")
_TOKENS = ("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "total_tokens")


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """The meaningful parts of an error body, whatever its shape."""

    message: str = ""
    kind: str = ""
    """Its ``code`` and ``type``, and the ids of quotas that are used up, space-separated."""
    parameter: str | None = None
    needed_tokens: int | None = None
    """How long the prompt was, where there is a field for it."""
    available_tokens: int | None = None
    """How long it may be, where there is a field for it."""
    pause_s: float | None = None
    """Seconds to wait, where there is a field for them, or a gateway quotes the headers behind it."""
    is_page: bool = False
    """Whether it is a web page or plain text, as models hardly send."""


def read_error(body: bytes) -> ErrorBody:
    """Read an error body in any of the shapes that endpoints and gateways use.

    Known are ``{"error": {"message", "type", "code", "param"}}``, ``{"error": "text"}``,
    ``{"detail": "text"}``, ``{"detail": [{"loc", "msg", "type"}]}``, the same without the
    ``error`` envelope, a list of one such object, what a gateway quotes of the error behind it
    (``{"metadata": {"raw": "..."}}``), and plain text.
    """
    try:
        data: object = orjson.loads(body)
    except orjson.JSONDecodeError:
        text = body[: 4 * LONGEST_READ].decode("utf-8", "replace").strip()[:LONGEST_READ]
        return ErrorBody(message="" if text.startswith("<") else text, is_page=True)
    return error_of(data)


def usage_in(data: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return the ``usage`` beside or in an error that says that tokens were used; None without one."""
    error = data.get("error")
    for holder in (data, error if isinstance(error, dict) else {}):
        usage = holder.get("usage")
        if isinstance(usage, dict) and any(_is_positive(usage.get(name)) for name in _TOKENS):
            return usage
    return None


def _is_positive(value: object) -> bool:
    return (type(value) is int or type(value) is float) and value > 0


def error_of(data: object) -> ErrorBody:
    """Return the innermost error of nested envelopes; of those nested without end nothing."""
    for _ in range(DEEPEST_ERROR):
        if isinstance(data, list):
            inner = data[0] if data else None
        elif isinstance(data, dict):
            inners = (data.get(envelope) for envelope in _ENVELOPES)
            inner = next((i for i in inners if isinstance(i, dict | list) and i), None)
            if inner is None:
                return _innermost(data)
        else:
            return ErrorBody(data[:LONGEST_READ] if isinstance(data, str) else "")
        data = inner
    return ErrorBody()


def _innermost(data: Mapping[str, object]) -> ErrorBody:
    """Read an error that has no other inside it."""
    texts = (data.get(key) for key in ("message", "error", "detail", "msg"))
    message = next((text for text in texts if isinstance(text, str)), "")
    metadata = data.get("metadata")
    raw, quoted = (
        (metadata.get("raw"), metadata.get("headers"))
        if isinstance(metadata, dict)
        else (None, None)
    )
    behind = read_error(raw.encode("utf-8", "replace")) if isinstance(raw, str) else ErrorBody()
    return ErrorBody(
        ": ".join(filter(None, (message, behind.message)))[:LONGEST_READ],
        f"{_kind(data)} {behind.kind}".strip(),
        _parameter(data) or behind.parameter,
        count(data.get("n_prompt_tokens")),
        count(data.get("n_ctx")),
        _pause(data, quoted),
    )


def _kind(data: Mapping[str, object]) -> str:
    """Join the machine-readable names of an error."""
    quotas = (
        violation.get("quotaId")
        for detail in _details(data)
        for violation in _objects(detail.get("violations"))
    )
    names = (data.get("code"), data.get("type"), *quotas)
    return " ".join(str(name)[:200] for name in names if isinstance(name, str | int | float))


def _parameter(data: Mapping[str, object]) -> str | None:
    """Return the body field an error names, as ``param`` or as a validator's ``loc``."""
    place = data.get("loc")
    names = place if isinstance(place, list) else [data.get("param")]
    fields = [name for name in names if isinstance(name, str) and name not in {"", "body"}]
    return fields[0] if fields else None


def _pause(data: Mapping[str, object], quoted: object) -> float | None:
    """Return the pause in the ``RetryInfo`` of Google's errors, or in headers that are quoted."""
    delays = (detail.get("retryDelay") for detail in _details(data))
    named = (seconds_of(delay) for delay in delays if isinstance(delay, str))
    found = next((seconds for seconds in named if seconds is not None), None)
    if found is None and isinstance(quoted, dict):
        headers = {name: value for name, value in quoted.items() if isinstance(value, str)}
        asked = retry_after(headers)
        found = until_reset(headers) if asked is None else asked
    return found


def _details(data: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    return _objects(data.get("details"))


def _objects(data: object) -> Iterator[Mapping[str, object]]:
    """Yield the objects of a list; nothing of what is none."""
    return (one for one in (data if isinstance(data, list) else ()) if isinstance(one, dict))
