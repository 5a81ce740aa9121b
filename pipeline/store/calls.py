"""Requests and what they brought: the record of every call, and the cache that is made of it."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass

from pipeline.store.texts import Messages, TextTable, compose
from pipeline.store.writer import Writer

COUNTED_AT_ONCE = 1_000
"""Cache hits are counted in memory and written this many at a time, and when the run is closed."""

LOST = "lost"
"""Code of a request that was in flight when its process died."""


@dataclass(frozen=True, slots=True)
class RequestRow:
    """One HTTP attempt, whatever came of it."""

    epoch: int
    role: str
    arm: str
    """The arm that paid for it; others may use its choices."""
    case: str
    turn: int
    purpose: str
    model: str
    """``provider/model``."""
    sent_at: float
    latency_s: float
    code: str
    """``ok``, or the code of the error."""
    status: int | None
    message: str
    request_id: str | None
    structured: str
    omitted: tuple[str, ...]
    n_asked: int
    n_got: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    reasoning_tokens: int | None
    cost_usd: float | None
    """None where it is unknown, never 0 for unknown."""
    charged_usd: float | None
    """What counts against the budget: the cost, or the worst case where that is unknown."""
    charged_tokens: int
    reservation: int | None = None
    """The reservation that ends with this row."""


@dataclass(frozen=True, slots=True)
class ChoiceRow:
    """One sample as it came back."""

    sample: int
    epoch: int
    status: str
    """``ok``, ``unparseable``, ``unknown_label``, ``invalid``, ``truncated``, ``refusal`` or
    ``empty``."""
    finish: str
    text: str


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A prompt, the requests it was sent with, and every choice that came back."""

    messages: tuple[tuple[str, str], ...]
    requests: tuple[RequestRow, ...]
    choices: tuple[ChoiceRow, ...]


_REQUEST_COLUMNS = (
    "epoch, role, arm, case_id, turn, purpose, model, sent_at, latency_s, code, status, message,"
    " request_id, structured, omitted, n_asked, n_got, prompt_tokens, completion_tokens,"
    " cached_tokens, reasoning_tokens, cost_usd, charged_usd, charged_tokens"
)
_INSERT_REQUEST = (
    f"insert into requests (prompt, {_REQUEST_COLUMNS})"  # noqa: S608 - constants only
    f" values ({', '.join('?' * 25)})"
)
_LOOK_UP_ONE = """
    select c.sample, c.epoch, c.status, c.finish, c.text
    from prompts p join choices c on c.prompt = p.seq
    where p.fingerprint = ? and c.sample = ? and c.epoch <= ?
        and (c.epoch = ? or c.status = 'ok')
    order by c.epoch desc limit 1"""
_REQUESTS_OF_CASE = (
    f"select prompt, {_REQUEST_COLUMNS} from requests"  # noqa: S608 - constants only
    " where case_id = ? and prompt is not null order by seq"
)


class CallLog:
    """The calls of one run; satisfies ``CallStore`` and ``ReservationLog``.

    Reads happen in the caller's thread and see what is committed; writes go through the writer.
    """

    def __init__(self, reader: sqlite3.Connection, writer: Writer | None, texts: TextTable) -> None:
        """Read with ``reader``; without a writer the log is read-only."""
        self._reader = reader
        self._writer = writer
        self._texts = texts
        self._hits = 0
        self.flights: MutableMapping[tuple[bytes, int], asyncio.Future[None]] = {}
        """Questions being asked at this moment, shared by every client of the run."""

    def choices(
        self, fingerprint: bytes, samples: Sequence[int], epoch: int
    ) -> dict[int, ChoiceRow]:
        """Return what is known of the given samples, by sample.

        That is the choice of ``epoch``, whatever its status, or else the newest readable one of
        an earlier epoch.
        """
        found = {}
        for sample in samples:
            row = self._reader.execute(_LOOK_UP_ONE, (fingerprint, sample, epoch, epoch)).fetchone()
            if row is not None:
                found[sample] = ChoiceRow(*row)
        return found

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

    def record(
        self,
        fingerprint: bytes,
        messages: Messages,
        requests: Sequence[RequestRow],
        choices: Sequence[ChoiceRow],
    ) -> asyncio.Future[None]:
        """Store requests and what they brought in one transaction.

        Everything is queued when this returns, and durable when the future resolves; a choice
        that is known already stays as it is.
        """

        def write(connection: sqlite3.Connection) -> None:
            prompt = self._prompt(connection, fingerprint, messages)
            for request in requests:
                connection.execute(_INSERT_REQUEST, (prompt, *_request_values(request)))
                if request.reservation is not None:
                    connection.execute(
                        "delete from reservations where seq = ?", (request.reservation,)
                    )
            for c in choices:
                connection.execute(
                    "insert into choices values (?, ?, ?, ?, ?, ?) on conflict do nothing",
                    (prompt, c.sample, c.epoch, c.status, c.finish, c.text),
                )

        return self._writing().post(write)

    async def reserve(self, usd: float | None, tokens: int) -> int:
        """Write a reservation and return its id once it is durable."""

        def write(connection: sqlite3.Connection) -> int:
            row = connection.execute(
                "insert into reservations (usd, tokens, reserved_at) values (?, ?, ?)",
                (usd, tokens, time.time()),
            )
            return row.lastrowid or 0

        future = self._writing().post(write)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            # The row is on its way to the disk; its number will be known only then.
            future.add_done_callback(self._release_when_known)
            raise

    def release(self, reservation: int) -> None:
        """Remove a reservation whose request was never sent."""
        self._writing().send(
            lambda connection: connection.execute(
                "delete from reservations where seq = ?", (reservation,)
            )
        )

    def of_case(self, case: str) -> Iterator[CallRecord]:
        """Return the calls made for a case by any arm, one record a prompt, in the order asked."""
        requests: dict[int, list[RequestRow]] = {}
        for prompt, *values in self._reader.execute(_REQUESTS_OF_CASE, (case,)).fetchall():
            requests.setdefault(prompt, []).append(_request_row(values))
        for prompt, rows in requests.items():
            (layout,) = self._reader.execute(
                "select layout from prompts where seq = ?", (prompt,)
            ).fetchone()
            choices = self._reader.execute(
                "select sample, epoch, status, finish, text from choices where prompt = ?"
                " order by epoch, sample",
                (prompt,),
            ).fetchall()
            yield CallRecord(
                messages=compose(self._reader, layout),
                requests=tuple(rows),
                choices=tuple(ChoiceRow(*choice) for choice in choices),
            )

    def _prompt(
        self, connection: sqlite3.Connection, fingerprint: bytes, messages: Messages
    ) -> int:
        """Return the number of a prompt, storing it if it is new."""
        known: tuple[int] | None = connection.execute(
            "select seq from prompts where fingerprint = ?", (fingerprint,)
        ).fetchone()
        if known is not None:
            return known[0]
        added = connection.execute(
            "insert into prompts (fingerprint, layout) values (?, ?)",
            (fingerprint, self._texts.layout(connection, messages)),
        )
        return added.lastrowid or 0

    def _release_when_known(self, reserved: asyncio.Future[int]) -> None:
        if not reserved.cancelled() and reserved.exception() is None:
            self.release(reserved.result())

    def _writing(self) -> Writer:
        if self._writer is None:
            raise ValueError("this run was opened for reading only")
        return self._writer


def charge_lost(connection: sqlite3.Connection) -> int:
    """Charge reservations a dead process left behind at their worst, as requests that got lost."""
    moved = connection.execute(
        f"insert into requests (prompt, {_REQUEST_COLUMNS})"  # noqa: S608 - constants only
        f" select null, 0, '', '', '', 0, '', '', reserved_at, 0, '{LOST}', null,"
        " 'in flight when the process ended', null, '', '', 1, 0, null, null, null, null,"
        " null, usd, tokens from reservations order by seq"
    )
    connection.execute("delete from reservations")
    return moved.rowcount


def _request_values(r: RequestRow) -> tuple[object, ...]:
    return (
        r.epoch, r.role, r.arm, r.case, r.turn, r.purpose, r.model, r.sent_at, r.latency_s, r.code,
        r.status, r.message, r.request_id, r.structured, " ".join(r.omitted), r.n_asked, r.n_got,
        r.prompt_tokens, r.completion_tokens, r.cached_tokens, r.reasoning_tokens, r.cost_usd,
        r.charged_usd, r.charged_tokens,
    )  # fmt: skip


def _request_row(values: Sequence[object]) -> RequestRow:
    fields = list(values)
    omitted = fields[14]
    fields[14] = tuple(omitted.split()) if isinstance(omitted, str) else ()
    return RequestRow(*fields)  # type: ignore[arg-type] # the columns of a STRICT table, in order
