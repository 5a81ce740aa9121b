"""Prompts taken apart into sections, each stored once: what many calls share costs one row."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from functools import lru_cache

import orjson

from pipeline.store.many_rows import insert_rows, next_number, rows_with
from pipeline.store.sqlite import parsing

Parts = Sequence[tuple[str, Sequence[str]]]
"""The messages of a prompt, each as its role and its sections (:func:`sections`)."""

_HEADING = "\n# "
REMEMBERED = 20_000
REMEMBERED_SYSTEMS = 64
"""System messages that are kept taken apart; 10 kB each, as a rule."""


def sections(content: str) -> list[str]:
    """Split a message before every line that starts with ``# ``; joined, they are the message."""
    first, *others = content.split(_HEADING)
    if not others:
        return [content] if content else []
    *between, last = others
    return [f"{first}\n", *(f"# {part}\n" for part in between), f"# {last}"]


def parted(messages: Iterable[tuple[str, str]]) -> Parts:
    """Take the (role, content) pairs of a prompt apart."""
    return tuple(
        (role, _system_sections(content) if role == "system" else sections(content))
        for role, content in messages
    )


@lru_cache(maxsize=REMEMBERED_SYSTEMS)
def _system_sections(content: str) -> tuple[str, ...]:
    """A run has a handful of system messages, which are longer than all else of its prompts."""
    return tuple(sections(content))


class TextTable:
    """Stores texts by hash and remembers the numbers of the latest; lives in the writer's thread."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def forget(self) -> None:
        """Forget every number: a transaction that handed some out was rolled back."""
        self._known.clear()

    def layouts(self, connection: sqlite3.Connection, prompts: Sequence[Parts]) -> list[str]:
        """Store the sections of prompts; return how each is put together again, as JSON."""
        texts = {text: None for parts in prompts for _, some in parts for text in some}
        new = [text for text in texts if text not in self._known]
        if len(self._known) + len(new) > REMEMBERED:
            self._known.clear()
            new = list(texts)
        if new:
            self._store(connection, new)
        known = self._known
        return [
            orjson.dumps([[role, [known[text] for text in some]] for role, some in parts]).decode()
            for parts in prompts
        ]

    def _store(self, connection: sqlite3.Connection, texts: Sequence[str]) -> None:
        """Learn the numbers of texts, storing those that are new to the run."""
        digests = [hashlib.sha256(text.encode()).digest()[:16] for text in texts]
        numbers: dict[bytes, int] = dict(
            rows_with(connection, "select hash, seq from texts where hash in", digests)
        )
        number = next_number(connection, "texts")
        rows = []
        for digest, text in zip(digests, texts, strict=True):
            if digest not in numbers:
                numbers[digest] = number
                rows.append((number, digest, text))
                number += 1
            self._known[text] = numbers[digest]
        insert_rows(connection, "texts (seq, hash, text)", rows)


class PromptComposer:
    """Puts prompts together again, and remembers the texts it has read: most prompts share some."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Read with this connection."""
        self._connection = connection
        self._texts: dict[int, str] = {}

    def compose(self, layout: str) -> tuple[tuple[str, str], ...]:
        """Return the (role, content) pairs of a prompt that :meth:`TextTable.layouts` was given."""
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
