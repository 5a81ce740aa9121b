"""Find the one JSON object in what a model wrote, however it is wrapped or broken."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping

import json_repair
import orjson

Answer = Mapping[str, object]

_MAX_CHARACTERS = 64_000
_MAX_STARTS = 24
"""How many opening braces are tried; a text with more is no answer that is worth the time."""
_MAX_BRACKETS = 400
"""Opening brackets that repair is tried on: its effort grows with the square of their number."""
_MARKS = "{[\"'\u2018\u2019\u201c\u201d"
_MAX_EFFORT = 40_000_000
"""Marks times characters that repair is tried on, which takes seconds: from each of them it may read
on to the end. An answer of 30,000 characters may have 1,300."""
_END_OF_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*+[ \t]*+\n?+(.*?)```", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)


def squash(name: str) -> str:
    """Return a key without case, spaces and punctuation, to compare spellings of it."""
    return "".join(filter(str.isalnum, name.casefold()))


def find_object(text: str, keys: Collection[str]) -> Answer | None:
    """Return the object that holds most of ``keys``, or None where none holds any.

    Strict JSON is taken as it is. Otherwise reasoning, code fences and prose around the object are
    removed, and at last the text is repaired (quotes, commas, brackets).
    """
    try:
        value = orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        pass
    else:
        if isinstance(value, dict) and all(key in value for key in keys):
            return value
        best = _best((value,), keys)
        if best is not None:
            return best
    if len(text) > _MAX_CHARACTERS:
        return None
    body = _END_OF_THOUGHT.split(text)[-1]
    fenced = [match[1] for match in _FENCE.finditer(body)]
    sound = _best((v for part in (*fenced, body) for v in _embedded(part)), keys)
    if sound is not None and all(_has(sound, key) for key in keys):
        return sound
    # Prose may hold braces too: a sound object wins, and repair is for what is left.
    repaired = _best((v for part in (*fenced, body) for v in _repaired(part)), keys)
    return _best([c for c in (repaired, sound) if c is not None], keys)


def _embedded(text: str) -> Iterator[object]:
    """Yield every sound JSON object in the text, in order."""
    at, starts = text.find("{"), 0
    while at >= 0 and starts < _MAX_STARTS:
        starts += 1
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value
        at = text.find("{", end)


def is_beyond_repair(text: str) -> bool:
    """Whether a text is too long, or holds too many brackets and quotes, for repair to be tried."""
    return (
        len(text) > _MAX_CHARACTERS
        or text.count("{") + text.count("[") > _MAX_BRACKETS
        or sum(map(text.count, _MARKS)) * len(text) > _MAX_EFFORT
    )


def _repaired(text: str) -> Iterator[object]:
    """Yield what repair makes of the text from its first brace on."""
    start = text.find("{")
    if start < 0 or is_beyond_repair(text):
        return
    try:
        yield json_repair.loads(text[start:], skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, TypeError, AttributeError):
        return


def _best(values: Iterator[object] | Collection[object], keys: Collection[str]) -> Answer | None:
    """Return the object with most of the keys, looking one level into each value.

    Of equals the last wins: a model that corrects itself writes the correction last.
    """
    best: Answer | None = None
    most = 0
    for value in values:
        for candidate in _objects(value):
            count = sum(_has(candidate, key) for key in keys)
            if count and count >= most:
                best, most = candidate, count
    return best


def _objects(value: object) -> Iterator[Answer]:
    if isinstance(value, dict):
        yield value
        yield from (inner for inner in value.values() if isinstance(inner, dict))
    elif isinstance(value, list):
        yield from (inner for inner in value if isinstance(inner, dict))


def _has(answer: Answer, key: str) -> bool:
    return key in answer or any(squash(str(other)) == squash(key) for other in answer)
