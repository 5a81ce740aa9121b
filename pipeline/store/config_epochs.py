"""How a run began, the configurations it was continued under, and the state it says it is in."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from pipeline.store.materials import MaterialItem, store_items
from pipeline.store.sqlite import damaged, parsing, path_of
from scenarios.fingerprint import canonical_json
from scenarios.run_configuration import RunConfiguration


@dataclass(frozen=True, slots=True)
class ConfigEpoch:
    """A configuration a run was begun or continued under."""

    epoch: int
    """1 for the first; dialogues carry the epoch they were made in."""
    fingerprint: str
    """Of what in it decides the dialogues."""
    config: RunConfiguration


def begin(
    connection: sqlite3.Connection,
    name: str,
    config: RunConfiguration,
    material: Sequence[MaterialItem],
) -> None:
    """Write down that a run exists and what it is made of, in one transaction."""
    connection.execute("begin immediate")
    name_database(connection, name)
    add_config(connection, config, material)
    connection.execute("commit")


def name_database(connection: sqlite3.Connection, name: str) -> None:
    """Write down that a run or an evaluation exists, in the caller's transaction."""
    now = repr(time.time())
    connection.executemany(
        "insert into meta values (?, ?)",
        [("name", name), ("created", now), ("state", "new"), ("state_at", now)],
    )


def has_begun(connection: sqlite3.Connection) -> bool:
    """Whether a database belongs to a run (and is not what is left of one that never began)."""
    table = "select 1 from sqlite_schema where type = 'table' and name = 'meta'"
    if connection.execute(table).fetchone() is None:
        return False
    return connection.execute("select 1 from meta where key = 'name'").fetchone() is not None


def add_config(
    connection: sqlite3.Connection, config: RunConfiguration, material: Sequence[MaterialItem]
) -> int:
    """Store a configuration and its material in the caller's transaction; return its epoch."""
    store_items(connection, material)
    row = connection.execute(
        "insert into config_epochs (fingerprint, config, recorded_at) values (?, ?, ?)",
        (config.fingerprint, canonical_json(config.fields()).decode(), time.time()),
    )
    return row.lastrowid or 0


def set_state(connection: sqlite3.Connection, state: str, planned: int | None) -> None:
    """Store what a run is doing, and unless it is None how many dialogues it is to have.

    Inside the caller's transaction.
    """
    if planned is not None:
        connection.execute("insert or replace into meta values ('planned', ?)", (str(planned),))
    connection.execute("update meta set value = ? where key = 'state'", (state,))
    connection.execute("update meta set value = ? where key = 'state_at'", (repr(time.time()),))


def read_configs(connection: sqlite3.Connection) -> list[ConfigEpoch]:
    """Return every configuration of a run, oldest first; there is at least one.

    Raises:
        StoreUnusable: there is none, or one cannot be read.
    """
    rows = connection.execute("select epoch, fingerprint, config from config_epochs order by epoch")
    configs = [
        ConfigEpoch(epoch, mark, _parsed(connection, epoch, text)) for epoch, mark, text in rows
    ]
    if not configs:
        raise damaged(path_of(connection), "it holds no configuration")
    return configs


def _parsed(connection: sqlite3.Connection, epoch: int, text: str) -> RunConfiguration:
    with parsing(connection, f"the configuration {epoch} of the run"):
        return RunConfiguration.from_fields(orjson.loads(text))
