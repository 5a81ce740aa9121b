"""Versions 10 to 13 of the tables of a run: gold studies, answers to items, flows, batches."""

from __future__ import annotations

import sqlite3

# SQLite cannot change a check: the table is made anew under its own name, so that what refers to
# its rows finds them again before the transaction ends.
_REMADE = (
    "pragma defer_foreign_keys = on",
    "create temp table studies_before as select * from studies",
    "drop table studies",
    """create table studies (
        seq integer primary key, id text not null unique,
        mode text not null check (mode in ('review', 'quiz', 'gold')),
        per_item integer not null check (per_item > 0), seed integer not null,
        hidden text not null, created_at real not null) strict""",
    "insert into studies select * from temp.studies_before",
    "drop table temp.studies_before",
)
_FLOW = (
    "alter table turns add column labelled integer",
    """create view labelled_turns as select * from turns
        where kind = 'improvised' and coalesce(labelled, role = 'responder')""",
)


def add_gold_reviews(connection: sqlite3.Connection) -> None:
    """Version 10: let studies have the mode ``gold``, inside the caller's transaction."""
    for statement in _REMADE:
        connection.execute(statement)


def add_answers(connection: sqlite3.Connection) -> None:
    """Version 11: add what an evaluation asks of whom, and how every item was answered."""
    connection.execute(
        """create table evaluated (
            seq integer primary key, task text not null, mode text not null,
            draw integer not null, repeat integer not null, model text not null,
            config text not null,
            unique (task, mode, draw, repeat, model, config)) strict"""
    )
    connection.execute(
        """create table answers (
            evaluated integer not null references evaluated(seq), item text not null,
            status text not null
                check (status in ('answered', 'unreadable', 'refused', 'failed')),
            retry_epoch integer not null, code text not null, reason text not null,
            answer text not null, traceback text, answered_at real not null,
            primary key (evaluated, item)) strict, without rowid"""
    )


def add_flow(connection: sqlite3.Connection) -> None:
    """Version 12: add turns of roles that are neither initiator nor responder.

    ``labelled`` says of a turn whether its role is one whose words are labelled. It is null in
    dialogues of question and answer, and in all of older runs: there the responder is that role.
    The view ``labelled_turns`` holds the turns that are labelled and judged.
    """
    for statement in _FLOW:
        connection.execute(statement)


def add_batches(connection: sqlite3.Connection) -> None:
    """Version 13: add the batches that lie at providers, and to a reservation the batch that it is part of."""
    connection.execute(
        """create table batches (
            seq integer primary key, token text not null unique, model text not null,
            base_url text not null, requests integer not null, intended_at real not null,
            remote text, submitted_at real,
            state text not null check (state in ('intended', 'submitted', 'ended')),
            outcome text not null, ended_at real) strict"""
    )
    connection.execute("alter table reservations add column batch integer references batches(seq)")
    connection.execute("alter table reservations add column place integer")
    connection.execute("alter table reservations add column digest blob")
    connection.execute("alter table reservations add column result blob")
    connection.execute(
        "create unique index reservations_placed on reservations(batch, place)"
        " where batch is not null"
    )
