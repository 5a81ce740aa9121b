"""What a quota counts with: the cases drawn for it, what they cost, and the labels judges refused."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import orjson

from pipeline.aims import Aim
from pipeline.store.case_rows import CASE_COLUMNS, case_from
from pipeline.store.sqlite import parsing
from scenarios.case import AIM, Case

_CASE = ", ".join(f"c.{column.strip()}" for column in CASE_COLUMNS.split(","))
_AIMED = f"""c.variation like '%["{AIM}",%'"""
_DRAWN = f"""
    select r.calls, r.tokens, r.cost, r.unpriced, {_CASE}
    from cases c left join (
        select case_id, count(*) as calls,
            coalesce(sum(coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0)), 0) as tokens,
            coalesce(sum(cost_usd), 0) as cost, sum(cost_usd is null) as unpriced
        from requests where case_id in (select c.id from cases c where {_AIMED})
        group by case_id) r on r.case_id = c.id
    where {_AIMED} order by c.seq"""  # noqa: S608 - constants only
_COUNT = f"select count(*) from cases c where {_AIMED}"  # noqa: S608 - constants only
_OPEN = f"""
    select {_CASE} from cases c
    where {_AIMED} and (
        select count(*) from dialogues d join arms a on a.seq = d.arm_seq
        where d.case_seq = c.seq and (d.status = 'generated' or not ?)
            and a.id in (select value from json_each(?))) < ?
    order by c.seq"""  # noqa: S608 - constants only
_FAILED = f"""
    select {_CASE} from dialogues d join cases c on c.seq = d.case_seq
    where d.status = 'failed' and {_AIMED} order by d.case_seq, d.arm_seq"""  # noqa: S608
_OBJECTIONS = """
    select c.id, a.id, g.turn, x.id
    from (select dialogue, turn, dimension, kind, count(*) as against from newest_annotations
            where kind in ('self', 'external') and carried = 0 group by 1, 2, 3, 4) g
        join newest_decisions e on e.dialogue = g.dialogue
        join dimensions x on x.seq = g.dimension
        join dialogues d on d.seq = g.dialogue
        join cases c on c.seq = d.case_seq join arms a on a.seq = d.arm_seq
    where e.verdict = 'accepted' and e.by like 'policy:%' and 2 * g.against >= (
        select count(o.carried) from newest_annotations o
        where o.dialogue = g.dialogue and o.turn = g.turn and o.dimension = g.dimension
            and o.kind = g.kind)"""


@dataclass(frozen=True, slots=True)
class DrawnCase:
    """A case that was drawn for a cell, and what was asked about it in all."""

    case: Case
    aim: Aim
    calls: int
    tokens: int
    cost_usd: float
    unpriced: int
    """Of ``calls``, those of unknown cost."""


def read_drawn(connection: sqlite3.Connection) -> Iterator[DrawnCase]:
    """Yield the cases that were drawn for cells, in the order in which they were drawn."""
    for calls, tokens, cost, unpriced, *columns in connection.execute(_DRAWN):
        with parsing(connection, "a case"):
            case = case_from(columns)
            aim = Aim.of(case)
        if aim is not None:
            yield DrawnCase(case, aim, calls or 0, tokens or 0, cost or 0.0, unpriced or 0)


def count_drawn(connection: sqlite3.Connection) -> int:
    """Return how many cases were drawn for cells, of whatever quota."""
    count: int = connection.execute(_COUNT).fetchone()[0]
    return count


def read_open(
    connection: sqlite3.Connection, arms: Sequence[str], *, retry_failed: bool = False
) -> list[Case]:
    """Return the cases that were drawn for cells and that not all of these arms have played."""
    given = (retry_failed, orjson.dumps(list(arms)).decode(), len(arms))
    with parsing(connection, "a case"):
        return [case_from(columns) for columns in connection.execute(_OPEN, given)]


def read_failed(connection: sqlite3.Connection) -> list[Case]:
    """Return the cases that were drawn for cells and failed, once for each arm."""
    with parsing(connection, "a case"):
        return [case_from(columns) for columns in connection.execute(_FAILED)]


def read_objections(
    connection: sqlite3.Connection,
) -> Mapping[tuple[str, str], frozenset[tuple[int | None, str]]]:
    """Return which labels of accepted dialogues the judges found not carried, by (case, arm).

    At least half of a panel has to object, or the self-judgement. What a person accepted all the
    same is left out. A label's place is (turn, dimension); turn None is the dialogue as a whole.
    """
    found: defaultdict[tuple[str, str], set[tuple[int | None, str]]] = defaultdict(set)
    for case, arm, turn, dimension in connection.execute(_OBJECTIONS):
        found[case, arm].add((turn if turn >= 0 else None, dimension))
    return {key: frozenset(places) for key, places in found.items()}
