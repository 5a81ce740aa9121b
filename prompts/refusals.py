"""What models say when they fall out of a role: they will not play, or speak as a machine."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import cast

from scenarios.yaml_source import read_yaml

PHRASES = Path(__file__).parent / "data" / "refusals.yaml"


@lru_cache(maxsize=4096)
def refusal_in(text: str, more: tuple[str, ...] = ()) -> str | None:
    """Return the first words of a text that only a machine would say; None where there are none.

    Args:
        text: what was answered.
        more: further phrases beside those that ship, taken literally, whatever their case.
    """
    return _first(_compiled(("declined", "out_of_role"), more), text)


def declined_in(text: str) -> str | None:
    """Return the first words by which a model declines; None where there are none.

    Words of the task, which no person in a dialogue says, are none: whoever labels a dialogue
    writes them.
    """
    return _first(_compiled(("declined",)), text)


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(" ".join(text.replace("\u2019", "'").split()))
    return None if match is None else match[0]


@lru_cache(maxsize=16)
def _compiled(kinds: tuple[str, ...], more: tuple[str, ...] = ()) -> re.Pattern[str]:
    """Put the phrases of all languages together: a machine may fall back into English."""
    data = cast("dict[str, dict[str, list[str]]]", read_yaml(PHRASES).data)
    shipped = [one for kind in kinds for patterns in data[kind].values() for one in patterns]
    own = [re.escape(" ".join(phrase.split())) for phrase in more]
    return re.compile("|".join(f"(?:{pattern})" for pattern in (*shipped, *own)), re.IGNORECASE)
