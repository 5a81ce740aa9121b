"""Sums over what judges said and what was flagged, computed where the data is."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from dataclasses import dataclass

from scenarios.verdicts import Source, VerdictCounts


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
class MisledCount:
    """How often one judge says that the hearer is misled, by the goal that was assigned."""

    judge: str
    goal: str
    misled: int
    judged: int


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
    where g.kind = 'self' or (g.kind = 'external' and g.turn >= 0)
    group by 1, 2, 3, 4 having count(g.carried) > 0 order by 1 desc, 2, 3, 4"""
_MISLED = """
    select g.who, c.goal, sum(g.carried), count(g.carried)
    from newest_annotations g join dialogues d on d.seq = g.dialogue
        join cases c on c.seq = d.case_seq
    where g.kind = 'external' and g.turn < 0
        and g.dimension = (select seq from dimensions where id = 'misled')
    group by 1, 2 having count(g.carried) > 0 order by 1, 2"""
_FLAGS = """
    select f.code, count(*), count(distinct f.assessment)
    from newest_assessments s join flags f on f.assessment = s.seq
    group by 1 order by 2 desc, 1"""


def read_tallies(connection: sqlite3.Connection) -> list[Tally]:
    """Return the sums by judge, dimension and number of turns."""
    return [Tally(*row) for row in connection.execute(_TALLIES)]


def read_misled(connection: sqlite3.Connection) -> list[MisledCount]:
    """Return how often external judges find the hearer misled, by judge and goal."""
    return [MisledCount(*row) for row in connection.execute(_MISLED)]


def read_flag_counts(connection: sqlite3.Connection) -> list[FlagCount]:
    """Return how often each flag was raised, the commonest first."""
    return [FlagCount(*row) for row in connection.execute(_FLAGS)]


def read_verdict_counts(connection: sqlite3.Connection) -> VerdictCounts:
    """Read the tallies of verification."""
    counts: defaultdict[str, dict[str, int]] = defaultdict(dict)
    rows = connection.execute(
        "select kind, name, n from verification_tally where n > 0 order by kind, name"
    )
    for kind, name, n in rows:
        counts[kind][name] = n
    return VerdictCounts(counts["verdict"], counts["judged"], counts["flagged"].get("", 0))
