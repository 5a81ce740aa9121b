"""Balance classes: of every label of a dimension the same number of rows, drawn by a seed."""

from __future__ import annotations

import hashlib
from array import array
from collections import defaultdict
from collections.abc import Sequence

from outputs.dataset.columns import Row, label_column, right_goal
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme

Cell = tuple[str, str]
"""Split, and the aspect or origin of a row: what is balanced by itself."""


class Balance:
    """Counts all rows once, then says of each whether it is among those kept.

    Of every cell the commoner labels lose rows until each has as many as the rarest that occurs.
    Which rows stay is decided by a hash of seed and row id, so it does not depend on their order.
    Rows without a label of the dimension (conversations, where utterances are balanced) all stay.
    Memory: eight bytes a row.
    """

    def __init__(self, column: str, seed: int) -> None:
        """Balance by the values of one column of the rows."""
        self.column = column
        self._key = hashlib.blake2b(str(seed).encode(), digest_size=32).digest()
        self._marks: defaultdict[tuple[Cell, str], array[int]] = defaultdict(lambda: array("Q"))
        self._limits: dict[tuple[Cell, str], int] = {}
        self.dropped = 0

    def count(self, split: str, row: Row) -> None:
        """Count one row; all of them, before the first is asked about."""
        label = self._label(row)
        if label is not None:
            self._marks[_cell(split, row), str(label)].append(self._mark(row))

    def settle(self) -> None:
        """Decide how many rows of each label stay."""
        rarest: dict[Cell, int] = {}
        for (cell, _), marks in self._marks.items():
            rarest[cell] = min(rarest.get(cell, len(marks)), len(marks))
        for (cell, label), marks in self._marks.items():
            self._limits[cell, label] = sorted(marks)[rarest[cell] - 1]
        self._marks.clear()

    def keeps(self, split: str, row: Row) -> bool:
        """Return whether a row stays; each is asked about once."""
        label = self._label(row)
        if label is None:
            return True
        place = _cell(split, row), str(label)
        if self._mark(row) <= self._limits[place]:
            return True
        self.dropped += 1
        return False

    def _label(self, row: Row) -> object:
        return right_goal(row) if self.column == "goal" else row[self.column]

    def _mark(self, row: Row) -> int:
        digest = hashlib.blake2b(str(row["id"]).encode(), digest_size=8, key=self._key).digest()
        return int.from_bytes(digest, "big")


def balanced_column(scheme: Scheme, dimension: str) -> str:
    """Return the column that holds a dimension to balance by.

    Args:
        scheme: of the labels.
        dimension: its name, or the name of its column in rows: ``intention``, ``label_intention``.

    Raises:
        UsageError: the scheme has no such dimension, or it has no single labels to count.
    """
    names = [d.id for d in scheme.utterance_dimensions]
    names = [scheme.assigned, *names] if scheme.assigned else names
    fit = [n for n in names if scheme.dimension(n).measurement in ("nominal", "ordinal")]
    by_column = {"goal" if n == scheme.assigned else label_column(n): n for n in names}
    dimension = by_column.get(dimension, dimension)
    if dimension not in fit:
        what = "cannot be balanced by" if dimension in names else "has no dimension"
        raise UsageError(f"the scheme {scheme.id!r} {what} {dimension!r}", _choices(fit))
    return "goal" if dimension == scheme.assigned else label_column(dimension)


def _choices(names: Sequence[str]) -> str:
    return f"choose of: {', '.join(names)}"


def _cell(split: str, row: Row) -> Cell:
    return split, str(row.get("aspect") or row.get("origin") or "")
