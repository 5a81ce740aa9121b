"""What a run's database holds, read straight from SQL so that the store is not its own witness."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from pipeline.store.sqlite import DATABASE


def rows(
    run: Path, sql: str, *parameters: object, database: str = DATABASE
) -> list[tuple[Any, ...]]:
    """Return the rows of one query."""
    connection = sqlite3.connect(f"file:{run / database}?mode=ro", uri=True)
    try:
        return connection.execute(sql, parameters).fetchall()
    finally:
        connection.close()


def count(run: Path, table: str) -> int:
    """Return the number of rows of a table."""
    (number,) = rows(run, f"select count(*) from {table}")[0]
    return int(number)
