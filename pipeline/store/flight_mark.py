"""How many requests a process without a budget had in flight at most: one row among the reservations.

It belongs to no batch and has a ``place`` all the same, which is the number of requests.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.store.call_rows import RequestRow

HELD = "reservations where (batch is not null or place is null)"
"""Reservations of one request each."""
MARKS = "reservations where batch is null and place is not null"


@dataclass(frozen=True, slots=True)
class FlightMark:
    """The most that was in flight at once."""

    requests: int
    usd: float | None
    """What they can have cost; None where no price is known."""
    tokens: int


@dataclass(slots=True)
class Queued:
    """What was answered, and is on its way to the disk."""

    requests: int = 0
    usd: float = 0.0
    tokens: int = 0

    def add(self, rows: Sequence[RequestRow]) -> None:
        """Count requests that are to be written."""
        for row in rows:
            self.requests += 1
            self.usd += row.charged_usd or 0.0
            self.tokens += row.charged_tokens

    def remove(self, rows: Sequence[RequestRow]) -> None:
        """Count requests no more that are written."""
        for row in rows:
            self.requests -= 1
            self.usd -= row.charged_usd or 0.0
            self.tokens -= row.charged_tokens


def write_mark(connection: sqlite3.Connection, mark: FlightMark) -> None:
    """Raise what is written to this mark."""
    raised = connection.execute(
        "update reservations set usd = coalesce(max(usd, ?1), usd, ?1), tokens = max(tokens, ?2),"
        " place = max(place, ?3) where batch is null and place is not null",
        (mark.usd, mark.tokens, mark.requests),
    )
    if not raised.rowcount:
        connection.execute(
            "insert into reservations (usd, tokens, reserved_at, place) values (?, ?, ?, ?)",
            (mark.usd, mark.tokens, time.time(), mark.requests),
        )


def clear_marks(connection: sqlite3.Connection) -> None:
    """Forget what was in flight: all of it is recorded."""
    connection.execute(f"delete from {MARKS}")  # noqa: S608 - a constant
