"""What many records have in common, held once."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar, cast

T = TypeVar("T")


class SharedParts:
    """Hands out the first of equal values, so that records that are held at once share it."""

    def __init__(self, most: int) -> None:
        """Remember up to ``most`` values; then begin anew."""
        self._most = most
        self._known: dict[Hashable, object] = {}

    def once(self, key: Hashable, value: T) -> T:
        """Return the value that first came with a key; equal keys have equal values of one type."""
        if len(self._known) >= self._most:
            self._known.clear()
        return cast("T", self._known.setdefault(key, value))
