"""Ways to damage the database of a run, for tests."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

Damage = Callable[[Path], None]
"""Damages the file at a path."""
PAGE = 4096


def sql(*statements: str) -> Damage:
    """Execute statements, without any check of foreign keys."""

    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for statement in statements:
                connection.execute(statement)

    return damage


def rewritten(change: Callable[[bytes], bytes]) -> Damage:
    """Write the file anew, changed."""
    return lambda path: path.write_bytes(change(path.read_bytes())) and None


def flipped(seed: int, *, bits: int = 60, after: int = PAGE) -> Damage:
    """Flip bits somewhere behind the first page."""
    dice = random.Random(seed)

    def change(data: bytes) -> bytes:
        content = bytearray(data)
        for _ in range(bits):
            content[dice.randrange(after, len(content))] ^= 1 << dice.randrange(8)
        return bytes(content)

    return rewritten(change)


def page_of(table: str) -> Damage:
    """Overwrite the first page of a table."""

    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            (root,) = connection.execute(
                "select rootpage from sqlite_schema where name = ?", (table,)
            ).fetchone()
        content = bytearray(path.read_bytes())
        content[(root - 1) * PAGE : root * PAGE] = b"\xaa" * PAGE
        path.write_bytes(bytes(content))

    return damage


def as_folder(path: Path) -> None:
    """Put a folder in place of the file."""
    path.unlink()
    path.mkdir()


UNREADABLE: dict[str, Damage] = {
    "zero-length": rewritten(lambda data: b""),
    "header": rewritten(lambda data: b"garbage!" * 12 + data[96:]),
    "truncated in the middle": rewritten(lambda data: data[: len(data) // 2]),
    "truncated in the header": rewritten(lambda data: data[:60]),
    "stored configuration": sql("update config_epochs set config = '{garbage'"),
    "configuration of another kind": sql("update config_epochs set config = '[1]'"),
    "no configuration": sql("delete from config_epochs"),
    "page of the configuration": page_of("config_epochs"),
    "version reset": sql("pragma user_version = 0"),
    "version negative": sql("pragma user_version = -1"),
    "table dropped": sql("drop table meta"),
    "a folder": as_folder,
}
"""What no command can do anything with."""
