"""Streams of events in OpenAI's format, which some servers send unasked, joined into one answer."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.providers.untrusted import json_object

_PARTS = ("content", "reasoning_content", "reasoning", "refusal")
"""What comes piece by piece."""


def joined_events(data: bytes) -> dict[str, object] | None:
    """Return the answer that a stream would have been in one piece; None where it is no stream.

    A choice that was cut off, by a fault or the end of the stream, is no choice.
    """
    lines = [line[5:].strip() for line in data.splitlines() if line.startswith(b"data:")]
    events = [event for event in map(json_object, lines) if event]
    answer: dict[str, object] = {}
    choices: dict[object, dict[str, object]] = {}
    for event in events:
        listed = event.pop("choices", None)
        answer.update((name, value) for name, value in event.items() if value is not None)
        for piece in listed if isinstance(listed, list) else ():
            if isinstance(piece, dict):
                _add(choices, piece)
    ended = b"[DONE]" in lines and not answer.get("error")
    whole = [choice for choice in choices.values() if ended or _has_ended(choice)]
    return {**answer, "choices": whole} if whole else None


def _has_ended(choice: Mapping[str, object]) -> bool:
    return choice["finish_reason"] not in (None, "error")


def _add(choices: dict[object, dict[str, object]], piece: Mapping[str, object]) -> None:
    """Add one piece to the choice that it belongs to."""
    index = piece.get("index")
    place = index if isinstance(index, int) else 0
    choice = choices.setdefault(place, {"index": place, "message": {}, "finish_reason": None})
    if piece.get("finish_reason") is not None:
        choice["finish_reason"] = piece["finish_reason"]
    delta, message = piece.get("delta") or piece.get("message"), choice["message"]
    if not (isinstance(delta, dict) and isinstance(message, dict)):
        return
    for name in _PARTS:
        if isinstance(delta.get(name), str):
            message[name] = message.get(name, "") + delta[name]
