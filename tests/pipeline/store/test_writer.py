from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import closing

import pytest

from pipeline.store import sqlite
from pipeline.store.sqlite import StoreUnusable, connect
from pipeline.store.writer import StoreFailed, Writer


@pytest.fixture
def database(tmp_path):
    connection = connect(tmp_path / "t.sqlite")
    connection.execute("create table t (x integer primary key)")
    return connection


def rows(tmp_path):
    with closing(sqlite3.connect(tmp_path / "t.sqlite")) as connection:
        return [x for (x,) in connection.execute("select x from t order by x")]


def insert(x):
    return lambda connection: connection.execute("insert into t values (?)", (x,)).lastrowid


@pytest.mark.anyio
async def test_writes_of_one_moment_are_committed_together(database, tmp_path):
    commits = []
    database.set_trace_callback(lambda sql: commits.append(sql) if sql == "commit" else None)
    writer = Writer(database)
    assert await asyncio.gather(*(writer.post(insert(x)) for x in range(50))) == list(range(50))
    writer.close()
    assert rows(tmp_path) == list(range(50))
    assert len(commits) < 10


@pytest.mark.anyio
async def test_a_failing_write_is_undone_alone_and_its_caller_is_told(database, tmp_path):
    def half(connection):
        connection.execute("insert into t values (99)")
        raise KeyError("broken")

    undone = []
    writer = Writer(database, rolled_back=lambda: undone.append(1))
    results = await asyncio.gather(
        *(
            writer.post(insert(1)),
            writer.post(half),
            writer.post(insert(1)),
            writer.post(insert(2)),
        ),
        return_exceptions=True,
    )
    writer.close()
    assert results[0] == 1
    assert results[3] == 2
    assert isinstance(results[1], KeyError)
    assert isinstance(results[2], sqlite3.IntegrityError)
    assert rows(tmp_path) == [1, 2]
    assert undone


@pytest.mark.anyio
async def test_what_is_posted_is_written_even_if_the_waiter_is_cancelled(database, tmp_path):
    writer = Writer(database)
    waiter = asyncio.ensure_future(writer.post(insert(5)))
    waiter.cancel()
    await asyncio.gather(waiter, return_exceptions=True)
    writer.close()
    assert rows(tmp_path) == [5]


def test_closing_brings_everything_to_disk_and_nothing_can_follow(database, tmp_path):
    writer = Writer(database)
    for x in range(100):
        writer.send(insert(x))
    writer.close()
    writer.close()
    assert rows(tmp_path) == list(range(100))
    with pytest.raises(StoreFailed, match="has been closed"):
        writer.send(insert(100))


def test_ordinary_threads_can_write_and_get_the_result(database, tmp_path):
    writer = Writer(database)
    results = []
    threads = [
        threading.Thread(target=lambda x=x: results.append(writer.run(insert(x))))
        for x in range(1, 6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    assert sorted(results) == rows(tmp_path) == [1, 2, 3, 4, 5]


@pytest.mark.anyio
async def test_a_database_that_cannot_be_written_is_a_failure_of_the_run(database, tmp_path):
    page_count = database.execute("pragma page_count").fetchone()[0]
    database.execute(f"pragma max_page_count={page_count}")  # a disk that is full
    writer = Writer(database)

    def too_much(connection):
        connection.executemany("insert into t values (?)", [(x,) for x in range(10, 5000)])

    results = await asyncio.gather(
        writer.post(too_much), writer.post(insert(1)), return_exceptions=True
    )
    writer.close()
    assert isinstance(results[0], StoreFailed)
    assert "full" in str(results[0])
    # The full disk undoes the transaction it strikes, so nobody may believe to have been served.
    assert isinstance(results[1], StoreFailed) or rows(tmp_path) == [1]


@pytest.mark.anyio
async def test_a_full_disk_is_told_with_what_to_do_about_it(database, tmp_path):
    page_count = database.execute("pragma page_count").fetchone()[0]
    database.execute(f"pragma max_page_count={page_count}")
    writer = Writer(database)
    with pytest.raises(StoreFailed) as failed:
        await writer.post(lambda c: c.execute("create table u (x)"))
    writer.close()
    assert failed.value.code == "store"
    assert str(tmp_path / "t.sqlite") in str(failed.value)
    assert failed.value.advice.startswith(f"free some space on the disk of {tmp_path}")


def locked_by_another(tmp_path, monkeypatch, *, gives_way_after):
    """Return a writer, its clock's readings, and the connection that is in its way."""
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_MS", 1)
    connection = connect(tmp_path / "t.sqlite")
    connection.execute("create table t (x integer primary key)")
    other = sqlite3.connect(tmp_path / "t.sqlite", isolation_level=None, check_same_thread=False)
    other.execute("begin immediate")
    readings = []

    def clock():
        readings.append(20.0 * len(readings))
        if len(readings) == gives_way_after:
            other.execute("rollback")
        return readings[-1]

    return Writer(connection, patience_s=60.0, clock=clock), readings, other


def test_another_process_that_holds_the_database_for_a_while_is_waited_for(
    tmp_path, monkeypatch, caplog
):
    writer, readings, other = locked_by_another(tmp_path, monkeypatch, gives_way_after=3)
    assert writer.run(insert(1)) == 1
    writer.close()
    other.close()
    assert rows(tmp_path) == [1]
    assert readings == [0.0, 20.0, 40.0]
    assert [r.message.partition("; ")[2] for r in caplog.records] == ["waiting up to 60 s for it"]


def test_who_holds_the_database_too_long_ends_the_wait_with_what_to_do(tmp_path, monkeypatch):
    writer, readings, other = locked_by_another(tmp_path, monkeypatch, gives_way_after=99)
    with pytest.raises(StoreFailed, match="locked") as failed:
        writer.run(insert(1))
    other.close()
    assert writer.run(insert(2)) == 2
    writer.close()
    assert "end what locks it" in failed.value.advice
    assert readings == [0.0, 20.0, 40.0, 60.0, *readings[4:]]
    assert rows(tmp_path) == [2]


@pytest.mark.anyio
async def test_writes_that_pile_up_behind_a_lock_wait_for_it_once(tmp_path, monkeypatch):
    writer, readings, other = locked_by_another(tmp_path, monkeypatch, gives_way_after=99)
    for groups in (1, 2):
        posted = [writer.post(insert(x)) for x in range(3)]
        failed = await asyncio.gather(*posted, return_exceptions=True)
        assert [type(error) for error in failed] == [StoreFailed] * 3
        assert readings == [0.0, 20.0, 40.0, 60.0], f"after {groups} groups"
    other.close()
    writer.close()
    assert rows(tmp_path) == []


def test_a_damaged_page_that_is_written_is_not_a_matter_of_room(tmp_path):
    connection = connect(tmp_path / "t.sqlite")
    connection.execute("create table t (x integer primary key)")
    connection.close()
    content = bytearray((tmp_path / "t.sqlite").read_bytes())
    content[4096:] = b"\xaa" * 4096
    (tmp_path / "t.sqlite").write_bytes(bytes(content))
    writer = Writer(connect(tmp_path / "t.sqlite"))
    with pytest.raises(StoreUnusable, match="is damaged"):
        writer.run(insert(1))
    writer.close()


@pytest.mark.anyio
async def test_a_group_never_holds_more_writes_than_allowed(database):
    begins = []
    database.set_trace_callback(lambda sql: begins.append(sql) if sql.startswith("begin") else None)
    writer = Writer(database, most=4)
    await asyncio.gather(*(writer.post(insert(x)) for x in range(12)))
    writer.close()
    assert len(begins) >= 3


@pytest.mark.anyio
async def test_writes_of_a_kind_are_executed_together(database, tmp_path):
    groups = []

    def insert_all(connection, numbers):
        groups.append(list(numbers))
        connection.executemany("insert into t values (?)", [(x,) for x in numbers])

    writer = Writer(database)
    await asyncio.gather(
        writer.post(insert(100)), *(writer.post_row(insert_all, x) for x in range(50))
    )
    writer.close()
    assert rows(tmp_path) == [*range(50), 100]
    assert len(groups) < 10
    assert [x for group in groups for x in group] == list(range(50))


@pytest.mark.anyio
async def test_of_writes_executed_together_only_the_one_that_fails_is_undone(database, tmp_path):
    def insert_all(connection, numbers):
        connection.executemany("insert into t values (?)", [(x,) for x in numbers])

    writer = Writer(database)
    results = await asyncio.gather(
        *(writer.post_row(insert_all, x) for x in (1, 2, 1, 3)), return_exceptions=True
    )
    writer.close()
    assert [type(result) for result in results].count(sqlite3.IntegrityError) == 1
    assert rows(tmp_path) == [1, 2, 3]


def test_a_loop_that_is_closed_while_it_is_told_does_not_end_the_thread(database, tmp_path):
    committing = threading.Event()

    async def leave():
        writer.post(lambda connection: committing.wait() and insert(1)(connection))

    writer, loop = Writer(database), asyncio.new_event_loop()
    loop.run_until_complete(leave())
    loop.close()
    loop.is_closed = lambda: False  # as it was a moment ago, when somebody asked
    committing.set()
    writing = threading.Thread(target=writer.run, args=(insert(2),), daemon=True)
    writing.start()
    writing.join(20)
    del loop.is_closed
    assert not writing.is_alive()
    writer.close()
    assert rows(tmp_path) == [1, 2]
