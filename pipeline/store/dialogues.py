"""How every case ended: a dialogue, or a failure with its reason; each is one transaction."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pipeline.store.annotation_schema import DECLARED_SOURCE, WANTED_SOURCE
from pipeline.store.annotations import LabelRow, LabelSet, LabelSource, add_labels, add_pass
from pipeline.store.many_rows import insert_rows, next_number, numbers_of, rows_with
from pipeline.store.traces import Stored, stored_label, trace_json
from pipeline.store.verifications import verified_labels
from pipeline.store.writer import Writer, required
from scenarios.case import Case
from scenarios.dialogue import Dialogue

_EARLIER = """
    select seq, status from dialogues where case_seq = ? and arm_seq = ?"""
_KEEP_FAILURE = """
    insert into failures
    select seq, retry_epoch, code, reason, config_epoch, finished_at from dialogues where seq = ?
    on conflict do nothing"""
_REPLACE = """
    update dialogues set status = ?, code = ?, reason = ?, retry_epoch = ?, config_epoch = ?,
        finished_at = ? where seq = ?"""
_ENDED = "select case_seq, arm_seq from dialogues where case_seq in"
_ENDING_COLUMNS = "status, code, reason, retry_epoch, config_epoch, finished_at, case_seq, arm_seq"
_INSERT = f"insert into dialogues ({_ENDING_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - constants only
_INSERT_TRACEBACK = "insert into tracebacks values (?, 'generation', ?, ?) on conflict do nothing"


class _Finished(NamedTuple):
    """A dialogue as its rows."""

    case: str
    arm: str
    ending: tuple[object, ...]
    at: float
    """When it was finished: Unix time in seconds."""
    turns: list[tuple[object, ...]]
    traces: list[tuple[object, ...]]
    wanted: list[LabelRow]
    declared: list[LabelRow]
    verified: dict[LabelSource, list[LabelRow]]


class DialogueLog:
    """Stores outcomes; a dialogue that is there is never overwritten."""

    def __init__(self, writer: Writer | None, config_epoch: Callable[[], int]) -> None:
        """Write with ``writer`` under the configuration in force at that moment."""
        self._writer = writer
        self._config_epoch = config_epoch

    async def finish(self, dialogue: Dialogue, epoch: int) -> None:
        """Store a dialogue with its turns, labels and traces; durable on return.

        It replaces a failure of the same case and arm, whose reason is kept as history, but never
        a dialogue.

        Raises:
            ValueError: the case or the arm has not been made known.
        """
        now = time.time()
        wanted, declared = _labels(dialogue)
        finished = _Finished(
            dialogue.case.id,
            dialogue.arm,
            ("generated", None, None, epoch, self._config_epoch(), now),
            now,
            *_rows(dialogue),
            wanted,
            declared,
            verified_labels(dialogue),
        )
        await required(self._writer).post_row(_finish, finished)

    async def fail(
        self, case: Case, arm: str, code: str, reason: str, epoch: int, *, traceback: str = ""
    ) -> None:
        """Store that a case failed, and why; durable on return.

        An earlier failure is kept as history; a dialogue that is there stays. ``traceback`` says
        where an unforeseen exception was raised.

        Raises:
            ValueError: the case or the arm has not been made known.
        """
        ending = ("failed", code, reason, epoch, self._config_epoch(), time.time())

        def write(connection: sqlite3.Connection) -> None:
            seq = _store_ending(connection, case.id, arm, ending)
            if seq is not None and traceback:
                connection.execute(_INSERT_TRACEBACK, (seq, epoch, traceback))

        await required(self._writer).post(write)


def _finish(connection: sqlite3.Connection, finished: Sequence[_Finished]) -> None:
    """Store dialogues; where one is there already, it stays."""
    cases = numbers_of(connection, "cases", [one.case for one in finished])
    arms = numbers_of(connection, "arms", list({one.arm for one in finished}))
    ended = set(rows_with(connection, _ENDED, list(cases.values())))
    number = next_number(connection, "dialogues")
    endings: list[tuple[object, ...]] = []
    stored: list[tuple[int, _Finished]] = []
    for one in finished:
        key = (cases.get(one.case), arms.get(one.arm))
        if None in key or key in ended:
            earlier = _store_ending(connection, one.case, one.arm, one.ending)
            if earlier is not None:
                stored.append((earlier, one))
        else:
            endings.append((number, *one.ending, *key))
            stored.append((number, one))
            number += 1
    insert_rows(connection, f"dialogues (seq, {_ENDING_COLUMNS})", endings)
    _add_contents(connection, stored)


def _add_contents(connection: sqlite3.Connection, stored: Sequence[tuple[int, _Finished]]) -> None:
    """Store turns, labels and traces of dialogues, each with its number."""
    turns = [(seq, *row) for seq, one in stored for row in one.turns]
    insert_rows(
        connection, "turns (dialogue, turn, role, kind, text, declared_goal, labelled)", turns
    )
    labels = [
        LabelSet(seq, source, rows)
        for seq, one in stored
        for source, rows in ((WANTED_SOURCE, one.wanted), (DECLARED_SOURCE, one.declared))
    ]
    add_labels(connection, labels)
    traces = [(seq, *row) for seq, one in stored for row in one.traces]
    insert_rows(connection, "traces", traces)
    for seq, one in stored:
        for source, rows in one.verified.items():
            add_pass(connection, seq, source, rows, at=one.at)


def _store_ending(
    connection: sqlite3.Connection, case: str, arm: str, ending: tuple[object, ...]
) -> int | None:
    """Insert or replace the row of an outcome; None if a dialogue is there already."""
    key = connection.execute(
        "select (select seq from cases where id = ?), (select seq from arms where id = ?)",
        (case, arm),
    ).fetchone()
    if None in key:
        raise ValueError(f"case {case} or arm {arm} has not been added to the run")
    earlier = connection.execute(_EARLIER, key).fetchone()
    if earlier is None:
        return connection.execute(_INSERT, (*ending, *key)).lastrowid
    seq, status = earlier
    if status == "generated":
        return None
    connection.execute(_KEEP_FAILURE, (seq,))
    connection.execute(_REPLACE, (*ending, seq))
    return int(seq)


def _labels(dialogue: Dialogue) -> tuple[list[LabelRow], list[LabelRow]]:
    """Return the labels the speaker was asked for, and those it declared."""
    wanted = [
        LabelRow(turn.index, dimension, label)
        for turn in dialogue.turns
        for dimension, label in turn.wanted
    ]
    declared = [
        LabelRow(turn.index, label.dimension, label.value, label.rationale, raw=label.raw)
        for turn in dialogue.turns
        for label in turn.tactic
    ]
    return wanted, declared


def _rows(dialogue: Dialogue) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """Return the rows of turns and traces, without the number of the dialogue."""
    turns: list[tuple[object, ...]] = []
    traces: list[tuple[object, ...]] = []
    for turn in dialogue.turns:
        goal: Stored | None = None
        if turn.declared_goal is not None:
            goal = stored_label(turn.declared_goal)
        turns.append((turn.index, turn.role, turn.kind, turn.text, goal, turn.labelled))
        if turn.trace is not None:
            traces.append((turn.index, trace_json(turn.trace)))
    return turns, traces
