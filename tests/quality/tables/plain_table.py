"""A table without a map, written and read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from quality.tables.checking import CheckedTable, read_files
from quality.tables.measured import Numbers


def read(
    tmp_path: Path, text: str | bytes, *, numbers: Numbers | None = None, name: str = "a.csv"
) -> CheckedTable:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_files([path], None, numbers)


def answers(table: CheckedTable) -> set[tuple[str, str, str, Any]]:
    return {(a.item, a.annotator, a.dimension, a.value) for a in table.answers}
