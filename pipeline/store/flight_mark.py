"""How many requests a process without a budget has in flight at most: one row among the reservations.

It belongs to no batch and has a ``place`` all the same, which is the number of requests.
"""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.store.call_rows import RequestRow
from scenarios.quick_records import quickly_made

HELD = "reservations where (batch is not null or place is null)"
"""Reservations of one request each."""
MARKS = "reservations where batch is null and place is not null"


@quickly_made
@dataclass(frozen=True, slots=True)
class FlightMark:
    """The most that is in flight at once."""

    requests: int
    usd: float | None
    """What they can have cost; None where no price is known."""
    tokens: int

    def raised_to(self, other: FlightMark, ahead: float = 1.0) -> FlightMark:
        """Return a mark that is below neither; dollars and tokens that rise do so with some room."""
        requests, usd, tokens = self.requests, self.usd, self.tokens
        if other.requests <= requests and other.tokens <= tokens and (other.usd or 0) <= (usd or 0):
            return self
        if other.usd is not None and (usd is None or other.usd > usd):
            usd = other.usd * ahead
        if other.tokens > tokens:
            tokens = math.ceil(other.tokens * ahead)
        return FlightMark(max(requests, other.requests), usd, tokens)

    def is_below_half_of(self, other: FlightMark) -> bool:
        """Return whether it has less than half of the requests, or of the tokens, of another."""
        return 2 * self.requests < other.requests or 2 * self.tokens < other.tokens


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
    """Replace what is written by this mark."""
    clear_marks(connection)
    connection.execute(
        "insert into reservations (usd, tokens, reserved_at, place) values (?, ?, ?, ?)",
        (mark.usd, mark.tokens, time.time(), mark.requests),
    )


def clear_marks(connection: sqlite3.Connection) -> None:
    """Forget what was in flight: all of it is recorded."""
    connection.execute(f"delete from {MARKS}")  # noqa: S608 - a constant
