"""Version 10 of the tables of a run: a study may have the mode ``gold``."""

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


def add_gold_reviews(connection: sqlite3.Connection) -> None:
    """Let studies be about the gold lines, inside the caller's transaction."""
    for statement in _REMADE:
        connection.execute(statement)
