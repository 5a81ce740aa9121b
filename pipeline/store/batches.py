"""What lies at providers in batches: which requests, since when, and the replies that came back.

A batch is a row of ``batches``; each of its requests is a reservation, the most it can cost, that
knows its batch and its place there. What comes back is kept with the reservation until the record of
the request takes both away in one transaction: a process may die at any moment, and nothing is paid
twice or forgotten.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from pipeline.store.call_rows import add_lost, lost_row
from pipeline.store.queries.left_batches import BatchState, left_batches
from pipeline.store.writer import Write, Writer, required

T = TypeVar("T")

GIVEN_UP = "in a batch that was given up"
"""Message of a request that is charged at its worst since nobody fetches what came of it."""

_COLUMNS = (
    "seq, token, model, base_url, requests, intended_at, remote, submitted_at, state, outcome"
)


@dataclass(frozen=True, slots=True)
class BatchRow:
    """One batch."""

    seq: int
    token: str
    """Names it at the provider, and begins the id of each of its requests there."""
    model: str
    """``provider/model``."""
    base_url: str
    requests: int
    """How many it was made of."""
    intended_at: float
    """Unix time in seconds, as ``submitted_at``."""
    remote: str | None = None
    """What the provider calls it."""
    submitted_at: float | None = None
    state: BatchState = "intended"
    outcome: str = ""
    """How it ended, in the provider's word."""


@dataclass(frozen=True, slots=True)
class PlacedRequest:
    """One request that is to be written down as part of a batch, or is."""

    digest: bytes
    """Hash of what is asked, the same in every process."""
    usd: float | None
    """The most it can cost; None without a price."""
    tokens: int
    seq: int = 0
    """Number of its reservation, once it has one."""
    place: int = 0
    """In its batch, from 0."""
    has_result: bool = False
    """Whether what came of it is stored."""


class BatchLog:
    """The batches of one run. Reads see what is committed; writes are durable on return."""

    def __init__(self, reader: sqlite3.Connection, writer: Writer | None) -> None:
        """Read with ``reader``, and write with ``writer``."""
        self._reader = reader
        self._writer = writer

    def rows(self, *, left: bool = False) -> list[BatchRow]:
        """Return the batches, oldest first; ``left``: those with requests nothing became of yet."""
        which = " where exists (select 1 from reservations r where r.batch = b.seq)" if left else ""
        found = self._reader.execute(f"select {_COLUMNS} from batches b{which} order by seq")  # noqa: S608
        return [BatchRow(*row) for row in found.fetchall()]

    def left(self) -> int:
        """Return how many requests lie at providers, or came back and were not used yet."""
        return sum(batch.requests for batch in left_batches(self._reader))

    def requests(self, batch: int) -> list[PlacedRequest]:
        """Return the requests of a batch whose records are not written yet."""
        rows = self._reader.execute(
            "select digest, usd, tokens, seq, place, result is not null from reservations"
            " where batch = ? order by place",
            (batch,),
        )
        return [
            PlacedRequest(digest, usd, tokens, seq, place, bool(has_result))
            for digest, usd, tokens, seq, place, has_result in rows.fetchall()
        ]

    def result(self, reservation: int) -> bytes | None:
        """Return what came of a request, as the provider wrote it; None: nothing so far."""
        row = self._reader.execute(
            "select result from reservations where seq = ?", (reservation,)
        ).fetchone()
        return None if row is None else row[0]

    async def intend(
        self, token: str, model: str, base_url: str, requests: Sequence[PlacedRequest]
    ) -> tuple[BatchRow, list[int]]:
        """Write down a batch that is about to be sent.

        Returns:
            The batch, and the reservations of its requests in their order.
        """
        now = time.time()

        def write(connection: sqlite3.Connection) -> tuple[BatchRow, list[int]]:
            added = connection.execute(
                "insert into batches (token, model, base_url, requests, intended_at, state, outcome)"
                " values (?, ?, ?, ?, ?, 'intended', '')",
                (token, model, base_url, len(requests), now),
            )
            batch = added.lastrowid or 0
            seqs = []
            for place, request in enumerate(requests):
                row = connection.execute(
                    "insert into reservations (usd, tokens, reserved_at, batch, place, digest)"
                    " values (?, ?, ?, ?, ?, ?)",
                    (request.usd, request.tokens, now, batch, place, request.digest),
                )
                seqs.append(row.lastrowid or 0)
            return BatchRow(batch, token, model, base_url, len(requests), now), seqs

        return await self._written(write)

    async def submitted(self, batch: int, remote: str) -> None:
        """Write down what the provider calls a batch: it has it."""
        now = time.time()
        await self._written(
            lambda connection: connection.execute(
                "update batches set remote = ?, submitted_at = ?, state = 'submitted' where seq = ?",
                (remote, now, batch),
            )
        )

    async def store_results(self, batch: int, results: Sequence[tuple[int, bytes]]) -> None:
        """Store what came of requests, by place; of what is there, or was taken, nothing changes."""
        await self._written(
            lambda connection: connection.executemany(
                "update reservations set result = ? where batch = ? and place = ?"
                " and result is null",
                [(result, batch, place) for place, result in results],
            )
        )

    async def ended(self, batch: int, outcome: str) -> None:
        """Write down how a batch ended; no more results will come."""
        now = time.time()
        await self._written(
            lambda connection: connection.execute(
                "update batches set state = 'ended', outcome = ?, ended_at = ? where seq = ?",
                (outcome, now, batch),
            )
        )

    async def void(self, batch: int) -> None:
        """Forget a batch that never came to be: nothing of it was sent, or nothing arrived."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("delete from reservations where batch = ?", (batch,))
            connection.execute("delete from batches where seq = ?", (batch,))

        await self._written(write)

    async def drop(self) -> int:
        """Give up every request that nobody took the reply of; it stays charged at its worst.

        Returns:
            How many there were.
        """
        now = time.time()

        def write(connection: sqlite3.Connection) -> int:
            left = connection.execute(
                "select r.reserved_at, r.usd, r.tokens, b.model from reservations r"
                " join batches b on b.seq = r.batch order by r.seq"
            ).fetchall()
            rows = [lost_row(sent_at=at, usd=usd, tokens=n, model=m) for at, usd, n, m in left]
            add_lost(connection, [replace(row, message=GIVEN_UP) for row in rows])
            connection.execute("delete from reservations where batch is not null")
            connection.execute(
                "update batches set state = 'ended', outcome = 'dropped', ended_at = ?"
                " where state <> 'ended'",
                (now,),
            )
            return len(rows)

        return await self._written(write)

    async def _written(self, write: Write[T]) -> T:
        """Wait until a write is durable; a task that is cancelled does not take it back."""
        return await asyncio.shield(required(self._writer).post(write))
