"""``people.sqlite``: what is personal about the people who review a run, apart from the run.

A run can be handed around without this file: everywhere else people are known by a code. It holds
names, accounts, sessions, forms half filled in, and notes in people's own words. Rows of the run
point to notes by random numbers, so that a file that was made anew cannot answer for a lost one.

Two files have no common transaction. A note is therefore stored before the answer that names it,
and a draft is deleted after the answer that replaces it: whenever the process dies, an answer is
either there with its note, or can be sent again, and what is left over is a note or a draft that
nothing refers to.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Self

import orjson

from pipeline.store.people_database import (
    NO_NOTE,
    PEOPLE,
    Note,
    connect_people,
    create_people,
    new_number,
)
from pipeline.store.sqlite import (
    DATABASE,
    connect,
    connect_readonly,
    explained,
)
from pipeline.store.writer import Writer
from scenarios.reviews import FormDraft


class PeopleFile:
    """The file as it is used: a connection to read with, and a writer.

    It is made when something is first written: whoever only looks leaves no empty one behind.
    """

    def __init__(self, folder: Path, mark: str) -> None:
        """Remember where the file is; use :meth:`open`."""
        self._path = folder / PEOPLE
        self._mark = mark
        self._opening = threading.Lock()
        self._opened: tuple[sqlite3.Connection, Writer] | None = None
        self._nothing = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        create_people(self._nothing, mark)

    @classmethod
    def open(cls, folder: Path, mark: str) -> Self:
        """Open the file beside the run in ``folder``, if there is one.

        Raises:
            UsageError: it belongs to another run, was written by a newer hipo, or is a link.
        """
        with ExitStack() as undo:
            file = undo.enter_context(closing(cls(folder, mark)))
            _ = file.reader
            undo.pop_all()
        return file

    @property
    def reader(self) -> sqlite3.Connection:
        """What is read with; it finds nothing as long as nobody, here or elsewhere, has written."""
        # A link that leads nowhere is there, too, and is refused.
        if self._opened is None and not os.path.lexists(self._path):
            return self._nothing
        return self._open()[0]

    @property
    def writer(self) -> Writer:
        """What is written with; the file is made if need be."""
        return self._open()[1]

    def _open(self) -> tuple[sqlite3.Connection, Writer]:
        with self._opening:
            if self._opened is None:
                with ExitStack() as undo:
                    folder = self._path.parent
                    writing = undo.enter_context(closing(connect_people(folder, self._mark)))
                    reader = undo.enter_context(closing(connect_readonly(self._path)))
                    self._opened = reader, Writer(writing)
                    undo.pop_all()
            return self._opened

    def close(self) -> None:
        """Bring everything to disk and close; harmless when repeated."""
        if self._opened is not None:
            reader, writer = self._opened
            reader.close()
            writer.close()
        self._nothing.close()

    # Notes

    async def add_note(self, code: str, note: Note) -> int | None:
        """Store a note, durable on return, and give it a number; None for an empty one."""
        if note == NO_NOTE:
            return None
        number, write = _new_note(code, note)
        await self.writer.post(write)
        return number

    def add_notes_now(self, notes: Iterable[tuple[str, Note]]) -> list[int | None]:
        """Store notes from ordinary code, each by the code of a person; see :meth:`add_note`."""
        new = [None if note == NO_NOTE else _new_note(code, note) for code, note in notes]
        self.writer.run_all(one[1] for one in new if one is not None)
        return [None if one is None else one[0] for one in new]

    def drop_note(self, number: int | None) -> None:
        """Forget a note that no answer refers to."""
        if number is not None:
            self.writer.send(lambda c: c.execute("delete from notes where id = ?", (number,)))

    def notes(self, numbers: Iterable[int | None]) -> dict[int | None, Note]:
        """Return notes by number; those that are not here (any more) are empty."""
        wanted = list(numbers)
        rows = self.reader.execute(
            "select id, note, scenario_problem from notes"
            " where id in (select value from json_each(?))",
            (orjson.dumps([number for number in wanted if number is not None]).decode(),),
        )
        known = {number: Note(note, problem) for number, note, problem in rows}
        return {number: known.get(number or 0, NO_NOTE) for number in wanted}

    def note(self, number: int | None) -> Note:
        """Return one note."""
        return NO_NOTE if number is None else self.notes([number])[number]

    # Drafts

    def draft(self, assignment: int) -> FormDraft | None:
        """Return the half-filled form of an assignment."""
        row = self.reader.execute(
            "select content, edits, lead_s from drafts where assignment = ?", (assignment,)
        ).fetchone()
        return None if row is None else FormDraft(*row)

    async def save_draft(self, code: str, assignment: int, draft: FormDraft) -> bool:
        """Keep a half-filled form, durable on return; False where a newer one is there and stays."""
        row = (assignment, code, draft.content, draft.edits, draft.lead_s, time.time())

        def write(connection: sqlite3.Connection) -> bool:
            written = connection.execute(
                "insert into drafts values (?, ?, ?, ?, ?, ?) on conflict do update set"
                " code = excluded.code, content = excluded.content, edits = excluded.edits,"
                " lead_s = excluded.lead_s, saved_at = excluded.saved_at"
                " where excluded.edits >= drafts.edits",
                row,
            )
            return written.rowcount == 1

        return await self.writer.post(write)

    async def drop_draft(self, assignment: int) -> None:
        """Delete the half-filled form of an assignment, durable on return."""
        if self.draft(assignment) is not None:
            await self.writer.post(
                lambda c: c.execute("delete from drafts where assignment = ?", (assignment,))
            )


def _new_note(code: str, note: Note) -> tuple[int, Callable[[sqlite3.Connection], object]]:
    number = new_number()
    row = (number, code, note.note, note.scenario_problem)
    return number, lambda c: c.execute("insert into notes values (?, ?, ?, ?)", row)


_GIVEN = """
    delete from {} where (source, dialogue) in (
        select r.seq, i.dialogue from assignments s join review_items i on i.seq = s.item
            join studies t on t.seq = i.study join annotators p on p.seq = s.annotator
            join label_sources r on r.kind = 'human' and r.who = p.code and r.config = t.id
        where s.annotator = :seq and {})"""
_DECIDED = """
    delete from {} where source in (
        select r.seq from label_sources r join annotators p on p.code = r.who
        where r.kind = 'adjudicated' and p.seq = :seq)"""
# Before an expert's, the word of another may have been the last.
_LAST_WORD = """
    update passes set newest = 1 where seq in (
        select max(o.seq) from passes o join label_sources s on s.seq = o.source
            join annotators p on p.seq = :seq
        where s.kind = 'adjudicated' and s.who <> p.code group by o.dialogue, s.config)"""
_LABELLED = ("annotations", "passes")
_LEAVE = (
    "update annotators set erased_at = :now where seq = :seq",
    """update reviews set note_id = null
        where assignment in (select seq from assignments where annotator = :seq)""",
    "update adjudications set note_id = null where expert = :seq",
    *(_GIVEN.format(table, "s.state <> 'done'") for table in _LABELLED),
    "delete from assignments where annotator = :seq and state <> 'done'",
)
_TAKE_BACK = (
    *(_GIVEN.format(table, "true") for table in _LABELLED),
    "delete from assignments where annotator = :seq",  # opinions go with it
    "delete from participations where annotator = :seq",
    "delete from adjudications where expert = :seq",
    *(_DECIDED.format(table) for table in _LABELLED),
    _LAST_WORD,
)
_FORGET = tuple(
    f"delete from {table} where code = :code"  # noqa: S608 - constants only
    for table in ("sessions", "drafts", "notes", "attention", "people")
)


def erase_person(folder: Path, annotator: int, *, answers: bool) -> list[Path]:
    """Erase somebody: the name, the account, sessions, drafts and free text; labels stay.

    The run is written first: until it is, the person can still be found by name to be erased.
    Deleted rows are overwritten and the write-ahead logs are emptied, so that the files hold no
    copy; where another process is reading at that moment, the log is emptied when it closes.

    Args:
        folder: of the run.
        annotator: number of the person.
        answers: whether everything they answered goes too; their items are given out again.

    Returns:
        Backups of the database beside it, which may still hold the person.
    """
    with explained(folder / DATABASE), closing(connect(folder / DATABASE)) as run:
        (code,) = run.execute("select code from annotators where seq = ?", (annotator,)).fetchone()
        values = {"seq": annotator, "now": time.time()}
        _overwrite(run, _LEAVE + (_TAKE_BACK if answers else ()), values)
    if (folder / PEOPLE).is_file():
        with explained(folder / PEOPLE), closing(connect(folder / PEOPLE)) as people:
            _overwrite(people, _FORGET, {"code": code})
    return sorted(folder.glob("*.backup*.sqlite"))


def _overwrite(
    connection: sqlite3.Connection, statements: Sequence[str], values: Mapping[str, object]
) -> None:
    """Execute statements in one transaction, so that no copy is left of what they delete."""
    connection.execute("pragma secure_delete=on")
    connection.execute("begin immediate")
    try:
        for statement in statements:
            connection.execute(statement, values)
        connection.execute("commit")
    except sqlite3.Error:
        connection.execute("rollback")
        raise
    with suppress(sqlite3.OperationalError):
        connection.execute("pragma wal_checkpoint(truncate)").fetchone()
