"""What the provider tests ask, and how they answer it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pipeline.providers.protocol import Request
from prompts.question import Message
from scenarios.arms import Parameters

SCHEMA = {
    "type": "object",
    "properties": {"utterance": {"type": "string"}},
    "required": ["utterance"],
    "additionalProperties": False,
}
MESSAGES = (
    Message("system", "Answer in JSON. " * 20),
    Message("user", "Is the car in good order?"),
)


def make_request(**changes: object) -> Request:
    fields: dict[str, object] = {
        "model": "m",
        "messages": MESSAGES,
        "parameters": Parameters(temperature=0.7, max_tokens=64),
        "schema": SCHEMA,
        "schema_name": "utterance",
        "seed": 7,
    }
    return Request(**(fields | changes))  # type: ignore[arg-type]


def echo(messages: Sequence[tuple[str, str]], seed: int) -> str:
    """Answer with the seed, so that a test sees which sample it got."""
    return json.dumps({"utterance": f"seed {seed}", "veracity": "Quality"})
