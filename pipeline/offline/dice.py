"""Deterministic randomness: a hash of texts and a seed, then a counter."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")
_MASK = (1 << 64) - 1


def hash_texts(texts: Iterable[str]) -> int:
    """Hash texts to 64 bits; the same on every machine and in every process."""
    digest = hashlib.blake2b(digest_size=8)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return int.from_bytes(digest.digest(), "big")


class Dice:
    """A stream of reproducible draws (splitmix64), the same for the same ``state``."""

    __slots__ = ("_state",)

    def __init__(self, state: int, *salts: int) -> None:
        """Start at a 64-bit state; each salt starts a stream unrelated to the others."""
        for salt in salts:
            state = (state ^ (salt * 0xD1342543DE82EF95)) * 0x2545F4914F6CDD1D + 0x632BE59BD9B4E019
        self._state = state & _MASK

    def below(self, n: int) -> int:
        """Draw an integer in ``[0, n)``, ``n >= 1``."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return (z ^ (z >> 31)) % n

    def chance(self, percent: int) -> bool:
        """Return True in ``percent`` of a hundred draws."""
        return self.below(100) < percent

    def pick(self, items: Sequence[T]) -> T:
        """Draw one of ``items`` (not empty)."""
        return items[self.below(len(items))]

    def weighted(self, weights: Sequence[tuple[T, int]]) -> T:
        """Draw one item with a probability proportional to its weight (not all zero)."""
        mark = self.below(sum(weight for _, weight in weights))
        for item, weight in weights:
            mark -= weight
            if mark < 0:
                return item
        return weights[-1][0]
