"""A reply that no endpoint should send, and the sound ones that it is made of."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

TEXT = '{"utterance": "It is in good order."}'
REPLY = "reply"
"""The outcome of a reply that can be used as far as it goes, whatever else is wrong with it."""


@dataclass(frozen=True, slots=True)
class HostileReply:
    """One reply, and what is to come of it."""

    name: str
    outcome: str
    """``reply``, or the code of the error."""
    body: bytes | Callable[[], Iterable[bytes]] = b""
    """All of it, or pieces; those without end are sent until the other side hangs up."""
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()
    raw: bytes | None = None
    """In place of everything else: the bytes on the wire, after which the connection is closed."""
    length: bytes | None = None
    """What Content-Length says, where it lies."""
    wires: tuple[str, ...] = ("openai", "anthropic")
    """The formats that it can be met in."""
    pause_s: float = 0.0
    """Seconds between two pieces."""


def openai_reply(message: object = None, usage: object = None, **fields: object) -> bytes:
    """Return an answer of the OpenAI format with something replaced; ``...`` takes it out."""
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": TEXT},
    }
    for name in ("index", "finish_reason"):
        if name in fields:
            choice[name] = fields.pop(name)
    if message is not None:
        choice["message"] = message
    counts = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    body: dict[str, object] = {"id": "x", "object": "chat.completion", "model": "m"}
    body |= {"choices": [choice], "usage": counts if usage is None else usage, **fields}
    return json.dumps({name: value for name, value in body.items() if value is not ...}).encode()


def anthropic_reply(usage: object = None, **fields: object) -> bytes:
    """Return an answer of the Anthropic format with something replaced; ``...`` takes it out."""
    counts = {"input_tokens": 9, "output_tokens": 3}
    body: dict[str, object] = {"id": "x", "type": "message", "role": "assistant", "model": "m"}
    body |= {"content": [{"type": "text", "text": TEXT}], "stop_reason": "end_turn"}
    body |= {"usage": counts if usage is None else usage, **fields}
    return json.dumps({name: value for name, value in body.items() if value is not ...}).encode()
