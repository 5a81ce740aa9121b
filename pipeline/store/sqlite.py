"""Open the database of a run: durable and quick to write, or read-only."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

DATABASE = "run.sqlite"
BUSY_TIMEOUT_MS = 5_000


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
