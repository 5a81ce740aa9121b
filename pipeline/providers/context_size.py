"""A prompt that is longer than the model's context: told from what the endpoint says, with sizes."""

from __future__ import annotations

import re
from dataclasses import dataclass

_EXCEEDED = re.compile(
    r"exceed_context_size|context_length_exceeded|contextwindowexceeded|context_window_exceeded"
    r"|maximum context length|maximum model length|available context size|model's context length"
    r"|exceeds? (?:the )?(?:model'?s? )?(?:maximum )?context|context (?:length|limit|window) of"
    r"|greater than the context length|maximum prompt length|input is too long for requested model"
    r"|prompt is too long|maximum number of (?:input )?tokens allowed"
    r"|`?inputs`? tokens \+ `?max_new_tokens`? must be",
    re.IGNORECASE,
)
_NUMBER = r"(\d[\d,_]{0,14})"
_LIMITS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"n_ctx: {_NUMBER}",
        rf"tokens? > {_NUMBER}\s+maximum",
        rf"context limit: .{{1,40}}> ?{_NUMBER}",
        rf"must be <= ?{_NUMBER}",
        rf"{_NUMBER} maximum context length",
        rf"configured limit of {_NUMBER}",
        rf"(?:maximum (?:context|model|prompt) length|context (?:length|size|window|limit))\D{{0,30}}{_NUMBER}",
        rf"tokens allowed\D{{0,30}}{_NUMBER}",
    )
)
_SIZES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"passed {_NUMBER} input tokens and requested {_NUMBER} output",
        rf"too large: {_NUMBER}\..{{1,100}}has {_NUMBER} input tokens",
        rf"given: {_NUMBER} `?inputs`? tokens and {_NUMBER}",
        rf"context limit: {_NUMBER} \+ {_NUMBER} >",
        rf"n_keep: {_NUMBER}",
        rf"requested\s+(?:a total of\s+)?(?:tokens\s*)?\(?{_NUMBER}",
        rf"resulted in {_NUMBER} tokens",
        rf"(?:request|input|token count|length)\s*\((?:length )?{_NUMBER}(?: tokens)?\)",
        rf"prompt \(length {_NUMBER}\)",
        rf"(?:has|contains|given:) {_NUMBER}\s+(?:`?input`?s?`? )?tokens",
        rf"prompt is too long: {_NUMBER}",
        rf"request contains {_NUMBER}",
    )
)


@dataclass(frozen=True, slots=True)
class ContextSizes:
    """What a request needed and what the model has, in tokens; None where it was not said."""

    needed: int | None = None
    available: int | None = None


def exceeded_context(
    kind: str, message: str, needed: int | None = None, available: int | None = None
) -> ContextSizes | None:
    """Return the sizes if an error says that the prompt is too long for the model, else None.

    Args:
        kind: the machine-readable names of the error.
        message: its words.
        needed: tokens of the request, where the error has a field for them.
        available: tokens of the context, where the error has a field for them.
    """
    if not _EXCEEDED.search(f"{kind} {message}"):
        return None
    return ContextSizes(
        _first_number(_SIZES, message) if needed is None else needed,
        _first_number(_LIMITS, message) if available is None else available,
    )


def _first_number(patterns: tuple[re.Pattern[str], ...], message: str) -> int | None:
    """Return the number that the first matching pattern finds, or the sum: of prompt and answer."""
    for pattern in patterns:
        found = pattern.search(message)
        if found is not None:
            return sum(int(re.sub(r"\D", "", number)) for number in found.groups())
    return None
