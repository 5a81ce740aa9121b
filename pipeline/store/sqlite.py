"""Open the database of a run: durable and quick to write, or read-only.

The errors of SQLite become messages here, wherever a database is opened or read.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from pipeline.store.own_files import refuse_link, refuse_links_beside, right_to_write
from scenarios.errors import HipoError, NoRoom, UsageError
from scenarios.text_file import real_path, typed_path

DATABASE = "run.sqlite"
EVALUATION = "evaluation.sqlite"
BUSY_TIMEOUT_MS = 5_000
POLL_S = 0.002

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DENIED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_NO_ROOM = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
_UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)
_GARBAGE = (ValueError, TypeError, LookupError, AttributeError, OverflowError)
"""What parsing a row raises whose content is not what hipo stores."""


def connect(path: Path, kind: type[sqlite3.Connection] = sqlite3.Connection) -> sqlite3.Connection:
    """Open for writing: write-ahead log, every commit on disk before it is acknowledged.

    Raises:
        UsageError: the file, or one that SQLite keeps beside it, is a link.
    """
    refuse_link(path)
    refuse_links_beside(path)
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

    Raises:
        StoreUnusable: now, or by any statement later: it is locked, may not be read, or is damaged.
    """
    with explained(path):
        connection = sqlite3.connect(
            readonly_uri(path),
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            factory=_Reading,
        )
    connection.path = path
    connection.execute(f"pragma busy_timeout={BUSY_TIMEOUT_MS}")
    return connection


def readonly_uri(path: Path) -> str:
    """Return how a database is named to SQLite that is only to be read.

    Raises:
        UsageError: it is a pipe or a device; or a file that SQLite keeps beside it, and writes to
            even so, is a link.
    """
    real = real_path(path)
    if real.exists() and not (real.is_file() or real.is_dir()):  # SQLite would wait for a pipe
        raise UsageError(f"{path} is no regular file", "put a copy of the file in its place")
    refuse_links_beside(real)
    uri = f"file:{quote(str(real))}?mode=ro"
    if not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists():
        # An archive: nobody writes there, and the files that readers share cannot be made.
        uri += "&immutable=1"
    return uri


class _ReadingCursor(sqlite3.Cursor):
    """Names the file in whatever goes wrong, also where a page in the middle is damaged."""

    connection: _Reading

    # No context managers: these are called for every row, and several times a call to a model.

    def execute(self, sql: str, parameters: Any = (), /) -> Self:
        try:
            return super().execute(sql, parameters)
        except sqlite3.ProgrammingError:  # a fault of ours
            raise
        except _UNREADABLE as error:
            raise unusable(self.connection.path, error) from error

    def fetchone(self) -> Any:
        try:
            return super().fetchone()
        except sqlite3.ProgrammingError:  # a fault of ours
            raise
        except _UNREADABLE as error:
            raise unusable(self.connection.path, error) from error

    def fetchall(self) -> list[Any]:
        try:
            return super().fetchall()
        except sqlite3.ProgrammingError:  # a fault of ours
            raise
        except _UNREADABLE as error:
            raise unusable(self.connection.path, error) from error

    def __next__(self) -> Any:
        try:
            return super().__next__()
        except _UNREADABLE as error:
            raise unusable(self.connection.path, error) from error


class _Reading(sqlite3.Connection):
    """A connection that reads with :class:`_ReadingCursor`."""

    path: Path

    def cursor(self, factory: Any = None) -> Any:
        return super().cursor(_ReadingCursor if factory is None else factory)

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        return super().cursor(_ReadingCursor).execute(sql, parameters)


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
                    if not is_busy(error) or time.monotonic() > give_up:
                        raise
                time.sleep(POLL_S)
        finally:
            super().execute(f"pragma busy_timeout={BUSY_TIMEOUT_MS}")


class StoreUnusable(UsageError):
    """A database cannot be opened or read as it is; nothing was changed."""


class StoreDamaged(StoreUnusable):
    """What a database holds is not what hipo wrote."""


def primary_code(error: Exception) -> int:
    """Return the primary result code of SQLite; 0 where the error is Python's own."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection holds what is needed."""
    return primary_code(error) in _BUSY


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file is not what it was when it was written; a table may be gone."""
    return primary_code(error) in {*_DAMAGED, sqlite3.SQLITE_ERROR}


def damaged(path: Path, what: str) -> StoreDamaged:
    """Return the error for a database whose content is not what hipo wrote."""
    return StoreDamaged(f"{path} is damaged: {what}", way_out(path))


def way_out(path: Path) -> str:
    """Return what the user can do about a database that is damaged."""
    if path.name != DATABASE:
        return "put a good copy of the file in its place, or move it away"
    run = typed_path(path.parent)
    return (
        f"hipo runs check {run} says what is wrong; "
        f"hipo runs repair {run} saves what can be read into a new run"
    )


def unusable(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> HipoError:
    """Return what an error says that was met while a database was opened or read."""
    code = primary_code(error)
    if path.is_dir():
        return StoreUnusable(
            f"{path} is a folder, not a database",
            "move it away, and put the file that was there back in its place",
        )
    if code in _BUSY:
        return StoreUnusable(
            f"{path} is locked by another process",
            "end what holds it (a database browser, a backup), then the same command",
        )
    if code in _DENIED:
        return StoreUnusable(f"{path} {_denied(path)}", right_to_write(path, "work on a copy"))
    if code in _NO_ROOM:
        return NoRoom(f"{path} cannot be used: {error}", no_room(path))
    return damaged(path, str(error))


def no_room(path: Path) -> str:
    """Return what the user can do where a disk is full, or fails."""
    try:
        free = shutil.disk_usage(path.parent).free
    except OSError:
        return f"look after the disk of {path.parent}, then the same command"
    return f"free some space on the disk of {path.parent} ({free / 1e6:.1f} MB left), then the same command"


def why_not_written(path: Path, error: sqlite3.Error) -> str:
    """Return what the user can do about a database that could not be written in mid-run."""
    code = primary_code(error)
    if code in _BUSY:
        return "end what locks it (a database browser, a backup), then the same command"
    if code in _DENIED:
        return right_to_write(path, "work on a copy")
    return no_room(path)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Translate the errors of SQLite while a database is opened.

    Raises:
        StoreUnusable: the database is locked, may not be used, or is damaged.
        NoRoom: the disk is full, or fails.
    """
    try:
        yield
    except sqlite3.ProgrammingError:  # a fault of ours
        raise
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        # The latter where SQLite quotes damaged bytes in its message.
        raise unusable(path, error) from error


@contextmanager
def parsing(source: sqlite3.Connection | Path, what: str) -> Iterator[None]:
    """Translate what is raised while stored content is parsed.

    Args:
        source: the database, or a connection to it.
        what: what is being parsed, e.g. ``the configuration``.

    Raises:
        StoreUnusable: the content is not what hipo stores.
    """
    try:
        yield
    except StoreUnusable:
        raise
    except (UsageError, *_GARBAGE) as error:
        path = source if isinstance(source, Path) else path_of(source)
        said = str(error).partition("\n")[0]
        raise damaged(path, f"{what} cannot be read: {type(error).__name__}: {said}") from error


def database_bytes(folder: Path) -> int:
    """Return what the database of a run takes on the disk, its log included."""
    size = 0
    for name in (DATABASE, f"{DATABASE}-wal"):
        with suppress(FileNotFoundError):  # the log goes when the last connection is closed
            size += (folder / name).stat().st_size
    return size


def path_of(connection: sqlite3.Connection) -> Path:
    """Return the file a connection was opened with."""
    if isinstance(connection, _Reading):
        return connection.path
    (name,) = connection.execute(
        "select file from pragma_database_list where name = 'main'"
    ).fetchone()
    return Path(name)


def _denied(path: Path) -> str:
    try:
        path.open("rb").close()
    except OSError as error:
        return f"cannot be read: {(error.strerror or str(error)).lower()}"
    return "cannot be written"
