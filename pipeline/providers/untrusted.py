"""What an endpoint sent, made safe to compute with and to store: counts, names and texts."""

from __future__ import annotations

import orjson

MOST_TOKENS = 20_000_000
"""A larger count of tokens is a mistake of the endpoint's, and as good as none: no model reads or
writes half as many in one request."""
LONGEST_NAME = 200
"""Characters kept of an id, a model's name or a fingerprint."""
LONGEST_TEXT = 60_000
"""Characters kept of a sample, or of a reply that cannot be read."""


def count(value: object) -> int | None:
    """Return a count of tokens if ``value`` is a plausible one: a number from 0 to 20 million."""
    if not (type(value) is int or type(value) is float):  # a bool is neither
        return None
    # NaN is in no range
    return int(value) if 0 <= value <= MOST_TOKENS else None


def identifier(value: object) -> str | None:
    """Return a short name as one line that can be stored; None if ``value`` is no text, or empty.

    Headers in bytes that are not UTF-8 reach us as half surrogate pairs, which no database holds.
    """
    if not isinstance(value, str):
        return None
    kept = value[:LONGEST_NAME]
    if not (kept.isascii() and kept.isprintable()):
        kept = kept.encode("utf-8", "replace").decode()
        kept = "".join(mark if mark.isprintable() else "?" for mark in kept)
    return kept or None


def json_object(data: bytes) -> dict[str, object]:
    """Return a JSON object; an empty one where it is none."""
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def storable(text: str) -> str:
    """Return a text that any database holds: cut in its middle, where that says so, and no half pair.

    Its end stays, because a model that thinks aloud answers there.
    """
    if len(text) > LONGEST_TEXT:
        sign = f"\n[... cut by hipo: {len(text) - LONGEST_TEXT} of {len(text)} characters ...]\n"
        text = text[: LONGEST_TEXT // 4] + sign + text[-(LONGEST_TEXT - LONGEST_TEXT // 4) :]
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which no database and no prompt can hold
        text = text.encode("utf-8", "replace").decode()
    return text
