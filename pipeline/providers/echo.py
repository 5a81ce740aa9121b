"""Errors that repeat the prompt: what it tells must not be taken for words of the server."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from prompts.question import Message

RUN = 5
"""Words in a row that a prompt and an error share by no accident."""
LEFT_OUT = "[...]"
_WORD = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]|[^\W\u3040-\u9fff\uac00-\ud7af]+")
"""A word, or a sign of a script that writes without spaces."""
_ESCAPED = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|[nrt])?")
"""How JSON and Python write what they do not write as it is."""


def without_prompt(message: str, prompt: Sequence[Message]) -> str:
    """Return an error's message without what it repeats of the prompt, in whatever quotes.

    A prompt of funds, limits or policies would otherwise be read as a reason that the server gives.
    """
    plain = _ESCAPED.sub(_unescaped, message)
    words = list(_WORD.finditer(plain))
    known = {run for said in prompt for run in _runs(_WORD.findall(said.content))}
    repeated: set[int] = set()
    for start, run in enumerate(_runs([word[0] for word in words])):
        if run in known:
            repeated.update(range(start, start + RUN))
    if not repeated:
        return message
    kept, end = [], 0
    places = sorted(repeated)
    firsts = [places[0], *(place for before, place in pairwise(places) if place != before + 1)]
    for first in firsts:
        last = first
        while last + 1 in repeated:
            last += 1
        kept += [plain[end : words[first].start()], LEFT_OUT]
        end = words[last].end()
    return "".join([*kept, plain[end:]])


def _runs(words: list[str]) -> Iterable[tuple[str, ...]]:
    """Return every so many words in a row."""
    return zip(*(words[start:] for start in range(RUN)), strict=False)


def _unescaped(found: re.Match[str]) -> str:
    letter = chr(int(found[1], 16)) if found[1] else " "
    return " " if "\ud800" <= letter <= "\udfff" else letter
