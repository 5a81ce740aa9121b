from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.store.migrations import MIGRATIONS, check_current, migrate, schema_version
from pipeline.store.sqlite import DATABASE, connect
from scenarios.errors import UsageError


def make_notes(connection):
    connection.execute("create table notes (text)")


def add_author(connection):
    connection.execute("alter table notes add column author")


def half_and_break(connection):
    connection.execute("create table half (x)")
    raise RuntimeError("power cut")


V1, V2 = (make_notes,), (make_notes, add_author)


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "run.sqlite"
    with closing(connect(path)) as connection:
        assert migrate(connection, path, V1) is None
        connection.execute("insert into notes values ('kept')")
        yield connection, path


def test_an_older_database_is_brought_up_to_date_after_a_backup(old):
    connection, path = old
    backup = migrate(connection, path, V2)
    assert connection.execute("select text, author from notes").fetchall() == [("kept", None)]
    assert schema_version(connection) == 2
    with closing(sqlite3.connect(backup)) as copy:
        assert copy.execute("select * from notes").fetchall() == [("kept",)]
        assert schema_version(copy) == 1


def test_nobody_else_on_the_machine_can_read_a_backup(old):
    connection, path = old
    path.chmod(0o644)
    assert migrate(connection, path, V2).stat().st_mode & 0o777 == 0o600


def test_an_earlier_backup_is_not_overwritten(old):
    connection, path = old
    first = migrate(connection, path, V2)
    connection.execute("pragma user_version = 1")
    connection.execute("alter table notes drop column author")
    second = migrate(connection, path, V2)
    assert first != second
    assert first.exists()
    assert second.exists()


def test_a_step_that_fails_leaves_the_database_as_it_was(old):
    connection, path = old
    with pytest.raises(RuntimeError, match="power cut"):
        migrate(connection, path, (*V1, half_and_break))
    assert schema_version(connection) == 1
    assert connection.execute("select name from sqlite_schema where name = 'half'").fetchall() == []


def test_a_newer_database_is_refused_with_what_to_do(old):
    connection, path = old
    connection.execute("pragma user_version = 9")
    with pytest.raises(UsageError, match="schema 9; this one knows 1") as error:
        migrate(connection, path, V1)
    assert "upgrade" in error.value.hint


def test_an_older_database_cannot_be_only_looked_at(old):
    connection, path = old
    with pytest.raises(UsageError, match="older hipo"):
        check_current(connection, path, V2)
    check_current(connection, path, V1)


def test_nothing_happens_to_a_database_that_is_up_to_date(tmp_path):
    path = tmp_path / "run.sqlite"
    with closing(connect(path)) as connection:
        migrate(connection, path)
        before = connection.execute("pragma schema_version").fetchone()
        assert migrate(connection, path) is None
        assert connection.execute("pragma schema_version").fetchone() == before
        assert schema_version(connection) == len(MIGRATIONS)
        assert list(tmp_path.glob("*backup*")) == []


def test_what_is_made_at_once_is_what_all_steps_make_one_by_one(tmp_path):
    made = []
    for name in ("at-once", "by-steps"):
        path = tmp_path / name / DATABASE
        path.parent.mkdir()
        with closing(connect(path)) as connection:
            if name == "by-steps":
                for count in range(1, len(MIGRATIONS)):
                    migrate(connection, path, MIGRATIONS[:count])
            migrate(connection, path)
            assert schema_version(connection) == len(MIGRATIONS)
            objects = connection.execute("select type, name, tbl_name, sql from sqlite_schema")
            made.append((sorted(objects, key=str), sorted(connection.iterdump())))
    assert made[0] == made[1]
    assert len(made[0][0]) > 60


def test_studies_of_a_run_from_before_keep_their_items_and_one_of_gold_lines_may_begin(tmp_path):
    path = tmp_path / "run.sqlite"
    with closing(connect(path)) as connection:
        before = [step.__name__ for step in MIGRATIONS].index("add_gold_reviews")
        migrate(connection, path, MIGRATIONS[:before])
        study = "insert into studies values (?, ?, ?, 3, 42, '{}', 1.0)"
        connection.execute(study, (1, "quiz", "quiz"))
        connection.execute(
            "insert into annotators (code, role, created_at) values ('A01', 'annotator', 1.0)"
        )
        connection.execute("insert into participations values (1, 1, 2.0)")
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(study, (2, "gold", "gold"))
        migrate(connection, path)
        connection.execute(study, (2, "gold", "gold"))
        assert connection.execute("select id, mode from studies order by seq").fetchall() == [
            ("quiz", "quiz"),
            ("gold", "gold"),
        ]
        assert connection.execute("pragma foreign_key_check").fetchall() == []
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute("delete from studies where seq = 1")
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(study, (3, "other", "other"))


def test_a_run_from_before_evaluations_gets_their_tables_and_keeps_what_it_has(tmp_path):
    path = tmp_path / "run.sqlite"
    with closing(connect(path)) as connection:
        before = [step.__name__ for step in MIGRATIONS].index("add_answers")
        assert before == 10
        migrate(connection, path, MIGRATIONS[:before])
        connection.execute("insert into meta values ('name', 'trial')")
        backup = migrate(connection, path)
        assert backup is not None
        assert schema_version(connection) == len(MIGRATIONS) >= 11
        assert connection.execute("select value from meta").fetchall() == [("trial",)]
        assert connection.execute("select count(*) from answers").fetchone() == (0,)
        seat = "insert into evaluated (task, mode, draw, repeat, model, config) values ('t', 'm', 0, 0, 'x', '')"
        connection.execute(seat)
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(seat)
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(
                "insert into answers values (1, 'i', 'guessed', 0, '', '', '{}', null, 0)"
            )


def test_a_backup_that_cannot_be_finished_leaves_nothing_that_looks_like_one(tmp_path):
    path = tmp_path / DATABASE
    with closing(connect(path)) as connection:
        migrate(connection, path, MIGRATIONS[:-1])
    # Within a transaction the copy is refused when its file has been made.
    with closing(connect(path)) as connection:
        connection.execute("begin")
        with pytest.raises(sqlite3.OperationalError, match="VACUUM"):
            migrate(connection, path)
    assert [found.name for found in tmp_path.glob("*backup*")] == []


def test_a_backup_the_disk_has_no_room_for_leaves_no_journal(old):
    _, path = old

    class Full(sqlite3.Connection):
        def execute(self, sql, parameters=()):
            if sql == "vacuum into ?":
                draft = Path(parameters[0])
                draft.with_name(f"{draft.name}-journal").touch()  # as SQLite leaves it there
                raise sqlite3.OperationalError("database or disk is full")
            return super().execute(sql, parameters)

    with (
        closing(connect(path, Full)) as full,
        pytest.raises(sqlite3.OperationalError, match="full"),
    ):
        migrate(full, path, V2)
    assert list(path.parent.glob("*backup*")) == []
