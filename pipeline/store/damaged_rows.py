"""Read the rows of a damaged table around what cannot be read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

CHUNK = 1_000
"""Keys that are read at once where nothing is damaged."""
GIVE_UP = 20_000
"""Keys in a row that cannot be read before it is believed that no more follow, where the largest
key cannot be found out."""

Row = tuple[Any, ...]
UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError, OverflowError)
"""What reading a damaged database raises."""


@dataclass(slots=True)
class TableReader:
    """Reads one table by ranges of a whole-number key that leads its tree.

    A range that cannot be read is halved until the keys are found that cannot; the keys after
    them are tried in ranges that grow again.
    """

    connection: sqlite3.Connection
    table: str
    columns: Sequence[str]
    key: str
    """``rowid``, or the first column of the primary key."""
    fixed: str = ""
    """A condition that fixes the columns before the key, e.g. ``source = 1``."""
    lost: list[int] = field(default_factory=list)
    """Keys that were there, or may have been, and could not be read as a whole."""
    is_cut: bool = False
    """Whether it is unknown how many rows follow the last that could be read."""

    def rows(self) -> Iterator[Row]:
        """Yield every row that can be read, in the order of the key."""
        low, high = self._end("min"), self._end("max")
        if high is None and low is None and not self._fails("min"):
            return
        position, step, failures = low or 0, CHUNK, 0
        while high is None or position <= high:
            try:
                rows = self._read(position, position + step - 1)
            except UNREADABLE:
                if step > 1:
                    step //= 2
                    continue
                self.lost.append(position)
                yield from self._one_by_one(position)
                position, failures = position + 1, failures + 1
                if high is None and failures > GIVE_UP:
                    break
                continue
            yield from rows
            failures = 0 if rows else failures
            position, step = position + step, min(CHUNK, 2 * step)
            if not rows:
                following = self._after(position)
                if following is None:
                    return
                position = following
        if high is None:
            self.is_cut = True
            del self.lost[-failures:]
            yield from self._backwards(position - failures)

    def _read(self, low: int, high: int) -> list[Row]:
        return self._select(f"{self.key} between ? and ?", self.key, (low, high)).fetchall()

    def _select(self, where: str, order: str, values: Sequence[int]) -> sqlite3.Cursor:
        condition = f"{self.fixed} and {where}" if self.fixed else where
        return self.connection.execute(
            f"select {', '.join(self.columns)} from {self.table}"  # noqa: S608 - names of the schema
            f" where {condition} order by {order}",
            tuple(values),
        )

    def _one_by_one(self, key: int) -> list[Row]:
        """Return the rows of one key before and after what cannot be read."""
        if self.key == "rowid":
            return []
        return self._until_damaged(key, "") + self._until_damaged(key, " desc")[::-1]

    def _until_damaged(self, key: int, direction: str) -> list[Row]:
        rows: list[Row] = []
        with suppress(*UNREADABLE):
            rows.extend(self._select(f"{self.key} = ?", f"{self.key}{direction}", (key,)))
        return rows

    def _backwards(self, after: int) -> list[Row]:
        """Return the rows from the last one back to where reading fails."""
        rows: list[Row] = []
        with suppress(*UNREADABLE):
            rows.extend(self._select(f"{self.key} > ?", f"{self.key} desc", (after,)))
        return rows[::-1]

    def _end(self, which: str) -> int | None:
        return _attempt(lambda: self._extreme(which))

    def _fails(self, which: str) -> bool:
        try:
            self._extreme(which)
        except UNREADABLE:
            return True
        return False

    def _extreme(self, which: str) -> int | None:
        condition = f" where {self.fixed}" if self.fixed else ""
        statement = f"select {which}({self.key}) from {self.table}{condition}"  # noqa: S608
        row = self.connection.execute(statement).fetchone()
        return None if row is None else row[0]

    def _after(self, key: int) -> int | None:
        """Return the next key from ``key`` on; the same where that cannot be found out."""
        condition = f"{self.fixed} and " if self.fixed else ""
        try:
            (found,) = self.connection.execute(
                f"select min({self.key}) from {self.table} where {condition}{self.key} >= ?",  # noqa: S608
                (key,),
            ).fetchone()
        except UNREADABLE:
            return key
        return None if found is None else int(found)


def _attempt(read: Callable[[], int | None]) -> int | None:
    try:
        return read()
    except UNREADABLE:
        return None
