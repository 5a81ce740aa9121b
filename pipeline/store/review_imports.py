"""Answers that were given elsewhere, merged into a study: again and in parts, as files come in."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pipeline.store.assignments import NoteOf, read_labels, read_opinion, said, submit
from pipeline.store.people_database import Note
from scenarios.reviews import Assignment, AssignmentState, GivenLabel, Item, Opinion, ReviewStudy

MergeResult = Literal["added", "changed", "unchanged", "surplus", "closed"]

_NOTE = "select note_id from newest_reviews where assignment = ?"


@dataclass(frozen=True, slots=True)
class IncomingAnswer:
    """One annotator's answer to one item."""

    item: Item
    annotator: int
    """The number of who answered it."""
    labels: tuple[GivenLabel, ...]
    """The answers that are labels."""
    opinion: Opinion | None
    """The rest of the answer; None where the file says nothing of it."""


def own_words(opinion: Opinion | None) -> Note:
    """Return what an opinion says in somebody's own words, which is stored beside the run."""
    return Note() if opinion is None else Note(opinion.note, opinion.scenario_problem)


def merge_answer(
    connection: sqlite3.Connection,
    study: ReviewStudy,
    answer: IncomingAnswer,
    *,
    origin: str,
    note_id: int | None,
    note_of: NoteOf,
) -> MergeResult:
    """Store one annotator's answer to one item, inside the caller's transaction.

    What the file says replaces what was there, question by question; what it does not say stays.

    Args:
        connection: in a transaction that writes.
        study: the study.
        answer: what was answered, and by whom.
        origin: where it was given.
        note_id: number of the note of ``opinion``, stored already.
        note_of: returns the note of a number.

    Returns:
        ``surplus`` where the item has all its annotators already, and ``closed`` where an expert
        has settled it and the answer would change something: nothing is stored then.
    """
    now = time.time()
    item, annotator, opinion = answer.item, answer.annotator, answer.opinion
    row = connection.execute(
        "select seq, state, opened_at from assignments where item = ? and annotator = ?",
        (item.seq, annotator),
    ).fetchone()
    closed = connection.execute(
        "select 1 from adjudications where item = ?", (item.seq,)
    ).fetchone()
    if row is None or row[1] != "done":
        if closed:
            return "closed"
        if not _has_room(connection, study, item, annotator, now):
            return "surplus"
    before = () if row is None else read_labels(connection, row[0])
    merged = _merged(before, answer.labels)
    stored = None if row is None else read_opinion(connection, row[0], note_of)
    told = opinion or (stored[1] if stored else Opinion())
    if opinion is None and row is not None and stored is not None:
        (note_id,) = connection.execute(_NOTE, (row[0],)).fetchone()
    if row is not None and row[1] == "done" and stored is not None:
        if set(merged) == set(before) and said(told) == said(stored[1]):
            return "unchanged"
        if closed:
            return "closed"
    held = _held(connection, item, annotator, row=row, now=now, origin=origin)
    new_labels = None if set(merged) == set(before) else merged
    submit(connection, held, new_labels, told, now, note_id=note_id, note_of=note_of)
    return "added" if row is None or row[1] != "done" else "changed"


def _held(
    connection: sqlite3.Connection,
    item: Item,
    annotator: int,
    *,
    row: tuple[int, AssignmentState, float] | None,
    now: float,
    origin: str,
) -> Assignment:
    """Return the assignment of an annotator, made where there is none (``row``)."""
    if row is not None:
        return Assignment(row[0], item, annotator, row[1], now, row[2], None)
    added = connection.execute(
        "insert into assignments (item, annotator, state, leased_until, opened_at, origin)"
        " values (?, ?, 'open', ?, ?, ?)",
        (item.seq, annotator, now, now, origin),
    )
    return Assignment(added.lastrowid or 0, item, annotator, "open", now, now, None)


def _has_room(
    connection: sqlite3.Connection, study: ReviewStudy, item: Item, annotator: int, now: float
) -> bool:
    (live,) = connection.execute(
        "select count(*) from assignments where item = ? and annotator <> ?"
        " and (state = 'done' or leased_until > ?)",
        (item.seq, annotator, now),
    ).fetchone()
    return bool(live < study.per_item)


def _merged(before: Sequence[GivenLabel], now: Sequence[GivenLabel]) -> tuple[GivenLabel, ...]:
    labels = {(label.turn, label.dimension): label for label in (*before, *now)}
    return tuple(labels.values())
