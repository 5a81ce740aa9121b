"""The tables of an evaluation, beside those of calls that it shares with runs."""

from __future__ import annotations

import sqlite3


def add_answers(connection: sqlite3.Connection) -> None:
    """Add what is asked of whom, and how every item was answered."""
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
