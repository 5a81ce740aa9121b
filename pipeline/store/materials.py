"""Version 6 of the tables of a run: what its dialogues are made of, each piece once by its hash.

A configuration epoch names its pieces by the hashes in its identity (``config_epochs.config``), a
case its scenario by ``scenario_fingerprint``, a judge its templates by ``label_sources.config``.
Content is never changed or removed.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

MaterialKind = Literal[
    "scheme",
    "scenario",
    "axis",
    "tactics",
    "templates",
    "own_templates",
    "judge_templates",
    "juror_scheme",
    "policy",
    "quota",
]

SOUGHT = "material_sought"
"""Key in ``meta`` of a run that older code made, as long as something of it was not found."""


@dataclass(frozen=True, slots=True)
class MaterialItem:
    """One piece of what dialogues are made of."""

    kind: MaterialKind
    name: str
    """Id of the scheme, scenario or axis, the judge or the policy; empty for the others."""
    hash: str
    """What the configuration, the case or the judge knows it by."""
    content: str
    """JSON."""


def add_materials(connection: sqlite3.Connection) -> None:
    """Lead from version 5 to 6, inside the caller's transaction."""
    connection.execute(
        """create table materials (
            seq integer primary key, kind text not null, name text not null, hash text not null,
            content text not null, stored_at real not null, unique (kind, name, hash)) strict"""
    )
    connection.execute("insert into meta select ?, '' from meta where key = 'name'", (SOUGHT,))


def store_items(connection: sqlite3.Connection, items: Iterable[MaterialItem]) -> None:
    """Store what is not there yet, inside the caller's transaction; what is becomes the newest."""
    now = time.time()
    connection.executemany(
        "insert into materials (kind, name, hash, content, stored_at) values (?, ?, ?, ?, ?)"
        " on conflict do update set stored_at = excluded.stored_at",
        [(item.kind, item.name, item.hash, item.content, now) for item in items],
    )


def is_incomplete(connection: sqlite3.Connection) -> bool:
    """Whether an older hipo made the run, and what it is made of has not all been taken in."""
    return connection.execute("select 1 from meta where key = ?", (SOUGHT,)).fetchone() is not None


def complete_items(
    connection: sqlite3.Connection, items: Iterable[MaterialItem], *, complete: bool
) -> None:
    """Store what was found of the material of an older run, inside the caller's transaction."""
    store_items(connection, items)
    if complete:
        connection.execute("delete from meta where key = ?", (SOUGHT,))


def read_items(connection: sqlite3.Connection) -> list[MaterialItem]:
    """Return everything that is stored; what was put in use last comes last."""
    rows = connection.execute(
        "select kind, name, hash, content from materials order by stored_at, seq"
    )
    return [MaterialItem(*row) for row in rows]


def holds_kind(connection: sqlite3.Connection, kind: MaterialKind) -> bool:
    """Return whether anything of a kind is stored."""
    found = connection.execute("select 1 from materials where kind = ? limit 1", (kind,))
    return found.fetchone() is not None
