"""The one thread that writes: it gathers writes for a few milliseconds and commits them at once.

What is written most is also executed together: see :meth:`Writer.post_row`.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from pipeline.stopping.stop import STORE, MustStop
from pipeline.store.sqlite import (
    is_busy,
    is_damage,
    path_of,
    unusable,
    why_not_written,
)
from scenarios.log import logger

T = TypeVar("T")
Write = Callable[[sqlite3.Connection], T]
"""Executes the statements of one write; may be called again after a rollback, so it keeps no state
but in the database."""
WriteAll = Callable[[sqlite3.Connection, Sequence[T]], None]
"""Executes several writes of one kind with few statements; like :data:`Write` otherwise."""

GATHER_S = 0.005
MOST = 2_000
PATIENCE_S = 60.0
"""How long another process may hold the database before the run is stopped."""

_log = logger("store")


class StoreFailed(MustStop):
    """The database of the run could not be written; what was acknowledged before is safe."""

    def __init__(self, reason: str, advice: str = "") -> None:
        """Say why, and what the user can do."""
        super().__init__(reason, STORE, advice)


@dataclass(slots=True)
class _Item:
    """One write under way, and its outcome."""

    write: Write[Any] | None
    future: Future[Any] | asyncio.Future[Any] | None
    loop: asyncio.AbstractEventLoop | None = None
    write_all: WriteAll[Any] | None = None
    """Instead of ``write``: writes ``content`` and that of others."""
    content: Any = None
    result: Any = None
    error: Exception | None = field(default=None)

    def execute(self, connection: sqlite3.Connection) -> None:
        """Execute it by itself."""
        if self.write_all is not None:
            self.write_all(connection, [self.content])
        elif self.write is not None:
            self.result = self.write(connection)

    def resolve(self) -> None:
        """Give the waiter the outcome; one that was cancelled gets none, but its write stands."""
        if self.future is None or self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class Writer:
    """Commits writes in groups: one transaction and one sync to disk for many of them.

    The thread blocks for one write, waits 5 ms for others, takes at most 2,000, and commits. A
    write that fails is undone alone; the others of its group are committed all the same.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        most: int = MOST,
        patience_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
        rolled_back: Callable[[], None] = lambda: None,
    ) -> None:
        """Start the thread; the connection is its own from now on.

        Args:
            connection: in autocommit mode (``isolation_level=None``).
            most: largest number of writes in one transaction.
            patience_s: how long another process that holds the database is waited for, in seconds,
                on top of the time-out of the connection.
            clock: seconds that never go back.
            rolled_back: called in the thread after anything was undone.
        """
        self._connection = connection
        self._path = path_of(connection)
        self._patience_s = patience_s
        self._clock = clock
        self._most = most
        self._rolled_back = rolled_back
        self._queue: SimpleQueue[_Item | None] = SimpleQueue()
        self._gate = threading.Lock()
        self._closed = False
        self._gave_up = False
        """Whether the last group waited for the database in vain: the next does not wait as long."""
        self._thread = threading.Thread(target=self._work, name="hipo-store", daemon=True)
        self._thread.start()

    def post(self, write: Write[T]) -> asyncio.Future[T]:
        """Queue a write from a coroutine; it is durable when the future resolves.

        The write is queued when this returns: cancelling the waiter does not take it back.

        Raises:
            StoreFailed: the store has been closed.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._put(_Item(write, future, loop))
        return future

    def post_row(self, write_all: WriteAll[T], content: T) -> asyncio.Future[None]:
        """Queue a write from a coroutine that is executed with others of its kind.

        It is durable when the future resolves. In its transaction it may come before writes that
        were posted earlier: nothing may be posted so that builds on a write not yet durable.

        Args:
            write_all: the same object for all writes of a kind.
            content: what this one writes.

        Raises:
            StoreFailed: the store has been closed.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        self._put(_Item(None, future, loop, write_all, content))
        return future

    def send(self, write: Write[object]) -> None:
        """Queue a write without waiting for it; :meth:`close` still brings it to disk."""
        self._put(_Item(write, None))

    def run(self, write: Write[T]) -> T:
        """Write from ordinary code and block until it is durable."""
        return self.run_all([write])[0]

    def run_all(self, writes: Iterable[Write[T]]) -> list[T]:
        """Do the same with several, in their order and with few transactions."""
        futures: list[Future[T]] = []
        for write in writes:
            futures.append(Future())
            self._put(_Item(write, futures[-1]))
        return [future.result() for future in futures]

    def close(self) -> None:
        """Commit what is queued, end the thread and close the connection; harmless when repeated."""
        with self._gate:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()
        self._connection.close()

    def _put(self, item: _Item) -> None:
        with self._gate:
            if self._closed:
                raise StoreFailed("the store of this run has been closed")
            self._queue.put(item)

    def _work(self) -> None:
        closing = False
        while not closing:
            first = self._queue.get()
            if first is None:
                return
            if self._queue.empty():
                time.sleep(GATHER_S)
            items = [first]
            while len(items) < self._most:
                try:
                    item = self._queue.get_nowait()
                except Empty:
                    break
                if item is None:
                    closing = True
                    break
                items.append(item)
            self._commit(items)
            _resolve(items)

    def _commit(self, items: Sequence[_Item]) -> None:
        """Commit all together, or, where one of them fails, the others without it."""
        try:
            self._begin()
        except sqlite3.Error as error:  # no transaction, no write
            self._undo()
            for item in items:
                item.error = self._explained(error)
            return
        try:
            for write_all, contents in _alike(items).items():
                write_all(self._connection, contents)
            for item in items:
                if item.write is not None:
                    item.result = item.write(self._connection)
            self._connection.execute("commit")
        except Exception as error:  # noqa: BLE001 - a write may fail with anything; its caller gets it
            self._undo()
            if len(items) == 1:
                items[0].error = self._explained(error)
            else:
                self._commit_singly(items)

    def _commit_singly(self, items: Sequence[_Item]) -> None:
        try:
            self._begin()
            for item in items:
                self._connection.execute("savepoint one")
                try:
                    item.execute(self._connection)
                except Exception as error:
                    item.error = self._explained(error)
                    if not self._connection.in_transaction:
                        raise
                    self._connection.execute("rollback to one")
                    self._rolled_back()
                self._connection.execute("release one")
            self._connection.execute("commit")
        except Exception as error:  # noqa: BLE001 - e.g. the disk is full: no write of the group succeeded
            self._undo()
            for item in items:
                item.error = item.error or self._explained(error)

    def _begin(self) -> None:
        """Begin a transaction; whoever holds the database is waited for, within reason, once."""
        give_up: float | None = None
        while True:
            try:
                self._connection.execute("begin immediate")
            except sqlite3.OperationalError as error:
                if not is_busy(error) or self._patience_s <= 0 or self._gave_up:
                    raise
                if give_up is None:
                    give_up = self._clock() + self._patience_s
                    _log.warning(
                        "%s is locked by another process; waiting up to %.0f s for it",
                        self._path,
                        self._patience_s,
                    )
                elif self._clock() >= give_up:
                    self._gave_up = True
                    raise
            else:
                self._gave_up = False
                return

    def _undo(self) -> None:
        with suppress(sqlite3.Error):  # a broken disk: the callers learn of the first error
            if self._connection.in_transaction:
                self._connection.execute("rollback")
        self._rolled_back()

    def _explained(self, error: Exception) -> Exception:
        """Turn trouble of the database (disk full, locked, damaged) into what ends a run."""
        if isinstance(error, sqlite3.DatabaseError) and is_damage(error):
            explained: Exception = unusable(self._path, error)
        elif isinstance(error, sqlite3.OperationalError):
            reason = f"the run's database {self._path} could not be written: {error}"
            explained = StoreFailed(reason, why_not_written(self._path, error))
        else:
            return error
        explained.__cause__ = error
        return explained


def _alike(items: Sequence[_Item]) -> dict[WriteAll[Any], list[Any]]:
    """Return what is written together, by what writes it."""
    alike: dict[WriteAll[Any], list[Any]] = {}
    for item in items:
        if item.write_all is not None:
            alike.setdefault(item.write_all, []).append(item.content)
    return alike


def required(writer: Writer | None) -> Writer:
    """Return the writer of a run that was opened for writing.

    Raises:
        ValueError: it was opened for reading only, or is closed.
    """
    if writer is None:
        raise ValueError("this run is closed, or was opened for reading only")
    return writer


def _resolve(items: Sequence[_Item]) -> None:
    """Wake every waiter, with one call into each event loop."""
    loops: dict[asyncio.AbstractEventLoop, list[_Item]] = {}
    for item in items:
        if item.loop is None:
            item.resolve()
        else:
            loops.setdefault(item.loop, []).append(item)
    for loop, waiting in loops.items():
        with suppress(RuntimeError):  # the loop is closed: nobody waits there any more
            loop.call_soon_threadsafe(_resolve_all, waiting)


def _resolve_all(items: Sequence[_Item]) -> None:
    for item in items:
        item.resolve()
