"""Signatures of sets of texts, which tell how alike two sets are, and an index of those that are.

Source: Broder 1997 (MinHash); Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, 3.4 (bands).
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

PERMUTATIONS: Final = 64
Signature = NDArray[np.uint32]
"""The least hash of a set in each permutation, shape ``(PERMUTATIONS,)``."""
_SEED: Final = 1
_WIDTH: Final = 4
"""Bytes of a hash."""
_FIRST, _SECOND = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)
"""Factors of the last step of MurmurHash3, which spreads what comes in over all 32 bits."""
_SLACK: Final = 0.88
"""How far below a likeness candidates are looked for, since signatures only estimate it."""


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
    hashes = np.frombuffer(b"".join(first), "<u4").astype(np.uint32)
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
            table.setdefault(band, array("q")).append(self._next)
        self._next += 1

    def alike(self, signature: Signature, least: float) -> Iterator[tuple[int, float]]:
        """Yield number and likeness of those that share a band, the likeliest first.

        Likeness is the share of permutations with the same least hash, about the Jaccard
        similarity of the sets. Of equals the earliest comes first.

        Args:
            signature: of a new set.
            least: the likeness from which on they are yielded.
        """
        sharing = np.zeros(len(self), np.bool_)
        for table, band in self._bands(signature):
            if band in table:
                sharing[np.frombuffer(table[band], np.int64) - self.oldest] = True
        numbers = np.flatnonzero(sharing) + self.oldest
        equal = self._kept[numbers % self._window] == signature
        same = equal.sum(axis=1, dtype=np.uint8)
        for count in range(int(same.max(initial=0)), 0, -1):
            if count / PERMUTATIONS < least:
                return
            for at in np.flatnonzero(same == count):
                yield int(numbers[at]), count / PERMUTATIONS

    def _drop_oldest(self) -> None:
        for table, band in self._bands(self._kept[self.oldest % self._window]):
            there = table[band]
            there.pop(0)
            if not there:
                del table[band]
        self.oldest += 1

    def _bands(self, signature: Signature) -> Iterator[tuple[dict[bytes, array[int]], bytes]]:
        """Yield each table with the part of a signature that is looked up in it."""
        raw = signature.tobytes()
        for table, cut in zip(self._tables, self._cuts, strict=True):
            yield table, raw[cut]
