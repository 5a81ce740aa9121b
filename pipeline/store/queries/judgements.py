"""Sums over what judges said and what was flagged, computed where the data is."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from pipeline.store.sqlite import parsing
from pipeline.store.traces import label_from
from scenarios.terms import LabelValue
from scenarios.verdicts import Source


@dataclass(frozen=True, slots=True)
class Tally:
    """How often the judgements of one kind say yes, among those that could be read."""

    source: Source
    judge: str
    """``provider/model``."""
    dimension: str
    turns: int
    """Improvised exchanges of the dialogues that are counted."""
    carried: int
    judged: int


@dataclass(frozen=True, slots=True)
class FoundCount:
    """How often one judge named a label of a dimension that nobody declares, by goal."""

    judge: str
    dimension: str
    goal: str
    label: LabelValue
    n: int


@dataclass(frozen=True, slots=True)
class FlagCount:
    """How often a flag was raised, in the newest assessments."""

    code: str
    flags: int
    dialogues: int


_TALLIES = """
    select g.kind, g.who, x.id, c.turns, sum(g.carried), count(g.carried)
    from newest_annotations g join dimensions x on x.seq = g.dimension
        join dialogues d on d.seq = g.dialogue join cases c on c.seq = d.case_seq
    where g.kind in ('self', 'external')
    group by 1, 2, 3, 4 having count(g.carried) > 0 order by 1 desc, 2, 3, 4"""
_FOUND = """
    select g.who, x.id, c.goal, g.value, count(*)
    from newest_annotations g join dimensions x on x.seq = g.dimension
        join dialogues d on d.seq = g.dialogue join cases c on c.seq = d.case_seq
    where g.kind = 'external' and g.value is not null
        and x.id in (select value from json_each(?))
    group by 1, 2, 3, 4 order by 1, 2, 3, 4"""
_FLAGS = """
    select f.code, count(*), count(distinct f.assessment)
    from newest_assessments s join flags f on f.assessment = s.seq
    group by 1 order by 2 desc, 1"""


def read_tallies(connection: sqlite3.Connection) -> list[Tally]:
    """Return the sums by judge, dimension and number of turns."""
    return [Tally(*row) for row in connection.execute(_TALLIES)]


def read_found(connection: sqlite3.Connection, dimensions: Sequence[str]) -> list[FoundCount]:
    """Return what external judges name of some dimensions, by judge and goal."""
    rows = connection.execute(_FOUND, (orjson.dumps(list(dimensions)).decode(),))
    with parsing(connection, "a label"):
        return [
            FoundCount(judge, dimension, goal, label_from(value), n)
            for judge, dimension, goal, value, n in rows
        ]


def read_flag_counts(connection: sqlite3.Connection) -> list[FlagCount]:
    """Return how often each flag was raised, the commonest first."""
    return [FlagCount(*row) for row in connection.execute(_FLAGS)]
