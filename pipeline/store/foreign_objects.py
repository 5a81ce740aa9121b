"""Refuse databases with tables, views, triggers or indices that hipo did not make.

A run may come from somebody else, and what stands in its schema is executed by SQLite while it is
read and written: a trigger with every row, a view or a generated column in place of what is stored.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from functools import lru_cache
from pathlib import Path

from pipeline.store.sqlite import DATABASE, StoreDamaged
from scenarios.text_file import typed_path

NEWEST = "84c62d380713fa052e3a10afcd5d5798d18d8e85ef1f325732522785b0162b52"
"""The digest of what all migrations make, which saves making it to see that it is the same."""
NAMED = 5
"""Objects that are named in a message."""
_OBJECTS = (
    "select type, name, sql from sqlite_schema"
    " where sql is not null and name not like 'sqlite\\_stat_' escape '\\' order by 1, 2 limit 1000"
)

Schema = Mapping[tuple[str, str], str]
"""The statements that made what there is, by kind and name."""


def refuse_foreign(
    connection: sqlite3.Connection, path: Path, make: Iterable[Callable[[sqlite3.Connection], None]]
) -> None:
    """Do nothing to a database that holds what these steps make, or less.

    Args:
        connection: to the database; nothing of it but the list of its objects is read.
        path: of the database, for the message.
        make: the steps that made it, each of which is run in a transaction.

    Raises:
        StoreDamaged: it holds something else, which is named.
    """
    found = _schema(connection)
    if digest(found) == NEWEST:
        return
    expected = _made_by(tuple(make))
    foreign = [key for key, statement in found.items() if expected.get(key) != statement]
    if foreign:
        raise StoreDamaged(
            f"{path} holds what hipo did not make: {_named(foreign, expected)}", _way_out(path)
        )


def digest(schema: Schema) -> str:
    """Return what tells one schema from every other."""
    parts = ("\0".join((*key, statement)) for key, statement in schema.items())
    return hashlib.sha256("\0\0".join(parts).encode(errors="surrogatepass")).hexdigest()


@lru_cache(maxsize=16)
def _made_by(steps: tuple[Callable[[sqlite3.Connection], None], ...]) -> Schema:
    """Return what steps make; a command looks at a run several times."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        for step in steps:
            fresh.execute("begin")
            step(fresh)
            fresh.execute("commit")
        return _schema(fresh)


def _schema(connection: sqlite3.Connection) -> Schema:
    return {(kind, name): _plain(sql) for kind, name, sql in connection.execute(_OBJECTS)}


def _plain(statement: str) -> str:
    """Return a statement without what versions of SQLite and of hipo write differently."""
    return " ".join(statement.replace('"', "").split())


def _named(foreign: list[tuple[str, str]], expected: Schema) -> str:
    """Name the first of what is foreign; one that only looks as if it were ours is 'another'."""
    names = [
        f"{'another ' if key in expected else ''}{key[0]} {' '.join(key[1].split())[:60]}"
        for key in foreign[:NAMED]
    ]
    if len(foreign) > NAMED:
        names.append(f"{len(foreign) - NAMED:,} more")
    return ", ".join(names)


def _way_out(path: Path) -> str:
    if path.name != DATABASE:
        return "put a copy that hipo made in its place, or move it away"
    return f"hipo runs repair {typed_path(path.parent)} saves the rows alone into a new run"
