"""Who of two people stands above the other, told by what a table calls them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from quality.tables.records import folded
from quality.tables.table_map import StandingRule


def standing_of(how: StandingRule, written: str | None, people: Mapping[str, str]) -> str:
    """Return how the first of two people stands to the second; empty where that is not known.

    Args:
        how: what cells stand for, and which words tell it.
        written: the cell that says it, which may be empty; None: the file has no such column.
        people: by role what the row calls them.
    """
    if written is not None:
        known = {folded(name): meant for name, meant in how.values.items()}
        return known.get(folded(written), written)
    names = [people.get(role, "") for role in how.of]
    if not all(names):
        return ""
    first, second = (set(re.findall(r"[^\W\d_]+", name.casefold())) for name in names)
    if (first | second) & _words(how.alike):
        return how.level
    step = _height(how, first) - _height(how, second)
    if step == 0:
        return how.level
    return how.above if step > 0 else how.below


def _height(how: StandingRule, words: set[str]) -> int:
    """Return 1 for somebody high, -1 for somebody low, 0 where the words say neither or both."""
    return bool(words & _words(how.high)) - bool(words & _words(how.low))


def _words(listed: Collection[str]) -> set[str]:
    return {word.casefold() for word in listed}
