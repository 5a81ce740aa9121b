"""Version 3 of the tables of a run: who reviews, what is given to whom, and what they answered.

An answer that is changed becomes a new revision; the newest counts. A person is known by a code
everywhere but in ``annotators``, so that taking the name out there takes it out of the run.
Whatever the code above does, a trigger keeps an item from having more answers than its study asks.
"""

from __future__ import annotations

import sqlite3

_PEOPLE = (
    """create table annotators (
        seq integer primary key, code text not null unique,
        role text not null check (role in ('annotator', 'expert')),
        name text, name_key text unique, account integer not null check (account in (0, 1)),
        secret text, language text, consent text, consented_at real,
        created_at real not null, erased_at real) strict""",
    """create table review_sessions (
        hash blob primary key, role text not null check (role in ('annotator', 'expert')),
        annotator integer references annotators(seq), language text, consent text,
        consented_at real, category text not null, reason text not null,
        created_at real not null, expires_at real not null) strict, without rowid""",
    "create index review_sessions_annotator on review_sessions(annotator)",
)

_STUDIES = (
    """create table studies (
        seq integer primary key, id text not null unique,
        mode text not null check (mode in ('review', 'quiz')),
        per_item integer not null check (per_item > 0), seed integer not null,
        hidden text not null, created_at real not null) strict""",
    """create table review_items (
        seq integer primary key, study integer not null references studies(seq),
        dialogue integer not null references dialogues(seq), rank integer not null,
        category text not null, reasons text not null, added_at real not null,
        unique (study, dialogue)) strict""",
    "create index review_items_dialogue on review_items(dialogue)",
    """create table participations (
        study integer not null references studies(seq),
        annotator integer not null references annotators(seq), finished_at real not null,
        primary key (study, annotator)) strict, without rowid""",
    """create table assignments (
        seq integer primary key, item integer not null references review_items(seq),
        annotator integer not null references annotators(seq),
        state text not null check (state in ('open', 'labelled', 'done', 'given_back')),
        leased_until real not null, opened_at real not null, labelled_at real, done_at real,
        origin text not null, unique (item, annotator)) strict""",
    "create index assignments_annotator on assignments(annotator, state)",
)

_ANSWERS = (
    """create table drafts (
        assignment integer primary key references assignments(seq) on delete cascade,
        content text not null, edits integer not null, lead_s real not null,
        saved_at real not null) strict""",
    """create table review_answers (
        assignment integer not null references assignments(seq) on delete cascade,
        revision integer not null, turn integer not null, dimension text not null,
        value any not null,
        primary key (assignment, revision, turn, dimension)) strict, without rowid""",
    """create table reviews (
        assignment integer not null references assignments(seq) on delete cascade,
        revision integer not null, issue integer check (issue in (0, 1)),
        issue_reason text not null, scenario_problem text not null, note text not null,
        lead_s real not null, answered_at real not null,
        primary key (assignment, revision)) strict, without rowid""",
    """create table adjudications (
        seq integer primary key, item integer not null references review_items(seq),
        expert integer not null references annotators(seq),
        verdict text check (verdict in ('accepted', 'discarded')), note text not null,
        adjudicated_at real not null) strict""",
    "create index adjudications_item on adjudications(item, seq)",
    """create table adjudicated_labels (
        adjudication integer not null references adjudications(seq),
        turn integer not null, dimension text not null, value any not null,
        primary key (adjudication, turn, dimension)) strict, without rowid""",
)

_NEWEST = (
    """create view newest_answers as
        select * from review_answers r where revision = (
            select max(revision) from review_answers o where o.assignment = r.assignment)""",
    """create view newest_reviews as
        select * from reviews r where revision = (
            select max(revision) from reviews o where o.assignment = r.assignment)""",
    """create view newest_adjudications as
        select * from adjudications a where seq = (
            select max(seq) from adjudications o where o.item = a.item)""",
)

_GUARDS = (
    """create trigger never_given_too_often before insert on assignments
        when (select count(*) from assignments a where a.item = new.item
                and (a.state = 'done' or a.leased_until > new.opened_at))
            >= (select s.per_item from review_items i join studies s on s.seq = i.study
                where i.seq = new.item)
        begin select raise(abort, 'this item has all its annotators'); end""",
    """create trigger never_answered_too_often before update of state on assignments
        when new.state = 'done' and old.state <> 'done'
            and (select count(*) from assignments a where a.item = new.item and a.state = 'done')
            >= (select s.per_item from review_items i join studies s on s.seq = i.study
                where i.seq = new.item)
        begin select raise(abort, 'this item has all its answers'); end""",
)


def add_reviews(connection: sqlite3.Connection) -> None:
    """Lead from version 2 to 3, inside the caller's transaction."""
    for statement in _PEOPLE + _STUDIES + _ANSWERS + _NEWEST + _GUARDS:
        connection.execute(statement)
