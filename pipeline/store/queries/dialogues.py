"""Read dialogues back: one by its id, or all of them page by page in constant memory."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.chunks import chunks
from pipeline.store.annotations import Key, as_json
from pipeline.store.queries.endings import ENDING_COLUMNS, CaseStatus, Ending, ending_from
from pipeline.store.queries.turns import TurnReader
from pipeline.store.sqlite import parsing
from scenarios.arms import IMPORTED
from scenarios.case import SOURCE
from scenarios.dialogue import Dialogue
from scenarios.errors import UsageError

PAGE = 200
"""Dialogues read at once: no reader keeps the database from being tidied up for long."""

_PAGE_OF_ENDINGS = f"""
    select {ENDING_COLUMNS}
    where (d.case_seq, d.arm_seq) > (?, ?) and d.seq > ? and (? is null or d.status = ?)
        and (? is null or a.id = ?)
    order by d.case_seq, d.arm_seq limit {PAGE}"""
_NAMED_ENDINGS = f"""
    select {ENDING_COLUMNS} join json_each(?) j
        on c.id = json_extract(j.value, '$[0]') and a.id = json_extract(j.value, '$[1]')
    where d.status = 'generated' order by j.key"""
_LATEST_ENDINGS = f"""
    select {ENDING_COLUMNS} where d.finished_at >= ? order by d.finished_at desc, d.seq desc limit ?"""
_ENDINGS_OF_CASE = f"""
    select {ENDING_COLUMNS} where c.id >= ? and c.id < ? || char(1114111) and a.id >= ?
        and a.id < ? || char(1114111) order by d.case_seq, d.arm_seq limit ?
    """

_ENDINGS_OF_SOURCE = f"""
    select {ENDING_COLUMNS} where c.variation <> '[]' and exists (
        select 1 from json_each(c.variation) j where json_extract(j.value, '$[0]') = '{SOURCE}'
            and {{is_named}})
    order by d.case_seq, d.arm_seq limit :most
    """  # noqa: S608 - constants only
_WAYS_TO_NAME = (
    "json_extract(j.value, '$[1]') = :name",
    "substr(json_extract(j.value, '$[1]'), -length(:name) - 1) = '/' || :name",
)
"""The whole name, which goes before; and, of a table, what stands after its file."""
_HAS_IMPORTED = """
    select exists (select 1 from arms where json_extract(description, '$.strategy') = ?)"""
_WHOLE_CASE = re.compile(r"[0-9a-f]{20}(/|$)")
"""How an id begins that is no mere beginning of one."""
_VARIES_BY = """
    select exists (select 1 from cases c, json_each(c.variation) j
        where c.variation <> '[]' and json_extract(j.value, '$[0]') = ?)"""
_SHOWN_OF_MANY = 5
"""Dialogues that are named where an id fits several."""
_GENERATION_TRACEBACK = """
    select traceback from tracebacks
    where dialogue = ? and stage = 'generation' and retry_epoch = ?"""
_VERIFICATION_TRACEBACK = """
    select t.traceback from tracebacks t join dialogues d on d.seq = t.dialogue
        join cases c on c.seq = d.case_seq join arms a on a.seq = d.arm_seq
    where c.id = ? and a.id = ? and t.stage = 'verification'"""
_RAISED_IN_VERIFICATION = """
    select c.id, a.id from tracebacks t join dialogues d on d.seq = t.dialogue
        join cases c on c.seq = d.case_seq join arms a on a.seq = d.arm_seq
    where t.stage = 'verification' order by t.dialogue limit 1"""


@dataclass(frozen=True, slots=True)
class _EndingRow:
    """An ending with the numbers that lead on from it."""

    seq: int
    key: tuple[int, int]
    ending: Ending


class DialogueReader:
    """Reads what has been committed, whoever writes meanwhile."""

    def __init__(self, reader: sqlite3.Connection) -> None:
        """Read with the given connection."""
        self._reader = reader
        self._turns = TurnReader(reader)

    def dialogues(
        self,
        *,
        arm: str | None = None,
        traces: bool = True,
        labels: bool = True,
        after: int = 0,
    ) -> Iterator[Dialogue]:
        """Yield the dialogues in the order of cases, those of one arm if it is named.

        Args:
            arm: the only one that is read; None for all.
            traces: whether turns come with how they were chosen; reading is quicker without.
            labels: whether turns come with the labels that were asked for and declared; likewise.
            after: what :attr:`newest` was before the only ones that are read; 0 for all.
        """
        for page in self._pages("generated", arm, after):
            yield from self._dialogues(page, traces=traces, labels=labels)

    def of(self, keys: Iterable[Key]) -> Iterator[Dialogue]:
        """Yield the dialogues with these (case, arm) ids in the order given, without traces."""
        for page in chunks(keys, PAGE):
            rows = self._reader.execute(_NAMED_ENDINGS, (as_json(page),)).fetchall()
            yield from self._dialogues(self._read(rows), traces=False)

    @property
    def newest(self) -> int:
        """The number of the case that ended last in an arm for the first time; 0 without any."""
        (number,) = self._reader.execute("select max(seq) from dialogues").fetchone()
        return number or 0

    def varies_by(self, name: str) -> bool:
        """Whether cases are varied by an axis, or imported ones told apart by a name."""
        return bool(self._reader.execute(_VARIES_BY, (name,)).fetchone()[0])

    def endings(self, *, status: CaseStatus | None = None) -> Iterator[Ending]:
        """Yield how cases ended, in their order; failures too, unless ``status`` says otherwise."""
        for page in self._pages(status):
            for row in page:
                yield row.ending

    def latest(self, count: int, since: float = 0.0) -> list[Ending]:
        """Return the endings that became durable last, oldest first, at most ``count`` of them.

        Args:
            count: how many; -1 for all.
            since: Unix time in seconds; what ended before is left out.
        """
        rows = self._reader.execute(_LATEST_ENDINGS, (since, count)).fetchall()
        return [row.ending for row in reversed(self._read(rows))]

    def ending(self, dialogue: str) -> Ending:
        """Return how one dialogue ended; see :meth:`dialogue` for ids.

        Raises:
            UsageError: no case starts with this id, or more than one dialogue does.
        """
        return self._find(dialogue).ending

    def dialogue(self, dialogue: str) -> Dialogue:
        """Return one dialogue by its id, ``case/arm`` or unambiguous beginnings of them.

        An imported one is found by what it is called where it comes from, too. That goes before the
        beginning of an id: a number as a name is the beginning of many.

        Raises:
            UsageError: none or several dialogues have this id, or the case failed.
        """
        row = self._find(dialogue)
        if row.ending.status == "failed":
            raise UsageError(
                f"{row.ending.id} failed ({row.ending.code}): {row.ending.reason}"
                f"{self._traceback(row)}",
                "hipo generate --retry-failed plays it again",
            )
        (found,) = self._dialogues([row], traces=True)
        return found

    def beginning(self, dialogue: str) -> list[int]:
        """Return the numbers of all dialogues whose id begins so, ``case`` or ``case/arm``."""
        return [row.seq for row in self._read(self._beginning(dialogue, -1))]

    def verification_traceback(self, case: str, arm: str) -> str | None:
        """Return where judging a dialogue raised an exception the last time, if it did."""
        row = self._reader.execute(_VERIFICATION_TRACEBACK, (case, arm)).fetchone()
        return None if row is None else str(row[0])

    def raised_in_verification(self) -> str | None:
        """Return the id of the first dialogue that has a verification traceback."""
        row = self._reader.execute(_RAISED_IN_VERIFICATION).fetchone()
        return None if row is None else f"{row[0]}/{row[1]}"

    def _traceback(self, row: _EndingRow) -> str:
        """Return where the exception of a failure was raised, after a line break; or nothing."""
        stored = self._reader.execute(_GENERATION_TRACEBACK, (row.seq, row.ending.epoch)).fetchone()
        return "" if stored is None else f"\n{stored[0].rstrip()}"

    def _find(self, dialogue: str) -> _EndingRow:
        most = _SHOWN_OF_MANY + 1
        # Looking for a name takes reading every case, looking for the beginning of an id none.
        if not _WHOLE_CASE.match(dialogue) and self._has_imported():
            rows = self._called(dialogue, most) or self._beginning(dialogue, most)
        else:
            rows = self._beginning(dialogue, most) or self._called(dialogue, most)
        if not rows:
            raise UsageError(f"no dialogue {dialogue!r} in this run", "hipo show lists them")
        if len(rows) > 1:
            ids = ", ".join(row.ending.id for row in self._read(rows[:_SHOWN_OF_MANY]))
            more = ", ..." if len(rows) > _SHOWN_OF_MANY else ""
            raise UsageError(
                f"{dialogue!r} fits several dialogues: {ids}{more}",
                "give more of the id: case/arm",
            )
        return self._read(rows[:1])[0]

    def _beginning(self, dialogue: str, most: int) -> list[Sequence[Any]]:
        """Return the rows whose id begins so; -1 is all of them, and no beginning has none."""
        case, _, arm = dialogue.partition("/")
        wanted = (case, case, arm, arm, most)
        return self._reader.execute(_ENDINGS_OF_CASE, wanted).fetchall() if case else []

    def _has_imported(self) -> bool:
        return bool(self._reader.execute(_HAS_IMPORTED, (IMPORTED,)).fetchone()[0])

    def _called(self, name: str, most: int) -> list[Sequence[Any]]:
        """Return the rows of imported dialogues of this name."""
        values = {"name": name, "most": most}
        found = (
            self._reader.execute(_ENDINGS_OF_SOURCE.format(is_named=way), values).fetchall()
            for way in _WAYS_TO_NAME
        )
        return next(filter(None, found), [])

    def _read(self, rows: Sequence[Sequence[Any]]) -> list[_EndingRow]:
        with parsing(self._reader, "a case"):
            return [_row(row) for row in rows]

    def _pages(
        self, status: str | None, arm: str | None = None, after: int = 0
    ) -> Iterator[list[_EndingRow]]:
        last = (-1, -1)
        while True:
            rows = self._reader.execute(
                _PAGE_OF_ENDINGS, (*last, after, status, status, arm, arm)
            ).fetchall()
            if not rows:
                return
            page = self._read(rows)
            last = page[-1].key
            yield page

    def _dialogues(
        self, rows: Sequence[_EndingRow], *, traces: bool, labels: bool = True
    ) -> Iterator[Dialogue]:
        turns = self._turns.turns(
            [row.seq for row in rows], traces=traces, wanted=labels, labels=labels, rationales=True
        )
        for row in rows:
            its = row.ending
            yield Dialogue(its.case, its.arm, tuple(turns[row.seq]), its.config_epoch)


def _row(row: Sequence[Any]) -> _EndingRow:
    return _EndingRow(row[0], (row[1], row[2]), ending_from(row))
