"""A connection for people who wait: it asks for its turn to write every few milliseconds."""

from __future__ import annotations

import sqlite3
import time
from typing import Any

from pipeline.store.sqlite import BUSY_TIMEOUT_MS

ASK_EVERY_S = 0.002


class EagerConnection(sqlite3.Connection):
    """Begins a transaction as soon as another process lets it.

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
                time.sleep(ASK_EVERY_S)
        finally:
            super().execute(f"pragma busy_timeout={BUSY_TIMEOUT_MS}")
