"""Hashed word n-grams: those of a row, and an index of those of a whole set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from scenarios.fingerprint import text_hash
from scenarios.wording import split_words

Hashes = NDArray[np.uint64]

SIZE = 13
"""Words per n-gram: the length with which language models' test sets are commonly checked."""
SHORTEST = 6
"""A line of fewer words says too little to be recognised."""
_BASE = np.uint64(0x9E3779B97F4A7C15)
_BUFFER = 1 << 21
_KNOWN_WORDS = 1 << 19
_KNOWN_LINES = 1 << 12


class NgramHasher:
    """Turns lines of text into 64-bit hashes of their n-grams, the same in every process.

    A line of ``SHORTEST`` to ``size - 1`` words counts as one n-gram of its own length; a shorter
    one has none. No n-gram reaches over the end of a line.
    """

    def __init__(self, size: int = SIZE) -> None:
        """Start with no word known.

        Raises:
            ValueError: fewer than ``SHORTEST`` words per n-gram.
        """
        if size < SHORTEST:
            raise ValueError(f"an n-gram needs at least {SHORTEST} words, got {size}")
        self.size = size
        self._words: dict[str, int] = {}
        # Instructions and openings recur in row after row: taking them apart once saves most.
        self.text: Callable[[str], Hashes] = lru_cache(_KNOWN_LINES)(self._text)

    def row(self, lines: Sequence[str]) -> Hashes:
        """Return the distinct hashes of the n-grams of all lines, sorted."""
        texts = [self.text(line) for line in lines]
        return np.unique(np.concatenate(texts)) if texts else np.empty(0, np.uint64)

    def line(self, tokens: Sequence[str]) -> Hashes:
        """Return the hash of each n-gram of one line, in order; repeats included."""
        count = len(tokens)
        if count < SHORTEST:
            return np.empty(0, np.uint64)
        hashes = np.array([self._word(token) for token in tokens], np.uint64)
        width = min(count, self.size)
        last = count - width + 1
        total = hashes[:last]
        for offset in range(1, width):
            total = total * _BASE + hashes[offset : offset + last]
        # The length is mixed in, so that a short line is never taken for a part of a long one.
        return _mixed(total ^ np.uint64(count) if count < self.size else total)

    def _text(self, line: str) -> Hashes:
        """Return what :meth:`line` does, of a line that is not yet taken apart."""
        return self.line(split_words(line))

    def _word(self, word: str) -> int:
        number = self._words.get(word)
        if number is None:
            if len(self._words) >= _KNOWN_WORDS:
                self._words.clear()
            number = self._words[word] = text_hash(word)
        return number


def _mixed(values: Hashes) -> Hashes:
    """Spread sums of products over all 64 bits (the finaliser of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


@dataclass(slots=True)
class NgramIndex:
    """The distinct n-grams of one set, and in how many rows of it each occurs.

    Takes 12 bytes per distinct n-gram, and some three times that while it is built.
    """

    hashes: Hashes
    """Sorted."""
    rows: NDArray[np.int32]
    """In how many rows of the set, same shape as ``hashes``."""

    @classmethod
    def of(cls, rows: Iterable[Hashes]) -> NgramIndex:
        """Build the index of a set from the hashes of each of its rows."""
        index = cls(np.empty(0, np.uint64), np.empty(0, np.int32))
        waiting: list[Hashes] = []
        size = 0
        for hashes in rows:
            waiting.append(hashes)
            size += len(hashes)
            # Waiting for as many as there already are keeps the merging linear on the whole.
            if size >= max(_BUFFER, len(index.hashes)):
                index = index._with(waiting)
                waiting, size = [], 0
        return index._with(waiting) if waiting else index

    def find(self, hashes: Hashes) -> NDArray[np.intp]:
        """Return the positions in the index of those hashes that it holds."""
        if not len(self.hashes):
            return np.empty(0, np.intp)
        at = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        places: NDArray[np.intp] = at[self.hashes[at] == hashes]
        return places

    def _with(self, waiting: Sequence[Hashes]) -> NgramIndex:
        fresh, counts = np.unique(np.concatenate(waiting), return_counts=True)
        together = np.concatenate([self.hashes, fresh])
        hashes, back = np.unique(together, return_inverse=True)
        rows = np.zeros(len(hashes), np.int32)
        rows[back[: len(self.hashes)]] = self.rows
        rows[back[len(self.hashes) :]] += counts.astype(np.int32)
        return NgramIndex(hashes, rows)
