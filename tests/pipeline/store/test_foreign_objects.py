"""What somebody put into the schema of a run is never executed: the run is refused and repaired."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from pipeline.store.damaged_file import opened
from pipeline.store.foreign_objects import NEWEST, _schema, digest, refuse_foreign
from pipeline.store.migrations import MIGRATIONS, check_version
from pipeline.store.people_database import (
    PEOPLE,
    VERSION,
    create_people,
    refuse_foreign_people,
)
from pipeline.store.sqlite import DATABASE, StoreDamaged


def made(version: int = len(MIGRATIONS)) -> sqlite3.Connection:
    """Return a database in memory with the schema of a version."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for step in MIGRATIONS[:version]:
        connection.execute("begin")
        step(connection)
        connection.execute("commit")
    connection.execute(f"pragma user_version = {version}")
    return connection


@pytest.fixture
def place(tmp_path):
    return tmp_path / "run" / DATABASE


def test_the_digest_is_that_of_what_all_migrations_make():
    with closing(made()) as connection:
        assert digest(_schema(connection)) == NEWEST


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS) + 1))
def test_what_each_version_made_is_opened(version, place):
    with closing(made(version)) as connection:
        assert check_version(connection, place) == version


def test_what_sqlite_itself_keeps_for_its_plans_is_not_foreign(place):
    with closing(made()) as connection:
        connection.execute("insert into meta values ('created', 'x')")
        connection.execute("analyze")
        assert connection.execute("select count(*) from sqlite_stat1").fetchone()[0]
        check_version(connection, place)


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        (
            "create trigger t after insert on meta begin delete from meta; end",
            "trigger t",
        ),
        ("create view v as select 1", "view v"),
        ("create index i on meta(key)", "index i"),
        ("create table more(a)", "table more"),
        ('create table "a\x1b]0;x\x07\nb"(a)', "table a"),
        ("alter table meta add column more text", "another table meta"),
        ("drop table meta; create view meta as select 1 as key, 2 as value", "view meta"),
    ],
)
def test_what_hipo_did_not_make_is_named(statement, named, place):
    with closing(made()) as connection:
        connection.executescript(statement)
        with pytest.raises(StoreDamaged, match=f"holds what hipo did not make: {named}") as caught:
            check_version(connection, place)
    assert caught.value.hint == (
        f"hipo runs repair {place.parent} saves the rows alone into a new run"
    )


def test_the_first_five_of_many_are_named(place):
    with closing(made()) as connection:
        for number in range(8):
            connection.execute(f"create table extra{number}(a)")
        with pytest.raises(StoreDamaged, match="table extra4, 3 more"):
            refuse_foreign(connection, place, MIGRATIONS)


def test_the_names_of_people_are_kept_from_triggers_too(tmp_path):
    path = tmp_path / PEOPLE
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        create_people(connection, "2026")
        assert connection.execute("pragma user_version").fetchone() == (VERSION,)
        refuse_foreign_people(connection, path)
        connection.execute("create trigger t after insert on meta begin delete from meta; end")
        with pytest.raises(StoreDamaged, match="trigger t") as caught:
            refuse_foreign_people(connection, path)
    assert caught.value.hint == "put a copy that hipo made in its place, or move it away"


def test_repairing_reads_no_view(tmp_path):
    source = tmp_path / DATABASE
    with closing(sqlite3.connect(source)) as connection:
        connection.executescript("create table kept(a); create view v as select a from kept")
    with closing(opened(source, source)) as connection:
        connection.execute("select a from kept")
        with pytest.raises(sqlite3.DatabaseError, match="prohibited"):
            connection.execute("select * from v")
