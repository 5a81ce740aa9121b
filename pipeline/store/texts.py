"""Prompts taken apart into sections, each stored once: what many calls share costs one row."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterable, Sequence

import orjson

from pipeline.store.sqlite import parsing

Messages = Sequence[tuple[str, str]]
"""(role, content) pairs."""

_SECTION = re.compile(r"^(?=# )", re.MULTILINE)
REMEMBERED = 20_000


def sections(content: str) -> list[str]:
    """Split a message before every line that starts with ``# ``; joined, they are the message."""
    return [part for part in _SECTION.split(content) if part]


class TextTable:
    """Stores texts by hash and remembers the numbers of the latest; lives in the writer's thread."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def forget(self) -> None:
        """Forget every number: a transaction that handed some out was rolled back."""
        self._known.clear()

    def number(self, connection: sqlite3.Connection, text: str) -> int:
        """Return the number of a text, storing it if it is new."""
        known = self._known.get(text)
        if known is not None:
            return known
        digest = hashlib.sha256(text.encode()).digest()[:16]
        added = connection.execute(
            "insert into texts (hash, text) values (?, ?) on conflict do nothing", (digest, text)
        )
        if added.rowcount:
            number = added.lastrowid or 0
        else:
            (number,) = connection.execute(
                "select seq from texts where hash = ?", (digest,)
            ).fetchone()
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[text] = number
        return number

    def layout(self, connection: sqlite3.Connection, messages: Messages) -> str:
        """Store the sections of a prompt and return how it is put together again, as JSON."""
        parts = [
            [role, [self.number(connection, part) for part in sections(content)]]
            for role, content in messages
        ]
        return orjson.dumps(parts).decode()


class PromptComposer:
    """Puts prompts together again, and remembers the texts it has read: most prompts share some."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Read with this connection."""
        self._connection = connection
        self._texts: dict[int, str] = {}

    def compose(self, layout: str) -> tuple[tuple[str, str], ...]:
        """Return the (role, content) pairs that :meth:`TextTable.layout` was given."""
        with parsing(self._connection, "a prompt"):
            return self._composed(orjson.loads(layout))

    def _composed(self, parts: list[tuple[str, list[int]]]) -> tuple[tuple[str, str], ...]:
        numbers = {number for _, numbers in parts for number in numbers}
        unread = numbers - self._texts.keys()
        if len(self._texts) + len(unread) > REMEMBERED:
            self._texts.clear()
            unread = numbers
        if unread:
            self._texts |= self._read(unread)
        texts = self._texts
        return tuple((role, "".join(texts[n] for n in numbers)) for role, numbers in parts)

    def _read(self, numbers: Iterable[int]) -> dict[int, str]:
        rows = self._connection.execute(
            "select seq, text from texts where seq in (select value from json_each(?))",
            (orjson.dumps(sorted(numbers)).decode(),),
        )
        return dict(rows.fetchall())
