"""Open the database of a run: durable and quick to write, or read-only."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

DATABASE = "run.sqlite"
BUSY_TIMEOUT_MS = 5_000
POLL_S = 0.002


def connect(path: Path, kind: type[sqlite3.Connection] = sqlite3.Connection) -> sqlite3.Connection:
    """Open for writing: write-ahead log, every commit on disk before it is acknowledged."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, factory=kind)
    for pragma in (
        f"busy_timeout={BUSY_TIMEOUT_MS}",
        "journal_mode=wal",
        "synchronous=full",
        "wal_autocheckpoint=4000",
        "foreign_keys=on",
    ):
        connection.execute(f"pragma {pragma}")
    return connection


def connect_readonly(path: Path) -> sqlite3.Connection:
    """Open for reading what is committed, also while another process writes.

    Every statement sees one state of the database; none blocks a writer.
    """
    uri = f"file:{quote(str(path.resolve()))}?mode=ro"
    if not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists():
        # An archive: nobody writes there, and the files that readers share cannot be made.
        uri += "&immutable=1"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    connection.execute(f"pragma busy_timeout={BUSY_TIMEOUT_MS}")
    return connection


class EagerConnection(sqlite3.Connection):
    """Polls for the write lock every few milliseconds, for people who wait.

    SQLite itself waits up to a tenth of a second before it asks again: beside a generation that
    commits all the time, it may not get its turn for a second and more.
    """

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Execute a statement; ``begin immediate`` is tried until the usual patience is over."""
        if sql != "begin immediate":
            return super().execute(sql, parameters)
        super().execute("pragma busy_timeout=0")
        give_up = time.monotonic() + BUSY_TIMEOUT_MS / 1000
        try:
            while True:
                try:
                    return super().execute(sql)
                except sqlite3.OperationalError as error:
                    is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                    if not is_busy or time.monotonic() > give_up:
                        raise
                time.sleep(POLL_S)
        finally:
            super().execute(f"pragma busy_timeout={BUSY_TIMEOUT_MS}")
