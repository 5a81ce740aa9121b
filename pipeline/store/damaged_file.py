"""Open a damaged database so that as much as possible of it can be read."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing, suppress
from pathlib import Path

from pipeline.store.damaged_rows import UNREADABLE
from pipeline.store.migrations import MIGRATIONS
from pipeline.store.sqlite import damaged

MAGIC = b"SQLite format 3\x00"
PAGE = 4096
"""Bytes in a page; no run was ever made with another size."""


def opened(path: Path, source: Path) -> sqlite3.Connection:
    """Open a working copy so that damage keeps as little as possible from being read."""
    for attempt in (False, True):
        if attempt:
            _mend_header(path)
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            # Without it, a file that is shorter than it says is refused as a whole.
            connection.execute("pragma writable_schema = on")
            connection.execute("select count(*) from sqlite_schema").fetchone()
        except UNREADABLE as error:
            connection.close()
            if attempt:
                raise damaged(source, f"its list of tables cannot be read: {error}") from error
        else:
            connection.set_authorizer(_tables_alone)
            return connection
    raise AssertionError("one of two attempts returns or raises")


def _tables_alone(
    _action: int, _what: str | None, _of: str | None, _database: str | None, inside: str | None
) -> int:
    """Let nothing be read through a view or a trigger: somebody may have put it there."""
    return sqlite3.SQLITE_OK if inside is None else sqlite3.SQLITE_DENY


def columns_of(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """Return (table, column) of everything there is."""
    with suppress(*UNREADABLE):
        return set(
            connection.execute(
                "select t.name, c.name from sqlite_schema t, pragma_table_info(t.name) c"
                " where t.type = 'table'"
            ).fetchall()
        )
    return set()


def likely_version(old: sqlite3.Connection) -> int:
    """Return the schema version whose tables these are most like; 0 where there is none."""
    found = columns_of(old)
    (stated,) = old.execute("pragma user_version").fetchone()
    best, least = 0, len(found)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        for version, step in enumerate(MIGRATIONS, 1):
            fresh.execute("begin")
            step(fresh)
            fresh.execute("commit")
            expected = columns_of(fresh)
            difference = len(found ^ expected)
            if found & expected and (best == 0 or difference <= least):
                best, least = version, difference
            if version == stated and len(found & expected) > len(expected) / 2:
                return version
    return best


def _mend_header(path: Path) -> None:
    """Write the first hundred bytes anew, and fill the last page up.

    The version of the schema and the list of free pages are lost with the old header.
    """
    content = path.read_bytes()
    pages = -(-len(content) // PAGE)
    header = MAGIC + struct.pack(
        ">HBBBBBBIIIIIIIIIIIII",
        PAGE, 2, 2, 0, 64, 32, 32,  # with a write-ahead log
        1, pages, 0, 0,  # change counter, size, no free pages
        1, 4, 0, 0,  # schema cookie and format, default cache, no vacuum
        1, 0, 0, 0,  # UTF-8, user version, no incremental vacuum, application
        0,
    )  # fmt: skip
    header += b"\x00" * (92 - len(header)) + struct.pack(">II", 1, 3_040_000)
    padding = b"\x00" * (pages * PAGE - len(content))
    path.write_bytes(header + content[len(header) :] + padding)
