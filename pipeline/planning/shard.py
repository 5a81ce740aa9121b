"""One of several equal parts of a plan, for machines that share a run and nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from scenarios.errors import UsageError

MOST = 100_000
"""Shards that a plan is divided into at most."""
_WRITTEN = re.compile(r"(\d{1,6})/(\d{1,6})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Shard:
    """Part ``index`` of ``of``: which ranks of a plan one of several runs plays.

    Of every ``of`` ranks in a row each shard gets one, so that the parts differ by at most one case.
    A rank belongs to the same shard however large the plan is: a shard of a larger plan goes on with
    that of a smaller one. From one row of ranks to the next the places move on by one. Goals take
    turns along the ranks; without that, one of two shards would get one goal alone.
    """

    index: int
    """1 for the first."""
    of: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``i/n``, e.g. ``3/8``.

        Raises:
            UsageError: it is written otherwise, or i is not one of 1 to n.
        """
        found = _WRITTEN.fullmatch(text.strip())
        index, of = (int(found[1]), int(found[2])) if found else (0, 0)
        if not 1 <= index <= of <= MOST:
            last = of if 1 <= of <= MOST else 8
            raise UsageError(
                f"{text!r} is no shard",
                f"write i/n, the i-th of n parts of the plan: 1/{last} to {last}/{last}",
            )
        return cls(index, of)

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    def takes(self, rank: int) -> bool:
        """Return whether the case of a rank, counted from 0, is one of this shard's."""
        row, place = divmod(rank, self.of)
        return (place + row) % self.of == self.index - 1

    def size(self, total: int) -> int:
        """Return how many of the first ``total`` ranks are this shard's."""
        rows, rest = divmod(total, self.of)
        return rows + ((self.index - 1 - rows) % self.of < rest)
