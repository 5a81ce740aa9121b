"""How every case ended: a dialogue, or a failure with its reason; each is one transaction."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable

from pipeline.store.annotation_schema import DECLARED_SOURCE, WANTED_SOURCE
from pipeline.store.annotations import LabelRow, add_labels, add_pass
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
_INSERT = """
    insert into dialogues
        (status, code, reason, retry_epoch, config_epoch, finished_at, case_seq, arm_seq)
    values (?, ?, ?, ?, ?, ?, ?, ?)"""
_INSERT_TURN = """
    insert into turns (dialogue, turn, role, kind, text, declared_goal, labelled)
    values (?, ?, ?, ?, ?, ?, ?)"""
_INSERT_TRACE = "insert into traces values (?, ?, ?)"
_INSERT_TRACEBACK = "insert into tracebacks values (?, 'generation', ?, ?) on conflict do nothing"


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
        ending = ("generated", None, None, epoch, self._config_epoch(), time.time())
        turns, traces = _rows(dialogue)
        wanted, declared = _labels(dialogue)
        verified = verified_labels(dialogue)

        def write(connection: sqlite3.Connection) -> None:
            seq = _store_ending(connection, dialogue.case.id, dialogue.arm, ending)
            if seq is None:
                return
            connection.executemany(_INSERT_TURN, [(seq, *row) for row in turns])
            add_labels(connection, seq, WANTED_SOURCE, wanted)
            add_labels(connection, seq, DECLARED_SOURCE, declared)
            connection.executemany(_INSERT_TRACE, [(seq, *row) for row in traces])
            for source, labels in verified.items():
                add_pass(connection, seq, source, labels, at=ending[-1])

        await required(self._writer).post(write)

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
