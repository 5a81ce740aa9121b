"""What a browser of a run reads: flat rows of many dialogues, from one place in the run to another.

Rows of these tables are only ever added, but for a failure that a dialogue replaces; so whoever
remembers how far it read goes on from there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import orjson

from pipeline.store.annotation_schema import DECLARED_SOURCE
from pipeline.store.annotations import read_annotations
from pipeline.store.sqlite import parsing
from pipeline.store.traces import Stored
from scenarios.annotations import Annotation
from scenarios.arms import Arm

PAGE = 20_000
"""Rows read at once: no reader keeps the database from being tidied up for long."""
SAMPLED_CALLS = 2_000
"""The newest requests, of which the present rate is computed."""

_MARKS = """
    select coalesce((select max(seq) from dialogues), 0),
        coalesce((select max(seq) from decisions), 0),
        coalesce((select max(seq) from assessments), 0)"""
_ENDING = """
    select d.seq, d.case_seq, d.arm_seq, d.status, d.code, d.finished_at, c.scenario, c.fact, c.goal,
        c.language, c.turns
    from dialogues d join cases c on c.seq = d.case_seq"""
_ENDINGS = f"{_ENDING} where d.seq > ? and d.seq <= ? order by d.seq limit {PAGE}"
_PLAYED_AGAIN = f"""{_ENDING}
    where d.seq in (select value from json_each(?)) and (d.status = 'generated' or d.finished_at > ?)
    order by d.seq"""  # noqa: S608 - constants only
_LABELS = f"""
    select dialogue, turn, dimension, value from annotations
    where source = {DECLARED_SOURCE} and dialogue > ? and dialogue <= ? and turn >= 0
        and value is not null"""  # noqa: S608 - constants only
_DECISIONS = """
    select seq, dialogue, verdict from decisions where seq > ? and seq <= ? order by seq limit ?"""
_ASSESSMENTS = """
    select s.seq, s.dialogue, f.code
    from (select seq, dialogue from assessments where seq > ? and seq <= ? order by seq limit ?) s
        left join flags f on f.assessment = s.seq
    order by s.seq"""
_GENERATED = """
    select seq from dialogues where seq > ? and seq <= ? and status = 'generated' order by seq"""
_FAILED = """
    select seq from dialogues where seq > ? and seq <= ? and status = 'failed' order by seq"""
_TEXTS = """
    select dialogue, text from turns where dialogue in (select value from json_each(?))
    order by dialogue, turn"""
_HEADS = """
    select d.seq, c.id, a.id, d.code, d.reason from dialogues d join cases c on c.seq = d.case_seq
        join arms a on a.seq = d.arm_seq where d.seq in (select value from json_each(?))"""
_FIRST_WORDS = """
    select dialogue, turn, kind, coalesce(labelled, role = 'responder'), substr(text, 1, 240)
    from turns where dialogue in (select value from json_each(?)) order by dialogue, turn"""
_ARMS_OF_CASE = """
    select c.id, a.id from cases c join dialogues d on d.case_seq = c.seq
        join arms a on a.seq = d.arm_seq
    where c.id = ? and d.status = 'generated' order by d.arm_seq"""
_NUMBER = """
    select d.seq from cases c join dialogues d on d.case_seq = c.seq join arms a on a.seq = d.arm_seq
    where c.id = ? and a.id = ?"""
_ALIKE = """
    select c.id, a.id from cases c join dialogues d on d.case_seq = c.seq
        join arms a on a.seq = d.arm_seq
    where c.scenario = ? and c.fact = ? and c.goal = ? and c.turns = ? and c.language = ?
        and c.variation = ? and c.repetition = ? and d.status = 'generated'
    order by d.case_seq, d.arm_seq"""
_KIND_OF_CASE = """
    select scenario, fact, goal, turns, language, variation, repetition from cases where id = ?"""
_CALLS = """
    select sent_at + latency_s from requests where seq > (select max(seq) from requests) - ?"""


class Marks(NamedTuple):
    """How far a run was read: the highest numbers of what it holds."""

    dialogues: int = 0
    decisions: int = 0
    assessments: int = 0


class EndingRow(NamedTuple):
    """How one case ended, flat."""

    seq: int
    case: int
    """Number of the case, which is also its place in the order of cases."""
    arm: int
    status: str
    code: str | None
    finished_at: float
    scenario: str
    fact: str
    goal: str
    language: str
    turns: int


class LabelPlace(NamedTuple):
    """A declared label, by the numbers of dialogue, turn and dimension."""

    dialogue: int
    turn: int
    dimension: int
    value: Stored


@dataclass(frozen=True, slots=True)
class BrowsedDialogue:
    """What a list of dialogues says about one."""

    seq: int
    case: str
    arm: str
    code: str | None
    """Why it failed, if it did."""
    reason: str | None
    words: str
    """How the first utterance begins that is labelled; the first one where none is."""


class BrowsingReader:
    """Reads what has been committed, whoever writes meanwhile."""

    def __init__(self, reader: sqlite3.Connection) -> None:
        """Read with the given connection."""
        self._reader = reader

    def marks(self) -> Marks:
        """Return how far the run is, at one moment."""
        return Marks(*self._reader.execute(_MARKS).fetchone())

    def created(self) -> str:
        """Return when the run was begun, as it is stored."""
        row = self._reader.execute("select value from meta where key = 'created'").fetchone()
        with parsing(self._reader, "when the run was begun"):
            return str(row[0])

    def arms(self) -> dict[int, Arm]:
        """Return the arms by their numbers."""
        rows = self._reader.execute("select seq, description from arms order by seq").fetchall()
        with parsing(self._reader, "an arm"):
            return {seq: Arm.from_fields(orjson.loads(fields)) for seq, fields in rows}

    def dimensions(self) -> dict[int, str]:
        """Return the ids of dimensions by their numbers."""
        return dict(self._reader.execute("select seq, id from dimensions").fetchall())

    def endings(self, after: int, until: int) -> Iterator[list[EndingRow]]:
        """Yield endings in pages, in the order in which they were first stored."""
        while rows := self._reader.execute(_ENDINGS, (after, until)).fetchall():
            yield [EndingRow(*row) for row in rows]
            after = rows[-1][0]

    def played_again(self, failed: Sequence[int], since: float) -> list[EndingRow]:
        """Return those of some failures that have a dialogue by now, or failed again since."""
        rows = self._reader.execute(_PLAYED_AGAIN, (_numbers(failed), since)).fetchall()
        return [EndingRow(*row) for row in rows]

    def labels(self, after: int, until: int) -> list[LabelPlace]:
        """Return the labels that were declared in dialogues of a range of numbers."""
        return [LabelPlace(*row) for row in self._reader.execute(_LABELS, (after, until))]

    def decisions(self, after: int, until: int) -> Iterator[list[tuple[int, str]]]:
        """Yield (dialogue, verdict) in pages, in the order in which they were decided."""
        while rows := self._reader.execute(_DECISIONS, (after, until, PAGE)).fetchall():
            yield [(dialogue, verdict) for _, dialogue, verdict in rows]
            after = rows[-1][0]

    def flags(self, after: int, until: int) -> Iterator[list[tuple[int, int, str | None]]]:
        """Yield (assessment, dialogue, code) in pages; one row with None where nothing is flagged."""
        while rows := self._reader.execute(_ASSESSMENTS, (after, until, PAGE)).fetchall():
            yield rows
            after = rows[-1][0]

    def generated(self, after: int, until: int) -> list[int]:
        """Return the numbers of dialogues in a range."""
        return [seq for (seq,) in self._reader.execute(_GENERATED, (after, until))]

    def failed(self, after: int, until: int) -> list[int]:
        """Return the numbers of failures in a range."""
        return [seq for (seq,) in self._reader.execute(_FAILED, (after, until))]

    def finished_at(self, seq: int) -> float | None:
        """Return when a case ended; None: there is no such number."""
        row = self._reader.execute(
            "select finished_at from dialogues where seq = ?", (seq,)
        ).fetchone()
        return None if row is None else float(row[0])

    def texts(self, dialogues: Sequence[int]) -> list[tuple[int, str]]:
        """Return (dialogue, utterance), dialogue by dialogue, of some thousands of them."""
        return self._reader.execute(_TEXTS, (_numbers(dialogues),)).fetchall()

    def listed(self, dialogues: Sequence[int]) -> list[BrowsedDialogue]:
        """Return what a list says about some hundreds of dialogues, in the order given."""
        numbers = _numbers(dialogues)
        words: dict[int, tuple[bool, str]] = {}
        for seq, _, kind, labelled, text in self._reader.execute(_FIRST_WORDS, (numbers,)):
            telling = kind == "improvised" and bool(labelled)
            if seq not in words or (telling and not words[seq][0]):
                words[seq] = telling, text
        heads = {row[0]: row for row in self._reader.execute(_HEADS, (numbers,))}
        listed = []
        for seq in dialogues:
            if seq in heads:
                _, case, arm, code, reason = heads[seq]
                begins = words.get(seq, (False, ""))[1]
                listed.append(BrowsedDialogue(seq, case, arm, code, reason, begins))
        return listed

    def annotations(self, case: str, arm: str, kinds: Sequence[str]) -> list[Annotation]:
        """Return the newest labels of some kinds that a dialogue has."""
        return list(read_annotations(self._reader, [(case, arm)], kinds))

    def number_of(self, case: str, arm: str) -> int | None:
        """Return the number of how a case ended, by whole ids; None: nobody played it."""
        row = self._reader.execute(_NUMBER, (case, arm)).fetchone()
        return None if row is None else int(row[0])

    def arms_of(self, case: str) -> list[tuple[str, str]]:
        """Return (case, arm) of every dialogue of a case."""
        return self._reader.execute(_ARMS_OF_CASE, (case,)).fetchall()

    def kind_of(self, case: str) -> tuple[object, ...] | None:
        """Return what a case consists of but its seed and the state of its scenario."""
        row: tuple[object, ...] | None = self._reader.execute(_KIND_OF_CASE, (case,)).fetchone()
        return row

    def alike(self, kind: tuple[object, ...]) -> list[tuple[str, str]]:
        """Return (case, arm) of every dialogue of cases of a kind, see :meth:`kind_of`."""
        return self._reader.execute(_ALIKE, kind).fetchall()

    def calls_ended(self) -> list[float]:
        """Return when the newest requests were answered, in Unix seconds."""
        return [at for (at,) in self._reader.execute(_CALLS, (SAMPLED_CALLS,))]


def _numbers(values: Sequence[int]) -> str:
    return orjson.dumps(list(values)).decode()
