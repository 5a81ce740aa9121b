"""Signatures of sets of texts, which tell how alike two sets are, and an index of those that are.

Source: Broder 1997 (MinHash); Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, 3.4 (bands).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
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


def likeness(left: Signature, right: Signature) -> float:
    """Return the share of permutations with the same least hash: about the Jaccard similarity."""
    return float(np.count_nonzero(left == right)) / PERMUTATIONS


class SignatureIndex:
    """Finds the numbers under which signatures were added that share a whole band with a new one."""

    def __init__(self, bands: int, rows: int) -> None:
        """Begin with none; a signature has ``bands`` bands of ``rows`` hashes each."""
        self._cuts = [slice(i * rows * _WIDTH, (i + 1) * rows * _WIDTH) for i in range(bands)]
        self._tables: list[dict[bytes, list[int]]] = [{} for _ in range(bands)]

    def add(self, number: int, signature: Signature) -> None:
        """Let a signature be found under a number that no other one has."""
        raw = signature.tobytes()
        for table, cut in zip(self._tables, self._cuts, strict=True):
            table.setdefault(raw[cut], []).append(number)

    def remove(self, number: int, signature: Signature) -> None:
        """Forget a signature that was added under a number."""
        raw = signature.tobytes()
        for table, cut in zip(self._tables, self._cuts, strict=True):
            there = table[raw[cut]]
            there.remove(number)
            if not there:
                del table[raw[cut]]

    def near(self, signature: Signature) -> list[int]:
        """Return the numbers of those that share a band, ascending."""
        raw = signature.tobytes()
        found: set[int] = set()
        for table, cut in zip(self._tables, self._cuts, strict=True):
            found.update(table.get(raw[cut], ()))
        return sorted(found)
