"""How every item of an evaluation was answered: by whom, for which task, in which mode."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson

from pipeline.store.sqlite import parsing
from pipeline.store.writer import Writer, required

AnswerStatus = Literal["answered", "unreadable", "refused", "failed"]
"""``failed``: no answer came, so that the item can be asked about again. The others are final."""
FAILED: Final = "failed"

_INSERT = """
    insert into answers values (?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict do update set status = excluded.status, retry_epoch = excluded.retry_epoch,
        code = excluded.code, reason = excluded.reason, answer = excluded.answer,
        traceback = excluded.traceback, answered_at = excluded.answered_at
    where status = 'failed'"""
_SEAT = (
    "select seq from evaluated where (task, mode, draw, repeat, model, config) = (?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class EvaluationSeat:
    """One model that is put through one task in one way."""

    task: str
    mode: str
    draw: int
    """Which draw of worked examples."""
    repeat: int
    """Which time of asking, from 0."""
    model: str
    """``provider/model``."""
    config: str
    """Fingerprint of what else decides the answers: items, prompts, parameters."""

    @property
    def key(self) -> tuple[str, str, int, int, str, str]:
        """The values that name it."""
        return self.task, self.mode, self.draw, self.repeat, self.model, self.config


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """How one item ended for one seat."""

    item: str
    status: AnswerStatus
    retry_epoch: int = 0
    """How often it had failed before."""
    code: str = ""
    """Why there is nothing to read, in a word."""
    reason: str = ""
    content: Mapping[str, Any] | None = None
    """What was answered, as plain data; None where it failed."""


@dataclass(frozen=True, slots=True)
class FailedAnswers:
    """Items to which no answer came, for one reason."""

    code: str
    reason: str
    n: int


class AnswerLog:
    """The answers of one evaluation; what is answered is never overwritten.

    Reads happen in the caller's thread and see what is committed; writes go through the writer.
    """

    def __init__(self, reader: sqlite3.Connection, writer: Writer | None) -> None:
        """Read with ``reader``; without a writer the log is read-only."""
        self._reader = reader
        self._writer = writer
        self._seats: dict[EvaluationSeat, int] = {}

    def add_seats(self, seats: Iterable[EvaluationSeat]) -> None:
        """Make seats known, durable on return; nothing is written for those that are."""
        missing = [seat.key for seat in seats if self._number(seat) is None]
        if missing:
            required(self._writer).run(
                lambda connection: connection.executemany(
                    "insert into evaluated (task, mode, draw, repeat, model, config)"
                    " values (?, ?, ?, ?, ?, ?) on conflict do nothing",
                    missing,
                )
            )

    def pending(
        self, seat: EvaluationSeat, items: Sequence[str], *, retry_failed: bool = False
    ) -> list[tuple[str, int]]:
        """Return the items a seat has still to be asked about, in the order given, with the epoch.

        Failed items are among them only with ``retry_failed``; their epoch is one more than that
        of the failure.
        """
        number = self._number(seat)
        rows = self._reader.execute(
            "select item, status, retry_epoch from answers where evaluated = ?", (number,)
        )
        ended = {item: (status, epoch) for item, status, epoch in rows}
        left = []
        for item in items:
            status, epoch = ended.get(item, ("", -1))
            if not status or (status == FAILED and retry_failed):
                left.append((item, epoch + 1))
        return left

    async def finish(self, seat: EvaluationSeat, answer: StoredAnswer, traceback: str = "") -> None:
        """Store how an item ended, durable on return.

        It replaces a failure, but never an answer. ``traceback`` says where an unforeseen
        exception was raised.

        Raises:
            ValueError: the seat has not been made known.
        """
        number = self._number(seat)
        if number is None:
            raise ValueError(f"{seat} has not been added to the evaluation")
        content = orjson.dumps(answer.content or {}).decode()
        row = (
            number, answer.item, answer.status, answer.retry_epoch, answer.code, answer.reason,
            content, traceback or None, time.time(),
        )  # fmt: skip
        await required(self._writer).post(lambda connection: connection.execute(_INSERT, row))

    def of(self, seat: EvaluationSeat) -> Iterator[StoredAnswer]:
        """Yield how the items of a seat ended, in the order of their ids."""
        rows = self._reader.execute(
            "select item, status, retry_epoch, code, reason, answer from answers"
            " where evaluated = ? order by item",
            (self._number(seat),),
        )
        for item, status, epoch, code, reason, content in rows:
            with parsing(self._reader, f"the answer about {item}"):
                plain = orjson.loads(content)
            yield StoredAnswer(item, status, epoch, code, reason, plain or None)

    def seats(self) -> list[EvaluationSeat]:
        """Return every seat that is known, in the order in which they were added."""
        rows = self._reader.execute(
            "select task, mode, draw, repeat, model, config from evaluated order by seq"
        )
        return [EvaluationSeat(*row) for row in rows]

    def counts(self, seats: Iterable[EvaluationSeat]) -> Counter[str]:
        """Return how many items of some seats ended how."""
        counts: Counter[str] = Counter()
        for seat in seats:
            rows = self._reader.execute(
                "select status, count(*) from answers where evaluated = ? group by 1",
                (self._number(seat),),
            )
            counts.update(dict(rows.fetchall()))
        return counts

    def coded(self, seats: Iterable[EvaluationSeat], code: str) -> int:
        """Return how many items of some seats ended with a code, whatever their status."""
        query = "select count(*) from answers where evaluated = ? and code = ?"
        found = (self._reader.execute(query, (self._number(seat), code)) for seat in seats)
        return sum(rows.fetchone()[0] for rows in found)

    def failures(self, seats: Iterable[EvaluationSeat]) -> list[FailedAnswers]:
        """Return why items of some seats have no answer, the commonest reason first."""
        found: Counter[tuple[str, str]] = Counter()
        for seat in seats:
            rows = self._reader.execute(
                "select code, reason, count(*) from answers"
                " where evaluated = ? and status = 'failed' group by 1, 2",
                (self._number(seat),),
            )
            found.update({(code, reason): n for code, reason, n in rows})
        return [FailedAnswers(*why, n) for why, n in found.most_common()]

    def _number(self, seat: EvaluationSeat) -> int | None:
        """Return the number of a seat, None where it is not known."""
        if seat not in self._seats:
            row = self._reader.execute(_SEAT, seat.key).fetchone()
            if row is None:
                return None
            self._seats[seat] = row[0]
        return self._seats[seat]
