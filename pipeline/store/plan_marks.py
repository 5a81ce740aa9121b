"""Where a run stands in its plan: how many cases from its beginning every arm has settled."""

from __future__ import annotations

import sqlite3
from dataclasses import astuple, dataclass

import orjson

from pipeline.store.sqlite import parsing

_KEY = "plan_mark"


@dataclass(frozen=True, slots=True)
class PlanMark:
    """The settled beginning of a plan; what is behind it has to be looked up case by case.

    Settled is a case for which every arm has a dialogue or a failure. A dialogue is never taken
    away again, so that a mark that was once true stays so.
    """

    series: str
    """Content hash of the plan but its size, and of the arms."""
    size: int
    """Cases of the plan, all shards together."""
    complete: int = 0
    """The size of a smaller plan of the series all of whose cases are settled."""
    further: int = 0
    """Cases settled from the beginning of those that this plan, or its shard, has beyond that."""


def read_mark(connection: sqlite3.Connection) -> PlanMark | None:
    """Return the mark of the newest plan that was played; None where there is none."""
    row = connection.execute("select value from meta where key = ?", (_KEY,)).fetchone()
    if row is None:
        return None
    with parsing(connection, "how far its plan is played"):
        series, *counts = orjson.loads(row[0])
        return PlanMark(str(series), *map(int, counts))


def write_mark(connection: sqlite3.Connection, mark: PlanMark) -> None:
    """Store a mark in the place of the one before, inside the caller's transaction."""
    value = orjson.dumps(astuple(mark)).decode()
    connection.execute("insert or replace into meta values (?, ?)", (_KEY, value))
