"""Open a run to read from it, and no more of hipo than that takes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pipeline.store.config_epochs import has_begun
from pipeline.store.migrations import check_current, refuse_unnumbered
from pipeline.store.sqlite import DATABASE, StoreDamaged, connect_readonly, damaged
from scenarios.errors import UsageError
from scenarios.text_file import typed_path

RECIPE = "run.yaml"


def run_exists(folder: Path) -> bool:
    """Whether ``folder`` holds a run.

    Raises:
        StoreUnusable: its ``run.sqlite`` cannot be read, or has lost what it held.
    """
    path = folder / DATABASE
    if path.exists():
        with closing(connect_readonly(path)) as connection:
            if has_begun(connection):
                return True
            refuse_unnumbered(connection, path)
    if (folder / RECIPE).exists():  # it is written when the run has begun
        raise _emptied(folder)
    return False


def refuse_missing(folder: Path) -> None:
    """Do nothing where ``folder`` holds a run.

    Raises:
        UsageError: it holds none, or what :func:`run_exists` raises.
    """
    if not run_exists(folder):
        raise UsageError(
            f"there is no run in {folder}", f"hipo generate -o {typed_path(folder)} begins one"
        )


def connect_run(folder: Path) -> sqlite3.Connection:
    """Open the database of a run to read it.

    Raises:
        UsageError: there is no run, it was written by another version of hipo, or it is damaged.
    """
    refuse_missing(folder)
    path = folder / DATABASE
    connection = connect_readonly(path)
    try:
        check_current(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def open_snapshot(folder: Path) -> Iterator[sqlite3.Connection]:
    """Give the database of a run as it is at the first reading; who writes meanwhile is not held up.

    Raises:
        UsageError: the run was written by another version of hipo.
    """
    path = folder / DATABASE
    with closing(connect_readonly(path)) as connection:
        check_current(connection, path)
        connection.execute("begin")
        yield connection
        connection.execute("commit")


def _emptied(folder: Path) -> StoreDamaged:
    """Return the error for a folder with the recipe of a run, and nothing of the run itself."""
    path = folder / DATABASE
    if path.exists() and path.stat().st_size:
        return damaged(path, "it does not say which run it is")
    what = "is empty" if path.exists() else "is gone"
    return StoreDamaged(
        f"{path} {what}, and with it everything that was generated and paid for",
        f"put a copy of it back; to begin anew and pay again, delete {folder / RECIPE} as well",
    )
