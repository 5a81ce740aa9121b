"""Which earlier texts share many of their words with a new one: an inverted index over a window."""

from __future__ import annotations

from array import array
from collections.abc import Collection

import numpy as np

NO_WORDS = frozenset({""})
"""In place of the words of a text that has none: such texts are alike."""


class SharedWords:
    """Finds the earlier sets of words whose Jaccard similarity with a new one reaches a bound.

    The result is exact. Memory is bounded: between one and two windows of the latest sets are kept,
    and only those within the window are found.
    """

    def __init__(self, least: float, window: int) -> None:
        """Begin with none.

        Args:
            least: the similarity from which on sets are found, in (0, 1].
            window: among how many of the latest sets.
        """
        self._least = least
        self._window = window
        self._places: dict[str, array[int]] = {}
        self._kept: list[frozenset[str]] = []
        self._first = 0
        """The number of the oldest set that is kept."""

    def add(self, words: Collection[str]) -> tuple[int, list[int]]:
        """Return the number of a set of words, from 0 on, and those of the sets before it that are alike."""
        own = frozenset(words) or NO_WORDS
        found = self._alike(own)
        if len(self._kept) >= 2 * self._window:
            self._forget()
        place = len(self._kept)
        self._kept.append(own)
        for word in own:
            self._places.setdefault(word, array("i")).append(place)
        return self._first + place, found

    def _alike(self, own: frozenset[str]) -> list[int]:
        places = [np.frombuffer(self._places[w], np.intc) for w in own if w in self._places]
        if not places:
            return []
        shared = np.bincount(np.concatenate(places))
        # of two sets the larger one has at least as many words as they share: a first, cheap bound
        near = np.flatnonzero(shared >= self._least * len(own))
        oldest = len(self._kept) - self._window
        return [
            self._first + int(at)
            for at in near
            if at >= oldest
            and shared[at] >= self._least * (len(own) + len(self._kept[at]) - shared[at])
        ]

    def _forget(self) -> None:
        """Drop all but the latest window."""
        gone = len(self._kept) - self._window
        self._first += gone
        self._kept = self._kept[gone:]
        self._places = {}
        for place, known in enumerate(self._kept):
            for word in known:
                self._places.setdefault(word, array("i")).append(place)
