"""Attention items: what an annotator made of lines whose labels are known, beside the run.

They tell about a person and not about a dialogue, so they are in ``people.sqlite`` and go with the
person: nothing that reads the run finds them, and whoever is erased takes them along.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Sequence
from typing import Any

import orjson

from pipeline.store.people import PeopleFile
from scenarios.reviews import AttentionAnswer, GivenLabel

_KEY = "attention_key"
_COLUMNS = "seq, code, study, line, state, opened_at, done_at, lead_s, labels, note, right_answers, chances"


class AttentionLog:
    """The attention items of every study of a run."""

    def __init__(self, file: PeopleFile) -> None:
        """Keep them in ``file``."""
        self._file = file

    def given(self, study: str, code: str | None = None) -> list[AttentionAnswer]:
        """Return what was given in a study, to one annotator or to all, in that order."""
        rows = self._file.reader.execute(
            f"select {_COLUMNS} from attention where study = ? and (? is null or code = ?)"  # noqa: S608 - constants only
            " order by seq",
            (study, code, code),
        )
        return [_answer(row) for row in rows]

    def key(self) -> bytes:
        """Return what the numbers of items on the page are hidden with, made at the first call."""
        self._file.writer.run(
            lambda c: c.execute(
                "insert into meta values (?, ?) on conflict do nothing",
                (_KEY, secrets.token_hex(16)),
            )
        )
        (text,) = self._file.reader.execute(
            "select value from meta where key = ?", (_KEY,)
        ).fetchone()
        return bytes.fromhex(text)

    async def give(self, study: str, code: str, line: str) -> None:
        """Give somebody a line, durable on return; nothing happens where they have it already."""
        row = (code, study, line, time.time())
        await self._file.writer.post(
            lambda c: c.execute(
                "insert into attention (code, study, line, state, opened_at, note)"
                " values (?, ?, ?, 'open', ?, '') on conflict do nothing",
                row,
            )
        )

    async def answer(
        self,
        number: int,
        labels: Sequence[GivenLabel],
        *,
        note: str,
        lead_s: float,
        right: int,
        chances: Sequence[float],
    ) -> None:
        """Store an answer, durable on return; another one takes its place.

        Args:
            number: of what was given.
            labels: what was answered.
            note: in the person's own words.
            lead_s: how long they looked at it, in seconds.
            right: how many of the questions that are known were answered as they should be.
            chances: for each of these questions how often a guess is right.
        """
        said = orjson.dumps([[label.turn, label.dimension, label.value] for label in labels])
        row = (
            time.time(),
            lead_s,
            said.decode(),
            note,
            right,
            orjson.dumps(list(chances)).decode(),
        )

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "update attention set state = 'done', done_at = coalesce(done_at, ?), lead_s = ?,"
                " labels = ?, note = ?, right_answers = ?, chances = ? where seq = ?",
                (*row, number),
            )
            connection.execute("delete from drafts where assignment = ?", (-number,))

        await self._file.writer.post(write)

    async def give_back(self, number: int) -> None:
        """Let go of what is not answered, durable on return."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "update attention set state = 'given_back' where seq = ? and state = 'open'",
                (number,),
            )
            connection.execute("delete from drafts where assignment = ?", (-number,))

        await self._file.writer.post(write)


def _answer(row: Sequence[Any]) -> AttentionAnswer:
    """Return an answer from ``_COLUMNS``."""
    seq, code, study, line, state, opened_at, done_at, lead_s, labels, note, right, chances = row
    said = [] if labels is None else orjson.loads(labels)
    given = (
        GivenLabel(turn, dimension, tuple(value) if isinstance(value, list) else value)
        for turn, dimension, value in said
    )
    return AttentionAnswer(
        seq=seq,
        code=code,
        study=study,
        line=line,
        state=state,
        opened_at=opened_at,
        done_at=done_at,
        lead_s=lead_s,
        labels=tuple(given),
        note=note,
        right=right or 0,
        chances=() if chances is None else tuple(orjson.loads(chances)),
    )
