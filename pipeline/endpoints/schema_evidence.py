"""Whether a reply can have come from an endpoint that enforces the schema it was sent."""

from __future__ import annotations

import re
from collections.abc import Mapping

import orjson

from pipeline.providers.protocol import Choice

_THOUGHT = re.compile(r"^\s*<think(?:ing)?>.*?</think(?:ing)?>", re.IGNORECASE | re.DOTALL)


def keeps_to_schema(choice: Choice, schema: Mapping[str, object]) -> bool | None:
    """Return True if the text has the schema's keys, False if it cannot, None if it says nothing.

    Only what an enforcing endpoint could never send counts against it: text around the object, no
    JSON at all, keys that are missing. Refusals, empty texts and the beginning of an
    object that was cut off say nothing; nor do values, which endpoints enforce in part.
    """
    text = choice.text.strip()
    if text.startswith("<"):
        text = _THOUGHT.sub("", text).strip()
    if choice.finish == "refusal" or not text:
        return None
    if not text.startswith("{"):
        return False
    if choice.finish == "length":
        return None
    try:
        answer = orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return False
    needed = schema.get("required")
    return all(key in answer for key in needed) if isinstance(needed, list | tuple) else None
