"""Cases and arms of a run: made known once, and asked which of them are still to be played."""

from __future__ import annotations

import re
import sqlite3
import time
from collections import Counter
from collections.abc import Mapping, Sequence

import orjson

from pipeline.store.case_rows import CASE_COLUMNS
from pipeline.store.writer import Writer, required
from scenarios.case import Case
from scenarios.fingerprint import canonical_json

_ROUND = re.compile(r"-\d+$")
_INSERT_CASE = (
    f"insert into cases ({CASE_COLUMNS})"  # noqa: S608 - constants only
    " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing"
)
_UNKNOWN = """
    select j.key from json_each(?) j left join cases c on c.id = j.value
    where c.seq is null order by j.key"""
_PENDING = """
    select j.key, d.retry_epoch
    from json_each(?) j
        left join cases c on c.id = j.value
        left join dialogues d on d.case_seq = c.seq
            and d.arm_seq = (select seq from arms where id = ?)
    where d.seq is null or (d.status = 'failed' and ?)
    order by j.key"""
_DRAWN = """
    select purpose, count(*)
    from (select distinct prompt, purpose from requests
          where case_id in (select value from json_each(?)) and arm = ? and prompt is not null) r
        join choices c on c.prompt = r.prompt
    where c.status = 'ok' group by purpose"""


class CaseLog:
    """The plan of a run as far as it is known."""

    def __init__(self, reader: sqlite3.Connection, writer: Writer | None) -> None:
        """Read with ``reader``; without a writer the log is read-only."""
        self._reader = reader
        self._writer = writer

    def add_arm(self, arm: str, description: Mapping[str, object]) -> None:
        """Make an arm known under its content id; nothing is written if it is known already."""
        if self._reader.execute("select 1 from arms where id = ?", (arm,)).fetchone():
            return
        text = canonical_json(dict(description)).decode()
        required(self._writer).run(
            lambda connection: connection.execute(
                "insert into arms (id, description, added_at) values (?, ?, ?)"
                " on conflict do nothing",
                (arm, text, time.time()),
            )
        )

    async def add_cases(self, cases: Sequence[Case]) -> None:
        """Make cases known; nothing is written if they all are known already."""
        unknown = self.unknown(cases)
        if not unknown:
            return
        rows = [case_values(case) for case in unknown]
        await required(self._writer).post(
            lambda connection: connection.executemany(_INSERT_CASE, rows)
        )

    def unknown(self, cases: Sequence[Case]) -> list[Case]:
        """Return those of some cases that have not been made known, in order."""
        return [cases[i] for (i,) in self._reader.execute(_UNKNOWN, (_ids(cases),))]

    def known(self) -> int:
        """Return how many cases have been made known."""
        (cases,) = self._reader.execute("select cases from totals").fetchone()
        return int(cases)

    def pending(
        self, cases: Sequence[Case], arm: str, *, retry_failed: bool = False
    ) -> list[tuple[Case, int]]:
        """Return the cases an arm still has to play, in the order given.

        Each comes with its retry epoch: 0 for the first time, one more after every failure.
        """
        rows = self._reader.execute(_PENDING, (_ids(cases), arm, retry_failed)).fetchall()
        return [(cases[i], 0 if epoch is None else epoch + 1) for i, epoch in rows]

    def drawn(self, cases: Sequence[Case], arm: str) -> Counter[str]:
        """Return how many readable samples an arm has drawn for cases, by kind of call.

        Rounds and repairs count with what they are rounds and repairs of: ``revise-1`` is a
        ``revise``, ``responder/repair-1`` a ``responder``.
        """
        kinds: Counter[str] = Counter()
        for purpose, count in self._reader.execute(_DRAWN, (_ids(cases), arm)):
            kinds[_ROUND.sub("", purpose.partition("/")[0])] += count
        return kinds

    def scenarios_used(self) -> list[tuple[str, str]]:
        """Return id and fingerprint of every scenario that cases were made from."""
        rows = self._reader.execute("select distinct scenario, scenario_fingerprint from cases")
        return rows.fetchall()

    def languages_used(self) -> list[str]:
        """Return the codes of the languages that cases are in."""
        rows = self._reader.execute("select distinct language from cases order by 1")
        return [code for (code,) in rows]


def case_values(c: Case) -> tuple[object, ...]:
    """Return the columns of a case."""
    variation = orjson.dumps(c.variation).decode()
    return (
        c.id, c.scheme, c.scenario, c.scenario_fingerprint, c.fact, c.goal, c.turns, c.language,
        variation, c.repetition, c.seed,
    )  # fmt: skip


def _ids(cases: Sequence[Case]) -> str:
    return orjson.dumps([case.id for case in cases]).decode()
