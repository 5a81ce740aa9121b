"""Signatures of sets of texts, which tell how alike two sets are, and an index of those that are.

Source: Broder 1997 (MinHash); Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, 3.4 (bands).
"""

from __future__ import annotations

import hashlib
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scenarios.wording import stem

PERMUTATIONS: Final = 64
Signature = NDArray[np.uint32]
"""The least hash of a set in each permutation, shape ``(PERMUTATIONS,)``."""
_SEED: Final = 1
_WIDTH: Final = 4
"""Bytes of a hash."""
_ODD = np.uint32(0x9E3779B1)
"""Factor of the hashes of words, so that their order in a run counts."""
_FIRST, _SECOND = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)
"""Factors of the last step of MurmurHash3, which spreads what comes in over all 32 bits."""
_SLACK: Final = 0.88
"""How far below a likeness candidates are looked for, since signatures only estimate it."""

MOST_ALIKE: Final = 128
"""Of signatures that share a band, so many of the latest are compared: where a run repeats itself
thousands of times, each would be compared with thousands."""


@cache
def _permutations() -> tuple[Signature, Signature]:
    """Return an odd factor and a summand each: ``a * h + b`` modulo 2**32 takes no two to one."""
    draw = np.random.RandomState(_SEED)  # its draws stay the same in every version of numpy
    half = draw.randint(0, 1 << 31, PERMUTATIONS, dtype=np.uint32)
    return half * np.uint32(2) + np.uint32(1), draw.randint(0, 1 << 32, PERMUTATIONS, np.uint32)


def signature_of(texts: Iterable[str]) -> Signature | None:
    """Return the signature of a set of texts; None where it is empty."""
    first = [
        hashlib.sha1(text.encode("utf-8", "replace"), usedforsecurity=False).digest()[:_WIDTH]
        for text in texts
    ]
    if not first:
        return None
    return _least(np.frombuffer(b"".join(first), "<u4").astype(np.uint32))


def signature_of_runs(words: Sequence[str], size: int) -> Signature | None:
    """Return the signature of the runs of ``size`` words that a text has; None where it has none.

    Words are compared by their stems. Each is hashed once, and numpy puts together the hashes of
    those that follow each other: making a string of each run would take most of the time. A text of
    fewer words is one run.
    """
    if not words:
        return None
    hashes = np.fromiter(map(_hash_of, words), np.uint32, len(words))
    size = min(size, len(words))
    runs = hashes[: len(words) - size + 1].copy()
    for at in range(1, size):
        runs *= _ODD
        runs += hashes[at : len(words) - size + 1 + at]
    return _least(runs)


@lru_cache(maxsize=1 << 15)
def _hash_of(word: str) -> int:
    return zlib.crc32(stem(word).encode("utf-8", "replace"))


def _least(hashes: Signature) -> Signature:
    """Return the signature of a set by the hashes of its members, which are changed."""
    hashes ^= hashes >> np.uint32(16)
    hashes *= _FIRST
    hashes ^= hashes >> np.uint32(13)
    hashes *= _SECOND
    hashes ^= hashes >> np.uint32(16)
    factors, summands = _permutations()
    least: Signature = (factors[:, None] * hashes + summands[:, None]).min(axis=1)
    return least


def bands_for(least: float) -> tuple[int, int]:
    """Return how many bands of how many rows find pairs from a little below a likeness on.

    Pairs of likeness ``s`` become candidates with probability ``1 - (1 - s**rows)**bands``.
    """
    fitting = [
        (PERMUTATIONS // rows, rows)
        for rows in range(1, PERMUTATIONS // 2 + 1)
        if (rows / PERMUTATIONS) ** (1 / rows) <= _SLACK * least
    ]
    return fitting[-1] if fitting else (PERMUTATIONS, 1)


class SignatureIndex:
    """The latest signatures, each found again by those that share a whole band with it.

    They are numbered in the order in which they came, from 0 on. A new one is compared with all that
    it may be like at once, so that a run that repeats itself stays quick.
    """

    def __init__(self, bands: int, rows: int, window: int) -> None:
        """Begin with none.

        Args:
            bands: of a signature.
            rows: hashes of a band.
            window: how many of the latest signatures are kept.
        """
        self._cuts = [slice(i * rows * _WIDTH, (i + 1) * rows * _WIDTH) for i in range(bands)]
        self._tables: list[dict[bytes, array[int]]] = [{} for _ in range(bands)]
        self._window = window
        self._kept = np.zeros((0, PERMUTATIONS), np.uint32)
        """That of number ``n`` stands in row ``n % window``; rows are added as they are needed."""
        self.oldest = 0
        """The number of the first that is kept."""
        self._next = 0

    def __len__(self) -> int:
        """Return how many are kept."""
        return self._next - self.oldest

    def add(self, signature: Signature) -> None:
        """Keep a signature under the next number; beyond the window the oldest is dropped."""
        if len(self) == self._window:
            self._drop_oldest()
        if self._next == len(self._kept) < self._window:
            room = min(self._window, max(64, 2 * len(self._kept)))
            grown = np.zeros((room, PERMUTATIONS), np.uint32)
            grown[: len(self._kept)] = self._kept
            self._kept = grown
        self._kept[self._next % self._window] = signature
        for table, band in self._bands(signature):
            there = table.setdefault(band, array("q"))
            if len(there) == MOST_ALIKE:
                there.pop(0)
            there.append(self._next)
        self._next += 1

    def alike(self, signature: Signature, least: float) -> Iterator[tuple[int, float]]:
        """Yield number and likeness of those that share a band, the likeliest first.

        Of each band the latest :data:`MOST_ALIKE` are looked at. Likeness is the share of
        permutations with the same least hash, about the Jaccard similarity of the sets. Of equals
        the earliest comes first.

        Args:
            signature: of a new set.
            least: the likeness from which on they are yielded.
        """
        sharing: set[int] = set()
        for table, band in self._bands(signature):
            sharing.update(table.get(band, ()))
        if not sharing:
            return
        numbers = np.array(sorted(sharing))
        equal = self._kept[numbers % self._window] == signature
        same = equal.sum(axis=1, dtype=np.uint8)
        for count in range(int(same.max(initial=0)), 0, -1):
            if count / PERMUTATIONS < least:
                return
            for at in np.flatnonzero(same == count):
                yield int(numbers[at]), count / PERMUTATIONS

    def _drop_oldest(self) -> None:
        for table, band in self._bands(self._kept[self.oldest % self._window]):
            there = table.get(band)
            if there is None or there[0] != self.oldest:  # newer ones have taken its place
                continue
            there.pop(0)
            if not there:
                del table[band]
        self.oldest += 1

    def _bands(self, signature: Signature) -> Iterator[tuple[dict[bytes, array[int]], bytes]]:
        """Yield each table with the part of a signature that is looked up in it."""
        raw = signature.tobytes()
        for table, cut in zip(self._tables, self._cuts, strict=True):
            yield table, raw[cut]
