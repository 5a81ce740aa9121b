"""The embedded model ``offline/random``: whatever is asked, the answer is drawn by lot.

It is the floor that a model has to stand above, and shows what an evaluation makes of guessing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import orjson

from scenarios.fingerprint import seed_from

SAID: Final = "Drawn by lot."
"""Its texts, reasons included."""
STEPS: Final = 100
"""Numbers are drawn from so many equal steps of their range, both ends included."""


def draw(messages: Sequence[tuple[str, str]], schema: Mapping[str, object]) -> str:
    """Return an object of a schema: every value by a hash of the prompt and the key.

    Equal prompts are answered alike, so that asking again changes nothing.

    Args:
        messages: (role, content) pairs.
        schema: a JSON schema of an object, as answers have.
    """
    prompt = "\n".join(f"{role}: {content}" for role, content in messages)
    properties = schema.get("properties")
    fields = properties if isinstance(properties, Mapping) else {}
    answer = {key: _value(field, seed_from(prompt, key)) for key, field in fields.items()}
    return orjson.dumps(answer).decode()


def _value(field: Mapping[str, object], lot: int) -> object:
    options, kind = field.get("enum"), field.get("type")
    if isinstance(options, list):
        return options[lot % len(options)]
    if kind == "array":
        items = field.get("items")
        return [_value(items if isinstance(items, Mapping) else {}, lot)]
    if kind == "boolean":
        return lot % 2 == 0
    if kind in ("number", "integer"):
        low, high = _bound(field.get("minimum"), 0.0), _bound(field.get("maximum"), 1.0)
        number = low + (high - low) * (lot % (STEPS + 1)) / STEPS
        return number if kind == "number" else round(number)
    return SAID


def _bound(value: object, default: float) -> float:
    return float(value) if isinstance(value, int | float) else default
