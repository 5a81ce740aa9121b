"""Requests and what they brought: the record of every call, and the cache that is made of it."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pipeline.store.batches import BatchLog
from pipeline.store.call_rows import (
    REQUEST_COLUMNS,
    CallReport,
    CallRows,
    ChoiceRow,
    RequestRow,
    add_lost,
    lost_row,
)
from pipeline.store.costs import CaseCosts, read_costs
from pipeline.store.excess import Address, Excess, read_excess, write_excess
from pipeline.store.flight_mark import FlightMark, Queued, clear_marks, write_mark
from pipeline.store.many_rows import delete_rows
from pipeline.store.seen_prompts import SeenPrompts
from pipeline.store.sqlite import StoreUnusable, parsing, path_of
from pipeline.store.texts import PromptComposer, TextTable
from pipeline.store.writer import StoreFailed, Writer, required
from scenarios.errors import NoRoom

COUNTED_AT_ONCE = 1_000
"""Cache hits are counted in memory and written this many at a time, and when the run is closed."""

READ_AT_MOST = 300_000
"""Prompts of earlier sessions that are remembered; reading so many takes half a second or more."""

PERHAPS_LOST = "perhaps in flight when the process ended"


@dataclass(frozen=True, slots=True)
class KnownChoice:
    """A sample and the key it is looked up by."""

    key: bytes
    choice: ChoiceRow


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A prompt, the requests it was sent with, and every choice that came back."""

    messages: tuple[tuple[str, str], ...]
    requests: tuple[RequestRow, ...]
    choices: tuple[ChoiceRow, ...]


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """A prompt that was sent for one utterance of a case."""

    turn: int
    arm: str
    """The arm that paid for it; others may use its choices."""
    epoch: int
    """The retry epoch it was first sent in."""
    messages: tuple[tuple[str, str], ...]
    """(role, content) pairs."""


_LOOK_UP_ONE = """
    select c.sample, c.epoch, c.status, c.finish, c.text
    from prompts p join choices c on c.prompt = p.seq
    where p.fingerprint = ? and c.sample = ? and c.epoch <= ?
        and (c.epoch = ? or c.status = 'ok')
    order by c.epoch desc limit 1"""
_CHOICES_OF_CASE = """
    select p.fingerprint, c.sample, c.epoch, c.status, c.finish, c.text
    from prompts p join choices c on c.prompt = p.seq
    where p.seq in (select prompt from requests where case_id = ?)"""
_REQUESTS_OF_CASE = (
    f"select prompt, {REQUEST_COLUMNS} from requests"  # noqa: S608 - constants only
    " where case_id = ? and prompt is not null order by seq"
)


_PROMPTS_OF_CASE = """
    select r.turn, r.arm, r.epoch, p.layout from requests r join prompts p on p.seq = r.prompt
    where r.case_id = ? and r.purpose = ? order by r.seq"""


class CallLog:
    """The calls of one run: what was asked and answered, and what is reserved for those in flight.

    Reads happen in the caller's thread and see what is committed; writes go through the writer.
    """

    def __init__(self, reader: sqlite3.Connection, writer: Writer | None, texts: TextTable) -> None:
        """Read with ``reader``; without a writer the log is read-only."""
        self._reader = reader
        self._writer = writer
        self._add = CallRows(texts).add
        self._seen: SeenPrompts | None = None
        """What is stored, from the first question on; None where that is too much to read."""
        self._seen_read = writer is None
        self._prompts = PromptComposer(reader)
        self._hits = 0
        self._unstored: list[CallReport] = []
        self.queued = Queued()
        """What was recorded and is not on disk yet."""
        self._marked = False
        self.lost = 0
        """Requests of earlier processes that were charged at their worst when the log was opened."""
        self.batches = BatchLog(reader, writer)
        """What lies at providers."""

    def choices(
        self, fingerprint: bytes, samples: Sequence[int], epoch: int
    ) -> dict[int, ChoiceRow]:
        """Return the stored choices of the given samples, by sample.

        That is the choice of ``epoch``, whatever its status, or else the newest readable one of
        an earlier epoch.
        """
        choices: dict[int, ChoiceRow] = {}
        seen = self._seen_prompts()
        if seen is not None and not seen.may_hold(fingerprint):
            return choices
        for sample in samples:
            row = self._reader.execute(_LOOK_UP_ONE, (fingerprint, sample, epoch, epoch)).fetchone()
            if row is not None:
                choices[sample] = ChoiceRow(*row)
        return choices

    def answered(self, model: str, role: str) -> bool:
        """Return whether ``provider/model`` has answered any prompt of a role."""
        found = self._reader.execute(
            "select exists (select 1 from requests where model = ? and role = ? and code = 'ok')",
            (model, role),
        )
        return bool(found.fetchone()[0])

    @property
    def folder(self) -> Path:
        """The folder whose calls these are: of a run, an evaluation or translations."""
        return path_of(self._reader).parent

    def excess(self) -> dict[Address, Excess]:
        """Return how much more than they may endpoints were found to count."""
        return read_excess(self._reader)

    def keep_excess(self, known: Mapping[Address, Excess]) -> None:
        """Queue how much more than they may endpoints count for writing."""
        value = dict(known)
        required(self._writer).send(lambda connection: write_excess(connection, value))

    def unpriced(self) -> int:
        """Return how many requests a budget in dollars cannot count, for want of a price then."""
        (any_unpriced,) = self._reader.execute("select unpriced from totals").fetchone()
        if not any_unpriced:
            return 0
        found = self._reader.execute("select count(*) from requests where charged_usd is null")
        return int(found.fetchone()[0])

    def count_hits(self, n: int) -> None:
        """Count choices that need not be asked for again; durable at the latest on closing."""
        self._hits += n
        if self._hits >= COUNTED_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Queue the count of cache hits for writing."""
        hits, self._hits = self._hits, 0
        if hits and self._writer is not None:
            self._writer.send(
                lambda connection: connection.execute(
                    "update totals set cached_choices = cached_choices + ?", (hits,)
                )
            )

    async def mark_flight(self, mark: FlightMark) -> None:
        """Write how much is in flight at most; durable on return, and forgotten on closing."""
        self._marked = True
        await asyncio.shield(required(self._writer).post(lambda c: write_mark(c, mark)))

    def close(self) -> None:
        """Queue what is kept in memory for writing, and forget what was in flight.

        Where replies could not be stored, it stays: they count at their worst the next time.
        """
        self.flush()
        if self._marked and not self._unstored and self._writer is not None:
            self._writer.send(clear_marks)

    def record(self, call: CallReport) -> asyncio.Future[None]:
        """Store requests and what they brought in one transaction.

        Everything is queued when this returns, and durable when the future resolves; a choice
        that is stored already stays as it is.
        """
        # First, since it is refused where the store is closed.
        stored = required(self._writer).post_row(self._add, call)
        seen = self._seen_prompts()
        if seen is not None:
            seen.add(call.key)
        self.queued.add(call.requests)
        stored.add_done_callback(lambda future: self._after_storing(future, call))
        return stored

    def _seen_prompts(self) -> SeenPrompts | None:
        """Return what is stored, reading it before the first question or record adds to it."""
        if not self._seen_read:
            self._seen_read = True
            (most,) = self._reader.execute("select coalesce(max(seq), 0) from prompts").fetchone()
            if most <= READ_AT_MOST:
                seen = SeenPrompts()
                for (mark,) in self._reader.execute("select fingerprint from prompts"):
                    seen.add(mark)
                self._seen = seen  # not before all are in it: what it lacks would be paid for again
        return self._seen

    def store_unstored(self) -> Sequence[CallReport]:
        """Try once more to store the replies that could not be; return those that still cannot be."""
        while self._unstored:
            first = self._unstored[:1]
            try:
                required(self._writer).run(partial(self._add, calls=first))
            except (StoreFailed, StoreUnusable, NoRoom):
                break
            self._unstored.pop(0)
        return tuple(self._unstored)

    def _after_storing(self, stored: asyncio.Future[None], call: CallReport) -> None:
        """Keep a reply that could not be stored; a waiter that was called off says nothing of that."""
        if stored.cancelled() or stored.exception() is None:
            self.queued.remove(call.requests)
        elif call.choices:
            self._unstored.append(call)

    async def reserve(self, usd: float | None, tokens: int) -> int:
        """Write a reservation and return its id once it is durable."""

        def write(connection: sqlite3.Connection) -> int:
            row = connection.execute(
                "insert into reservations (usd, tokens, reserved_at) values (?, ?, ?)",
                (usd, tokens, time.time()),
            )
            return row.lastrowid or 0

        future = required(self._writer).post(write)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            # The row is on its way to the disk, and only then has a number to release it by.
            future.add_done_callback(self._release_when_known)
            raise

    def release(self, reservation: int) -> None:
        """Remove a reservation whose request was never sent."""
        required(self._writer).send(
            lambda connection: delete_rows(connection, "reservations", [reservation])
        )

    def lose(self, row: RequestRow) -> None:
        """Queue the row of a request whose prompt nobody will tell (``lost_row``) for writing."""

        def write(connection: sqlite3.Connection) -> None:
            add_lost(connection, [row])
            if row.reservation is not None:
                delete_rows(connection, "reservations", [row.reservation])

        required(self._writer).send(write)

    def of_case(self, case: str) -> Iterator[CallRecord]:
        """Return the calls made for a case by any arm, one record a prompt, in the order asked."""
        requests: dict[int, list[RequestRow]] = {}
        for prompt, *values in self._reader.execute(_REQUESTS_OF_CASE, (case,)).fetchall():
            requests.setdefault(prompt, []).append(RequestRow(*values))
        for prompt, rows in requests.items():
            with parsing(self._reader, "the prompt of a call"):
                (layout,) = self._reader.execute(
                    "select layout from prompts where seq = ?", (prompt,)
                ).fetchone()
            choices = self._reader.execute(
                "select sample, epoch, status, finish, text from choices where prompt = ?"
                " order by epoch, sample",
                (prompt,),
            ).fetchall()
            yield CallRecord(
                messages=self._prompts.compose(layout),
                requests=tuple(rows),
                choices=tuple(ChoiceRow(*choice) for choice in choices),
            )

    def sent(self, case: str, purpose: str) -> list[SentPrompt]:
        """Return the prompts of one purpose that any arm was sent for a case, in that order."""
        rows = self._reader.execute(_PROMPTS_OF_CASE, (case, purpose)).fetchall()
        return [
            SentPrompt(turn, arm, epoch, self._prompts.compose(layout))
            for turn, arm, epoch, layout in rows
        ]

    def costs(self, case: str) -> dict[str, CaseCosts]:
        """Return what the dialogues of a case took, by the arm that paid."""
        return read_costs(self._reader, case)

    def known_of_case(self, case: str) -> tuple[KnownChoice, ...]:
        """Return every sample drawn for a case, for a worker that cannot look into this store."""
        rows = self._reader.execute(_CHOICES_OF_CASE, (case,)).fetchall()
        return tuple(KnownChoice(key, ChoiceRow(*choice)) for key, *choice in rows)

    def _release_when_known(self, reserved: asyncio.Future[int]) -> None:
        if not reserved.cancelled() and reserved.exception() is None:
            self.release(reserved.result())


def charge_lost(connection: sqlite3.Connection) -> int:
    """Turn reservations that a dead process left open into lost requests, charged at their worst.

    Those of batches stay: what lies at a provider is picked up. Where there was no budget, as many
    requests are charged as were in flight at most, lately.

    Returns:
        How many requests that are.
    """
    reservations = connection.execute(
        "select usd, tokens, reserved_at, place from reservations where batch is null order by seq"
    ).fetchall()
    rows = [
        lost_row(sent_at=at, usd=usd, tokens=tokens)
        for usd, tokens, at, place in reservations
        if place is None
    ]
    for usd, tokens, at, place in reservations:
        for number in range(place or 0):
            share, rest = divmod(tokens, place)
            each = None if usd is None else usd / place
            row = lost_row(sent_at=at, usd=each, tokens=share + (number < rest))
            rows.append(replace(row, message=PERHAPS_LOST))
    add_lost(connection, rows)
    connection.execute("delete from reservations where batch is null")
    return len(rows)
