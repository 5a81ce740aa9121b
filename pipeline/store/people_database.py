"""The tables of ``people.sqlite``, and how it is made and opened: see :mod:`pipeline.store.people`."""

from __future__ import annotations

import secrets
import sqlite3
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path

from pipeline.store.foreign_objects import refuse_foreign
from pipeline.store.own_files import refuse_link
from pipeline.store.sqlite import (
    EagerConnection,
    StoreUnusable,
    connect,
    damaged,
    explained,
    path_of,
)
from scenarios.errors import UsageError

PEOPLE = "people.sqlite"
VERSION = 2

_TABLES = (
    "create table meta (key text primary key, value text not null) strict, without rowid",
    """create table people (
        code text primary key, name text, name_key text unique,
        account integer not null check (account in (0, 1)),
        secret text, language text, consent text, consented_at real) strict, without rowid""",
    """create table sessions (
        hash blob primary key, role text not null check (role in ('annotator', 'expert')),
        code text, language text, consent text, consented_at real,
        category text not null, reason text not null,
        created_at real not null, expires_at real not null) strict, without rowid""",
    "create index sessions_code on sessions(code)",
    """create table drafts (
        assignment integer primary key, code text not null, content text not null,
        edits integer not null, lead_s real not null, saved_at real not null) strict""",
    """create table notes (
        id integer primary key, code text not null, note text not null,
        scenario_problem text not null) strict""",
    "create index notes_code on notes(code)",
)
_ATTENTION = """create table attention (
    seq integer primary key, code text not null, study text not null, line text not null,
    state text not null check (state in ('open', 'done', 'given_back')),
    opened_at real not null, done_at real, lead_s real, labels text, note text not null,
    right_answers integer, chances text, unique (study, code, line)) strict"""


@dataclass(frozen=True, slots=True)
class Note:
    """What somebody wrote in their own words beside an answer."""

    note: str = ""
    scenario_problem: str = ""


NO_NOTE = Note()


def create_people(connection: sqlite3.Connection, run: str) -> None:
    """Make the tables that are missing, unless another process just did.

    Args:
        connection: not in a transaction.
        run: what tells the run from others, see :func:`run_mark`.
    """
    connection.execute("begin immediate")
    (version,) = connection.execute("pragma user_version").fetchone()
    if version == 0:
        _make_tables(connection)
        connection.execute("insert into meta values ('run', ?)", (run,))
    if version < VERSION:
        _make_attention(connection)
        connection.execute(f"pragma user_version = {VERSION}")
    connection.execute("commit")


def refuse_foreign_people(connection: sqlite3.Connection, path: Path) -> None:
    """Do nothing to a file of people that holds what hipo makes, or is of a newer hipo.

    Raises:
        StoreDamaged: it holds something else: somebody who sent the run may have put it there.
    """
    (version,) = connection.execute("pragma user_version").fetchone()
    if version <= VERSION:
        refuse_foreign(connection, path, (_make_tables, _make_attention)[: max(0, version)])


def _make_tables(connection: sqlite3.Connection) -> None:
    for statement in _TABLES:
        connection.execute(statement)


def _make_attention(connection: sqlite3.Connection) -> None:
    connection.execute(_ATTENTION)


def run_mark(run: sqlite3.Connection) -> str:
    """Return what tells a run from every other: when it began."""
    row: tuple[str] | None = run.execute("select value from meta where key = 'created'").fetchone()
    if row is None:
        raise damaged(path_of(run), "it does not say when it began")
    return row[0]


def refuse_emptied(folder: Path, run: sqlite3.Connection) -> None:
    """Do nothing unless the file is there, holds nothing, and the run knows people.

    Raises:
        StoreUnusable: names, accounts and notes would silently be begun anew.
    """
    path = folder / PEOPLE
    if not path.is_file() or path.stat().st_size:
        return
    if run.execute("select 1 from annotators").fetchone() is not None:
        raise StoreUnusable(
            f"{path} is empty, and with it the names, accounts and notes of those who review",
            "put a copy of it back; to go on without them, delete the file: labels are in the run",
        )


def keep_private(path: Path) -> None:
    """See to it that nobody but the owner can read a database, before anything is in it.

    SQLite gives its journals the rights of the database, so it must not be the one to make it.
    What cannot be changed (somebody else's file) stays; whether it can be used, SQLite says.

    Raises:
        UsageError: one of them is a link, whose target stays as it is.
    """
    files = (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm"))
    for file in files:
        refuse_link(file)
    with suppress(OSError):
        path.touch(0o600)
    for file in files:
        with suppress(OSError):
            file.chmod(file.stat().st_mode & 0o700)


def connect_people(folder: Path, mark: str) -> sqlite3.Connection:
    """Open the file for writing; it is made if need be.

    Raises:
        UsageError: it belongs to another run, was written by a newer hipo, is damaged, or holds
            what hipo did not make.
    """
    path = folder / PEOPLE
    with ExitStack() as undo:
        undo.enter_context(explained(path))
        keep_private(path)
        connection = undo.enter_context(closing(connect(path, EagerConnection)))
        refuse_foreign_people(connection, path)
        create_people(connection, mark)
        _check_owner(connection, path, mark)
        undo.pop_all()
    return connection


def _check_owner(connection: sqlite3.Connection, path: Path, mark: str) -> None:
    (version,) = connection.execute("pragma user_version").fetchone()
    if version > VERSION:
        raise UsageError(f"{path} was written by a newer hipo", "upgrade: pip install -U hipo")
    owner = connection.execute("select value from meta where key = 'run'").fetchone()
    if owner is None:
        raise damaged(path, "it does not say which run it belongs to")
    if owner != (mark,):
        raise UsageError(f"{path} belongs to another run", "put it beside its own run.sqlite")


def new_number() -> int:
    """Return a random positive number for a note."""
    return 1 + secrets.randbits(62)
