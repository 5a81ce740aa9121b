"""What opening a database to write takes, whatever it holds: a lock and a writer."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path

from pipeline.store.calls import charge_lost
from pipeline.store.locks import RunLock
from pipeline.store.sqlite import connect_readonly
from pipeline.store.texts import TextTable
from pipeline.store.writer import PATIENCE_S, Writer
from scenarios.errors import UsageError


def locked(folder: Path) -> RunLock:
    """Return the lock of a folder, which is made if need be.

    Raises:
        UsageError: the folder cannot be written, or another process holds its lock.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return RunLock(folder)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written: {error.strerror}", "choose another folder (-o)"
        ) from error


def start_writing(
    connection: sqlite3.Connection, path: Path
) -> tuple[sqlite3.Connection, Writer, TextTable, int]:
    """Return a reader, a writer and the texts of a database that is up to date.

    Requests that were in flight when an earlier process died are charged at their worst; how many
    they are is what is returned last.

    Args:
        connection: open for writing; it belongs to the writer from now on.
        path: of the database.
    """
    connection.execute("begin immediate")
    lost = charge_lost(connection)
    connection.execute("commit")
    texts = TextTable()
    with ExitStack() as undo:
        reader = undo.enter_context(closing(connect_readonly(path)))
        writer = Writer(connection, patience_s=PATIENCE_S, rolled_back=texts.forget)
        undo.pop_all()
    return reader, writer, texts, lost
