"""Take a person out of a run, down to the bytes the database file would otherwise keep."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

from pipeline.store.sqlite import DATABASE, connect

_MINE = "(select seq from assignments where annotator = ?)"
_NAME = (
    """update annotators set name = null, name_key = null, account = 0, secret = null,
        language = null, consent = null, erased_at = {now} where seq = ?""",
    "delete from review_sessions where annotator = ?",
    f"delete from drafts where assignment in {_MINE}",  # noqa: S608 - constants only
    f"update reviews set note = '', scenario_problem = '' where assignment in {_MINE}",  # noqa: S608
    "update adjudications set note = '' where expert = ?",
    "delete from assignments where annotator = ? and state <> 'done'",
)
_ANSWERS = (
    "delete from assignments where annotator = ?",  # answers and opinions go with it
    "delete from participations where annotator = ?",
    """delete from adjudicated_labels where adjudication in
        (select seq from adjudications where expert = ?)""",
    "delete from adjudications where expert = ?",
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
