"""Insert and look up many rows with few statements.

For every statement that a thread runs, Python gives its lock up and has to win it back from whoever
took it meanwhile: a statement a row made the writer and the event loop wait for each other.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

MOST_ROWS = 64
"""Rows of one statement; fewer are cut into powers of two, so that few statements are prepared."""

Row = Sequence[object]


def insert_rows(
    connection: sqlite3.Connection, into: str, rows: Sequence[Row], on_conflict: str = ""
) -> None:
    """Insert rows in their order.

    Args:
        connection: in a transaction that writes.
        into: a table, with its columns where not all of them are given: ``texts (hash, text)``.
        rows: all of one length.
        on_conflict: what else the statement says, e.g. ``on conflict do nothing``.
    """
    for some in _pieces(rows):
        statement = _insertion(into, on_conflict, len(some), len(some[0]))
        connection.execute(statement, [value for row in some for value in row])


def rows_with(
    connection: sqlite3.Connection, select: str, values: Sequence[object]
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a selection that ends with ``in``, for any of some values."""
    for some in _pieces(values):
        yield from connection.execute(_selection(select, len(some)), some).fetchall()


def delete_rows(connection: sqlite3.Connection, table: str, numbers: Sequence[int]) -> None:
    """Delete the rows of a table that have these numbers."""
    for some in _pieces(numbers):
        connection.execute(_selection(f"delete from {table} where seq in", len(some)), some)  # noqa: S608 - a constant


def numbers_of(connection: sqlite3.Connection, table: str, ids: Sequence[str]) -> dict[str, int]:
    """Return the numbers of the rows of a table that have these ids, by id, where there are any."""
    numbers: dict[str, int] = {}
    for some in _pieces(ids):
        select = f"select id, seq from {table} where id in"  # noqa: S608 - a constant
        numbers |= connection.execute(_selection(select, len(some)), some).fetchall()
    return numbers


def next_number(connection: sqlite3.Connection, table: str) -> int:
    """Return the number that the next row of a table gets."""
    (last,) = connection.execute(f"select max(seq) from {table}").fetchone()  # noqa: S608 - a constant
    return (last or 0) + 1


def _pieces(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Cut values into pieces of ``MOST_ROWS``, and the rest into powers of two."""
    start, size = 0, MOST_ROWS
    while start < len(values):
        while size > len(values) - start:
            size //= 2
        yield values[start : start + size]
        start += size


@cache
def _insertion(into: str, on_conflict: str, rows: int, columns: int) -> str:
    row = f"(?{', ?' * (columns - 1)})"
    return f"insert into {into} values {row}{f', {row}' * (rows - 1)} {on_conflict}"  # noqa: S608 - constants only


@cache
def _selection(select: str, values: int) -> str:
    return f"{select} (?{', ?' * (values - 1)})"
