"""How many answers are written together: fewer where memory is short, more again later, with care."""

from __future__ import annotations

PATIENCE = 8
"""Full batches that are written before one more is tried; twice as many whenever that was too much."""
MOST_PATIENCE = 64
"""... but never more: others may have given memory back, and prompts may have become shorter."""


class BatchSize:
    """Halved by a batch that is too much; raised by a quarter after many that were not.

    What is too much depends on the lengths of the prompts and on what else is in memory, so that no
    size is wrong for good. One that was raised too far goes back to what it was.
    """

    def __init__(self, most: int) -> None:
        """Begin with the most."""
        self.now = most
        self._most = most
        self._worked = 0
        """The size before it was raised; 0 where it was not, or was too much, too, since then."""
        self._written = 0
        """Full batches since the size changed."""
        self._patience = PATIENCE

    def written(self, rows: int) -> None:
        """Take in that so many answers were written together."""
        if rows < self.now or self.now == self._most:
            return
        self._written += 1
        if self._written < self._patience:
            return
        self._written, self._worked = 0, self.now
        self.now = min(self._most, self.now + max(1, self.now // 4))

    def was_too_much(self, rows: int) -> None:
        """Take in that the memory did not suffice for so many, two at least."""
        self._written = 0
        if 0 < self._worked < rows:
            self.now, self._patience = self._worked, min(2 * self._patience, MOST_PATIENCE)
        else:
            self.now = rows // 2
        self._worked = 0
