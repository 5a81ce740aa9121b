"""Find which rows of several annotators are about the same place of a dialogue."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import SequenceMatcher

MOST_COMPARED = 2_000
"""Rows that differ and are compared with each other; more are joined by their number alone."""


@dataclass(eq=False, slots=True)
class _DialoguePlace:
    """One place of the dialogue, and what was said there."""

    key: Hashable


def joined(rows: Mapping[str, Sequence[Hashable]]) -> dict[str, list[int]]:
    """Return the place in the dialogue of every row of every annotator, by the order of the rows.

    Where everybody has the same rows, the n-th row is the n-th place, however often a text is
    repeated. Where somebody lacks a row or has one more, the rows that stay in order and say the
    same are joined, and whatever lies between two such rows by its order.

    Args:
        rows: per annotator what was said, row by row; None where a row does not tell.

    Returns:
        Per annotator the places, from 0, as many as it has rows; they grow from row to row.
    """
    if not rows:
        return {}
    longest = max(rows.values(), key=len)
    merged = [_DialoguePlace(key) for key in longest]
    places: dict[str, list[_DialoguePlace]] = {}
    for annotator, keys in rows.items():
        merged, places[annotator] = _merge(merged, keys)
    number = {id(place): position for position, place in enumerate(merged)}
    return {name: [number[id(place)] for place in own] for name, own in places.items()}


def _merge(
    merged: list[_DialoguePlace], keys: Sequence[Hashable]
) -> tuple[list[_DialoguePlace], list[_DialoguePlace]]:
    """Put the rows of one annotator beside the places there are; return all places, and its own."""
    known = [place.key for place in merged]
    head = 0
    while head < min(len(known), len(keys)) and known[head] == keys[head]:
        head += 1
    tail = 0
    while tail < min(len(known), len(keys)) - head and known[-1 - tail] == keys[-1 - tail]:
        tail += 1
    old, new = merged[head : len(merged) - tail], keys[head : len(keys) - tail]
    both, own = _merge_middle(old, new)
    return (
        [*merged[:head], *both, *merged[len(merged) - tail :]],
        [*merged[:head], *own, *merged[len(merged) - tail :]],
    )


def _merge_middle(
    old: list[_DialoguePlace], new: Sequence[Hashable]
) -> tuple[list[_DialoguePlace], list[_DialoguePlace]]:
    if not old or not new or max(len(old), len(new)) > MOST_COMPARED:
        return _in_order(old, new)
    both: list[_DialoguePlace] = []
    own: list[_DialoguePlace] = []
    matcher = SequenceMatcher(None, [place.key for place in old], new, autojunk=False)
    for _, low, high, first, last in matcher.get_opcodes():
        some, mine = _in_order(old[low:high], new[first:last])
        both += some
        own += mine
    return both, own


def _in_order(
    old: list[_DialoguePlace], new: Sequence[Hashable]
) -> tuple[list[_DialoguePlace], list[_DialoguePlace]]:
    both = [*old, *(_DialoguePlace(key) for key in new[len(old) :])]
    return both, both[: len(new)]


def numbered(names: Sequence[str]) -> list[int]:
    """Return the place of every name: by number where all are numbers, else as they come."""
    distinct = list(dict.fromkeys(names))
    with suppress(ValueError):
        distinct.sort(key=float)
    number = {name: place for place, name in enumerate(distinct)}
    return [number[name] for name in names]
