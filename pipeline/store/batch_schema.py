"""Version 13 of the tables of a run: the batches that lie at providers."""

from __future__ import annotations

import sqlite3


def add_batches(connection: sqlite3.Connection) -> None:
    """Add the batches, and to a reservation the batch that it is part of."""
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
