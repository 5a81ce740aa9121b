"""Take a person out of a run, down to the bytes the database file would otherwise keep."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

from pipeline.store.sqlite import DATABASE, connect

_MINE = "(select seq from assignments where annotator = ?)"
_GIVEN = """
    delete from {} where (source, dialogue) in (
        select r.seq, i.dialogue from assignments s join review_items i on i.seq = s.item
            join studies t on t.seq = i.study join annotators p on p.seq = s.annotator
            join label_sources r on r.kind = 'human' and r.who = p.code and r.config = t.id
        where s.annotator = ? and {})"""
_DECIDED = """
    delete from {} where source in (
        select r.seq from label_sources r join annotators p on p.code = r.who
        where r.kind = 'adjudicated' and p.seq = ?)"""
# Before an expert's, the word of another may have been the last.
_LAST_WORD = """
    update passes set newest = 1 where seq in (
        select max(o.seq) from passes o join label_sources s on s.seq = o.source
            join annotators p on p.seq = ?
        where s.kind = 'adjudicated' and s.who <> p.code group by o.dialogue, s.config)"""
_NAME = (
    """update annotators set name = null, name_key = null, account = 0, secret = null,
        language = null, consent = null, erased_at = {now} where seq = ?""",
    "delete from review_sessions where annotator = ?",
    f"delete from drafts where assignment in {_MINE}",  # noqa: S608 - constants only
    f"update reviews set note = '', scenario_problem = '' where assignment in {_MINE}",  # noqa: S608
    "update adjudications set note = '' where expert = ?",
    *(_GIVEN.format(table, "s.state <> 'done'") for table in ("annotations", "passes")),
    "delete from assignments where annotator = ? and state <> 'done'",
)
_ANSWERS = (
    *(_GIVEN.format(table, "true") for table in ("annotations", "passes")),
    "delete from assignments where annotator = ?",  # opinions go with it
    "delete from participations where annotator = ?",
    "delete from adjudications where expert = ?",
    *(_DECIDED.format(table) for table in ("annotations", "passes")),
    _LAST_WORD,
)


def erase_person(folder: Path, annotator: int, *, answers: bool) -> list[Path]:
    """Erase somebody: the name, the account, sessions, drafts and free text; labels stay.

    Deleted rows are overwritten and the write-ahead log is emptied, so that the files hold no
    copy; where another process is reading at that moment, the log is emptied when it closes.

    Args:
        folder: of the run.
        annotator: number of the person.
        answers: whether everything they answered goes too; their items are given out again.

    Returns:
        Backups of the database beside it, which may still hold the person.
    """
    with closing(connect(folder / DATABASE)) as connection:
        connection.execute("pragma secure_delete=on")
        connection.execute("begin immediate")
        try:
            for statement in _NAME + (_ANSWERS if answers else ()):
                connection.execute(statement.replace("{now}", repr(time.time())), (annotator,))
            connection.execute("commit")
        except sqlite3.Error:
            connection.execute("rollback")
            raise
        with suppress(sqlite3.OperationalError):
            connection.execute("pragma wal_checkpoint(truncate)").fetchone()
    return sorted(folder.glob("*.backup*.sqlite"))
