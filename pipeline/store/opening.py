"""A folder with a database of calls that is open, whatever else it holds: lock, reader and writer."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Self

from pipeline.store.calls import CallLog, charge_lost
from pipeline.store.locks import RunLock
from pipeline.store.migrations import migrate
from pipeline.store.sqlite import connect, connect_readonly, explained
from pipeline.store.texts import TextTable
from pipeline.store.writer import PATIENCE_S, Writer
from scenarios.atomic_files import made_folder


def locked(folder: Path) -> RunLock:
    """Return the lock of a folder, which is made if need be; nothing is left where that fails.

    Raises:
        UsageError: the folder cannot be written, or another process holds its lock.
        NoRoom: no room is left for it.
    """
    with made_folder(folder):
        return RunLock(folder)


class OpenDatabase:
    """An open folder with a database of calls: read, and with a writer this process's alone.

    ``calls`` is what was asked and answered: the cache, the reservations.
    """

    def __init__(
        self,
        folder: Path,
        reader: sqlite3.Connection,
        writer: Writer | None = None,
        lock: RunLock | None = None,
        texts: TextTable | None = None,
    ) -> None:
        """Join the parts; whoever opens a folder calls a class method of its kind."""
        self.folder = folder
        self._connection = reader
        self._writer = writer
        self._lock = lock
        self.calls = CallLog(reader, writer, texts or TextTable())
        self._join(reader, writer)

    def _join(self, reader: sqlite3.Connection, writer: Writer | None) -> None:
        """Add what reads and writes the tables that this kind of database has beside calls."""

    @classmethod
    def _started(
        cls,
        folder: Path,
        path: Path,
        begin: Callable[[sqlite3.Connection], None] = lambda _: None,
    ) -> Self:
        """Lock a folder, bring its database up to date, and start the writer on it.

        Requests that were in flight when an earlier process died are charged at their worst.

        Args:
            folder: that is opened; it is made if need be.
            path: of the database in it.
            begin: writes what a new database begins with.

        Raises:
            UsageError: the folder cannot be written, is in use by another process, or holds a
                database of a newer hipo.
        """
        lock = locked(folder)
        with ExitStack() as undo:
            undo.callback(lock.release)
            undo.enter_context(explained(path))
            connection = undo.enter_context(closing(connect(path)))
            migrate(connection, path)
            begin(connection)
            connection.execute("begin immediate")
            lost = charge_lost(connection)
            connection.execute("commit")
            reader = undo.enter_context(closing(connect_readonly(path)))
            texts = TextTable()
            writer = Writer(connection, patience_s=PATIENCE_S, rolled_back=texts.forget)
            undo.callback(writer.close)
            undo.callback(reader.close)  # before the writer, as in close()
            store = cls(folder, reader, writer, lock, texts)
            store.calls.lost = lost
            undo.pop_all()
        return store

    def close(self) -> None:
        """Bring everything to disk and give the lock back; harmless when repeated."""
        if self._writer is not None:
            self.calls.close()
            # The reader goes first: the last to close tidies up the log, and may have to write.
            self._connection.close()
            self._writer.close()
            self._writer = None
        self._connection.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
