"""Numbered steps that bring the database of an older hipo up to date, with a backup first."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

from pipeline.store.annotation_schema import add_annotations
from pipeline.store.answering_models import add_answering_models
from pipeline.store.foreign_objects import refuse_foreign
from pipeline.store.judgement_schema import add_judgements
from pipeline.store.later_schema import add_answers, add_batches, add_flow, add_gold_reviews
from pipeline.store.materials import add_materials
from pipeline.store.people_schema import move_people
from pipeline.store.queue_schema import add_queue_tally
from pipeline.store.review_schema import add_reviews
from pipeline.store.runner_up_schema import add_runner_up
from pipeline.store.schema import add_tracebacks, create_tables
from pipeline.store.sqlite import damaged
from scenarios.errors import UsageError
from scenarios.log import logger
from scenarios.text_file import typed_path

Migration = Callable[[sqlite3.Connection], None]
_log = logger("store")

MIGRATIONS: tuple[Migration, ...] = (
    create_tables,
    add_judgements,
    add_reviews,
    add_tracebacks,
    add_annotations,
    add_materials,
    move_people,
    add_answering_models,
    add_runner_up,
    add_gold_reviews,
    add_answers,
    add_flow,
    add_batches,
    add_queue_tally,
)
"""Step ``i`` leads from schema version ``i`` to ``i + 1``. Steps are only ever added."""


class OlderHipo(UsageError):
    """A database is to be brought up to date before it can be read."""


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the version of the schema a database has; 0 is an empty one."""
    row: tuple[int] = connection.execute("pragma user_version").fetchone()
    return row[0]


def check_version(
    connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration] = MIGRATIONS
) -> int:
    """Return the schema version of a database.

    Raises:
        UsageError: it is newer than this hipo knows, has lost its version, or holds what hipo did
            not make.
    """
    version = schema_version(connection)
    refuse_unnumbered(connection, path)
    if version > len(migrations):
        raise UsageError(
            f"{path} was written by a newer hipo (schema {version}; this one knows {len(migrations)})",
            "upgrade hipo (pip install -U hipo), or open the run with the version that wrote it",
        )
    refuse_foreign(connection, path, migrations[:version])
    return version


def refuse_unnumbered(connection: sqlite3.Connection, path: Path) -> None:
    """Do nothing to a database that says which schema it has, or has none yet.

    Raises:
        StoreUnusable: it holds tables, and no version that any hipo has written.
    """
    version = schema_version(connection)
    if version > 0:
        return
    tables = connection.execute("select 1 from sqlite_schema where type = 'table'").fetchone()
    if version < 0 or tables is not None:
        raise damaged(path, f"the version of its schema is {version}, though it holds tables")


def is_older(
    connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration] = MIGRATIONS
) -> bool:
    """Return whether a database has to be brought up to date; raises like :func:`check_version`."""
    return check_version(connection, path, migrations) < len(migrations)


def check_current(
    connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration] = MIGRATIONS
) -> None:
    """Do nothing if a database can be read as it is.

    Raises:
        OlderHipo: its schema is older than that of this hipo.
        UsageError: it is newer.
    """
    if is_older(connection, path, migrations):
        raise OlderHipo(
            f"{path} was written by an older hipo",
            f"bring it up to date with: hipo runs show {typed_path(path.parent)}",
        )


def migrate(
    connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration] = MIGRATIONS
) -> Path | None:
    """Bring a database to the newest schema, in one transaction: all of it or nothing.

    Returns:
        Where the copy of the database as it was lies; None where nothing had to be changed, or
        the database was empty.

    Raises:
        UsageError: the database is newer than this hipo knows.
    """
    version = check_version(connection, path, migrations)
    backup = None
    if 0 < version < len(migrations):
        backup = _back_up(connection, path, version)
    if version == len(migrations):
        return backup
    steps = (_create_newest,) if version == 0 and migrations == MIGRATIONS else migrations[version:]
    connection.execute("begin immediate")
    try:
        for step in steps:
            step(connection)
        connection.execute(f"pragma user_version = {len(migrations)}")
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise
    if backup is not None:
        fields = {"from": version, "to": len(migrations), "backup": str(backup)}
        _log.info("%s was brought up to date", path, extra={"fields": fields})
    return backup


def _create_newest(connection: sqlite3.Connection) -> None:
    """Make at once what all steps together make of an empty database: they take five times as long."""
    for statement in _newest():
        connection.execute(statement)


@cache
def _newest() -> tuple[str, ...]:
    """Return the statements that make an empty database of the newest schema, in their order."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        fresh.execute("begin")
        for step in MIGRATIONS:
            step(fresh)
        fresh.execute("commit")
        _, *statements, _ = fresh.iterdump()  # without "begin transaction" and "commit"
    return tuple(statements)


def _back_up(connection: sqlite3.Connection, path: Path, version: int) -> Path:
    """Copy the database beside itself, under a name nothing has yet, for the owner's eyes alone.

    Runs of hipo 0.1 hold what is personal about reviewers. What has the name is whole: a copy that
    is broken off is begun anew.
    """
    backup = path.with_name(f"{path.stem}.schema-{version}.backup.sqlite")
    copies = 1
    while backup.exists():
        copies += 1
        backup = path.with_name(f"{path.stem}.schema-{version}.backup-{copies}.sqlite")
    draft = backup.with_name(f"{backup.name}.new")
    draft.unlink(missing_ok=True)
    draft.touch(0o600)
    try:
        connection.execute("vacuum into ?", (str(draft),))
    except BaseException:
        for left in (draft, draft.with_name(f"{draft.name}-journal")):
            left.unlink(missing_ok=True)
        raise
    return draft.replace(backup)
