"""An index of the words of a run, in a file of its own beside it; the run itself is only read.

The file is made anew where it does not fit the run: where the run is another one, or has lost what
was indexed, or where the file holds what hipo does not write. It holds which word stands in which
dialogue, and can be deleted at any time.
"""

from __future__ import annotations

import re
import sqlite3
import tempfile
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from pipeline.store.foreign_objects import refuse_foreign
from pipeline.store.own_files import refuse_link, refuse_links_beside
from pipeline.store.queries.browsing import BrowsingReader
from pipeline.store.sqlite import StoreDamaged, explained
from scenarios.log import logger

FILE = "view-words.sqlite"
FORMAT = 1
STEP = 5_000
"""Dialogues indexed in one transaction."""
_BUSY_MS = 2_000
# Written without spaces between words: every character is a word of its own, and words are phrases.
_IDEOGRAPHS = re.compile(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")
_WISH = re.compile(r'"([^"]*)"?|(\S+)')
_TABLES = (
    "create table state (name text primary key, value text not null) strict, without rowid",
    "create table failed (dialogue integer primary key) strict",
    "create virtual table words using fts5(text, content='', tokenize='unicode61')",
)
_log = logger("view")


class WordIndex:
    """Finds the dialogues in which words are said; made and filled by one thread, read by others."""

    def __init__(self, folder: Path, reader: BrowsingReader) -> None:
        """Open the index of a run, or begin one.

        Args:
            folder: of the run. Where nothing can be written there, the index lives as long as this.
            reader: of the run, for the thread that fills the index.

        Raises:
            UsageError: the file is a link.
        """
        self._reader = reader
        self._spare: tempfile.TemporaryDirectory[str] | None = None
        self._path = folder / FILE
        try:
            self._connection = self._opened()
        except sqlite3.Error as error:
            _log.info("%s cannot be used (%s); the index is made elsewhere", self._path, error)
            self._spare = tempfile.TemporaryDirectory(prefix="hipo-view-")
            self._path = Path(self._spare.name) / FILE
            self._connection = self._opened()
        self.until = self._state().get("until", 0)
        """The number of the last dialogue that is indexed."""

    @property
    def path(self) -> Path:
        """Where the index lies."""
        return self._path

    def close(self) -> None:
        """End; an index that could not be kept is deleted."""
        self._connection.close()
        if self._spare is not None:
            self._spare.cleanup()

    def step(self, until: int) -> bool:
        """Index some more dialogues of those up to a number; False where all of them are.

        Another process may fill the same index: each step begins where the file says.

        Raises:
            sqlite3.Error: the file cannot be written, or another process is writing it.
        """
        connection = self._connection
        connection.execute("begin immediate")
        try:
            state = self._state()
            start = state.get("until", 0)
            again = self._played_again(until)
            numbers = self._reader.generated(start, until)[:STEP]
            last = numbers[-1] if len(numbers) == STEP else max(until, start)
            for number in self._reader.failed(start, last):
                connection.execute("insert or ignore into failed values (?)", (number,))
            self._insert([*again, *numbers])
            # A dialogue is never overwritten, a failure may be: only the former tells runs apart.
            newest = numbers[-1] if numbers else state.get("newest", 0)
            if last != start or again:
                self._set_state(
                    created=self._reader.created(),
                    until=last,
                    newest=newest,
                    finished_at=self._reader.finished_at(newest),
                )
            connection.execute("commit")
        except BaseException:
            connection.execute("rollback")
            raise
        self.until = last
        return last < until

    def search(self, wish: str) -> NDArray[np.int64] | None:
        """Return the numbers of dialogues in which all words of a wish are said, ascending.

        ``"in quotes"`` stands for words next to each other, ``odo*`` for how a word begins.

        Returns:
            The numbers; None where the wish holds no word.

        Raises:
            StoreUnusable: the file is locked or damaged.
        """
        asked = match_of(wish)
        if not asked:
            return None
        # One text of all numbers: a Python object each would take several times as long.
        with explained(self._path), closing(_connected(self._path)) as connection:
            (listed,) = connection.execute(
                "select group_concat(rowid) from words where words match ?", (asked,)
            ).fetchone()
        numbers = np.fromstring(listed or "", np.int64, sep=",")
        numbers.sort(kind="stable")
        return numbers

    def _opened(self) -> sqlite3.Connection:
        """Return a connection to an index that fits the run."""
        try:
            connection = self._begun()
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in (
                sqlite3.SQLITE_NOTADB,
                sqlite3.SQLITE_CORRUPT,
            ):
                raise
            connection = None
        if connection is not None:
            self._connection = connection
            if self._fits():
                return connection
            connection.close()
        _log.info("%s does not fit the run and is made anew", self._path)
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                self._path.with_name(self._path.name + suffix).unlink()
        return self._begun()

    def _begun(self) -> sqlite3.Connection:
        connection = _connected(self._path)
        try:
            # Nothing is lost that cannot be made again, so nothing is waited for.
            for pragma in ("journal_mode=wal", "synchronous=off"):
                connection.execute(f"pragma {pragma}")
            connection.execute("begin immediate")
            if not connection.execute("select 1 from sqlite_schema").fetchone():
                _make_tables(connection)
                connection.execute(f"pragma user_version = {FORMAT}")
            connection.execute("commit")
        except BaseException:
            connection.close()
            raise
        return connection

    def _fits(self) -> bool:
        """Whether what is indexed is what the run holds under the same numbers."""
        (version,) = self._connection.execute("pragma user_version").fetchone()
        if version != FORMAT:
            return False
        try:
            refuse_foreign(self._connection, self._path, (_make_tables,))
        except StoreDamaged:
            return False
        try:
            state = self._state()
            return not state or self._is_of_run(**state)
        except (ValueError, TypeError):
            return False

    def _is_of_run(self, created: object, until: int, newest: int, finished_at: object) -> bool:
        """Whether the run has what was indexed; takes the whole state, and raises where it is odd."""
        return (
            type(until) is type(newest) is int
            and 0 <= newest <= until <= self._reader.marks().dialogues
            and created == self._reader.created()
            and finished_at == self._reader.finished_at(newest)
        )

    def _played_again(self, until: int) -> list[int]:
        """Return failures that have become dialogues, and forget that they failed."""
        failed = [n for (n,) in self._connection.execute("select dialogue from failed")]
        again = [
            row.seq
            for row in self._reader.played_again(failed, float("inf"))
            if row.status == "generated" and row.seq <= until
        ]
        self._connection.executemany("delete from failed where dialogue = ?", [(n,) for n in again])
        return again

    def _insert(self, numbers: list[int]) -> None:
        said: dict[int, list[str]] = {}
        for number, text in self._reader.texts(numbers):
            said.setdefault(number, []).append(text)
        self._connection.executemany(
            "insert into words (rowid, text) values (?, ?)",
            [(number, apart("\n".join(texts))) for number, texts in said.items()],
        )

    def _state(self) -> dict[str, Any]:
        rows = self._connection.execute("select name, value from state").fetchall()
        return {name: orjson.loads(value) for name, value in rows}

    def _set_state(self, **values: object) -> None:
        self._connection.executemany(
            "insert or replace into state values (?, ?)",
            [(name, orjson.dumps(value).decode()) for name, value in values.items()],
        )


def match_of(wish: str) -> str:
    """Return a wish in the language of the index, in which nothing of it can be a command."""
    parts = []
    for quoted, word in _WISH.findall(wish):
        text, prefix = quoted or word, ""
        if word.endswith("*"):
            text, prefix = word.rstrip("*"), "*"
        if re.search(r"\w", text):
            plain = apart(text).replace('"', " ").replace("\0", " ")
            parts.append(f'"{plain}"{prefix}')
    return " ".join(parts)


def apart(text: str) -> str:
    """Return a text with a space around every ideograph."""
    return _IDEOGRAPHS.sub(r" \1 ", text)


def _make_tables(connection: sqlite3.Connection) -> None:
    for statement in _TABLES:
        connection.execute(statement)


def _connected(path: Path) -> sqlite3.Connection:
    refuse_link(path)
    refuse_links_beside(path)
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute(f"pragma busy_timeout={_BUSY_MS}")
    return connection
