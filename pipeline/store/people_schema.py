"""Move what is personal out of the run, into ``people.sqlite`` beside it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from pipeline.store.people_database import (
    PEOPLE,
    Note,
    create_people,
    keep_private,
    new_number,
    run_mark,
)
from pipeline.store.sqlite import connect

_PEOPLE = (
    "select code, name, name_key, account, secret, language, consent, consented_at from annotators"
)
_SESSIONS = """
    select s.hash, s.role, a.code, s.language, s.consent, s.consented_at, s.category, s.reason,
        s.created_at, s.expires_at
    from review_sessions s left join annotators a on a.seq = s.annotator"""
_DRAFTS = """
    select d.assignment, p.code, d.content, d.edits, d.lead_s, d.saved_at
    from drafts d join assignments s on s.seq = d.assignment
        join annotators p on p.seq = s.annotator"""
_REVIEW_NOTES = """
    select v.assignment, v.revision, p.code, v.note, v.scenario_problem
    from reviews v join assignments s on s.seq = v.assignment join annotators p on p.seq = s.annotator
    where v.note <> '' or v.scenario_problem <> ''"""
_EXPERT_NOTES = """
    select j.seq, p.code, j.note from adjudications j join annotators p on p.seq = j.expert
    where j.note <> ''"""
_WITHOUT = (
    # The words of an expert pass went into its decision, too.
    """update decisions set note = '' where note <> '' and exists (
        select 1 from adjudications j join review_items i on i.seq = j.item
        where i.dialogue = decisions.dialogue and j.note = decisions.note)""",
    "drop table drafts",
    "drop table review_sessions",
    "drop view newest_reviews",
    "alter table reviews drop column note",
    "alter table reviews drop column scenario_problem",
    """create view newest_reviews as
        select * from reviews r where revision = (
            select max(revision) from reviews o where o.assignment = r.assignment)""",
    "drop view newest_adjudications",
    "alter table adjudications drop column note",
    """create view newest_adjudications as
        select * from adjudications a where seq = (
            select max(seq) from adjudications o where o.item = a.item)""",
    # Rows elsewhere refer to annotators: that holds again when this is committed.
    "pragma defer_foreign_keys = on",
    "create temp table codes as select seq, code, role, created_at, erased_at from annotators",
    "drop table annotators",
    """create table annotators (
        seq integer primary key, code text not null unique,
        role text not null check (role in ('annotator', 'expert')),
        created_at real not null, erased_at real) strict""",
    "insert into annotators select * from codes",
    "drop table codes",
)


def move_people(connection: sqlite3.Connection) -> None:
    """Move names, accounts, sessions, drafts and notes, inside the caller's transaction.

    The file beside the run is whole before the run lets go of anything: where that fails, or the
    process dies, the run still holds everything, and the next try writes the file anew.
    """
    connection.execute("pragma secure_delete = on")  # no copy is left in pages that are free now
    connection.execute("alter table reviews add column note_id integer")
    connection.execute("alter table adjudications add column note_id integer")
    if connection.execute("select exists (select 1 from annotators)").fetchone() == (1,):
        (name,) = connection.execute(
            "select file from pragma_database_list where name = 'main'"
        ).fetchone()
        _copy(connection, Path(name).with_name(PEOPLE))
    for statement in _WITHOUT:
        connection.execute(statement)


def _copy(connection: sqlite3.Connection, path: Path) -> None:
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    keep_private(draft)
    with closing(connect(draft)) as people:
        create_people(people, run_mark(connection))
        people.execute("begin immediate")
        for query, table in ((_PEOPLE, "people"), (_SESSIONS, "sessions"), (_DRAFTS, "drafts")):
            rows = connection.execute(query)
            marks = ", ".join("?" * len(rows.description))
            people.executemany(f"insert into {table} values ({marks})", rows)  # noqa: S608
        for assignment, revision, code, note, problem in connection.execute(
            _REVIEW_NOTES
        ).fetchall():
            number = _add(people, code, Note(note, problem))
            connection.execute(
                "update reviews set note_id = ? where assignment = ? and revision = ?",
                (number, assignment, revision),
            )
        for adjudication, code, note in connection.execute(_EXPERT_NOTES).fetchall():
            number = _add(people, code, Note(note))
            connection.execute(
                "update adjudications set note_id = ? where seq = ?", (number, adjudication)
            )
        people.execute("commit")
        people.execute("pragma journal_mode = delete")  # one file, that can be renamed
    draft.replace(path)


def _add(people: sqlite3.Connection, code: str, note: Note) -> int:
    number = new_number()
    people.execute(
        "insert into notes values (?, ?, ?, ?)", (number, code, note.note, note.scenario_problem)
    )
    return number
