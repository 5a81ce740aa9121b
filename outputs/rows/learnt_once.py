"""Rows that are learnt from once: what says the same again is left out, and counted."""

from __future__ import annotations

from collections.abc import Hashable


class LearntOnce:
    """Remembers which rows there are already, in few bytes for each."""

    def __init__(self) -> None:
        """Begin with no row."""
        # 64 bits are enough: among a million rows the chance of one clash is 3 in 100 million.
        self._seen: set[int] = set()
        self.repeats = 0
        """How many were not new."""

    def is_new(self, content: Hashable) -> bool:
        """Return whether no row before had this content; count it where one had.

        Args:
            content: all that is learnt from a row: what is shown, and the answer. Ids and the order
                in which options are listed are no part of it.
        """
        mark = hash(content)
        if mark in self._seen:
            self.repeats += 1
            return False
        self._seen.add(mark)
        return True
