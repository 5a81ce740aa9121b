from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from pipeline.store.many_rows import (
    MOST_ROWS,
    delete_rows,
    insert_rows,
    next_number,
    numbers_of,
    rows_with,
)

COUNTS = [0, 1, 2, 3, MOST_ROWS - 1, MOST_ROWS, MOST_ROWS + 1, 3 * MOST_ROWS + 5]


@pytest.fixture
def table():
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("create table things (seq integer primary key, id text unique, x real)")
        yield connection


@pytest.mark.parametrize("count", COUNTS)
def test_any_number_of_rows_is_inserted_in_order_and_found(table, count):
    insert_rows(table, "things (id, x)", [(f"id {i}", i / 2) for i in range(count)])
    stored = table.execute("select id, x from things order by seq").fetchall()
    assert stored == [(f"id {i}", i / 2) for i in range(count)]
    wanted = [f"id {i}" for i in range(0, count, 2)]
    numbers = {f"id {i}": i + 1 for i in range(0, count, 2)}
    assert numbers_of(table, "things", [*wanted, "nobody"]) == numbers
    assert dict(rows_with(table, "select id, seq from things where id in", wanted)) == numbers
    assert next_number(table, "things") == count + 1


def test_ids_are_found_whole_whatever_signs_they_have(table):
    ids = ["a\0b", "a", '"', "\\", "\U0010a222", ""]
    insert_rows(table, "things (id, x)", [(id_, 0.0) for id_ in ids])
    assert numbers_of(table, "things", ids) == {id_: at for at, id_ in enumerate(ids, 1)}


@pytest.mark.parametrize("count", COUNTS)
def test_only_the_rows_that_are_named_are_deleted(table, count):
    insert_rows(table, "things (id)", [(str(i),) for i in range(count)])
    delete_rows(table, "things", list(range(2, count + 1)))
    assert table.execute("select seq from things").fetchall() == [(1,)][:count]


def test_a_row_that_is_there_stays_where_that_is_asked_for(table):
    insert_rows(table, "things (id, x)", [("a", 1.0)])
    insert_rows(table, "things (id, x)", [("a", 2.0), ("b", 3.0)], "on conflict do nothing")
    assert table.execute("select id, x from things").fetchall() == [("a", 1.0), ("b", 3.0)]
