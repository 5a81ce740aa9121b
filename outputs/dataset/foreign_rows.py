"""Rows and files of kinds and formats of plugins, looked at before they are written."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from outputs.dataset.card import CARD
from outputs.dataset.columns import Row
from outputs.dataset.croissant import CROISSANT
from outputs.dataset.datasheet import DATASHEET
from outputs.dataset.documents import OVERLAP
from outputs.dataset.manifest import MANIFEST, Column
from outputs.dataset.scheme_file import SCHEME
from outputs.dataset.told_audit import AUDIT

COUNTS: Final = "counts.json"
_OWN: Final = {CARD, CROISSANT, DATASHEET, OVERLAP, MANIFEST, SCHEME, AUDIT, COUNTS}
"""Files that are written into the folder of every export, or of some."""
_SCALARS: Final[Mapping[str, type]] = {"text": str, "bool": bool, "int": int, "float": float}
_KEYS: Final = {"message": {"role", "content"}, "turn": {"from", "value"}}


class ForeignRows:
    """Looks at every row of one pass: its columns, their types, and that no two have the same id."""

    def __init__(self, columns: Sequence[Column]) -> None:
        """Look at rows of these columns.

        Raises:
            ValueError: two of them have one name.
        """
        names = [column.name for column in columns]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"two columns are called {twice[0]!r}")
        self._columns = {column.name: column for column in columns}
        self._ids: set[object] = set()

    def check(self, row: Row) -> None:
        """Do nothing where a row is as its columns say.

        Raises:
            ValueError: it lacks a column or has one more, a value is of another type, NaN or
                infinite, or an earlier row has its id.
        """
        if row.keys() != self._columns.keys():
            lacking, more = self._columns.keys() - row.keys(), row.keys() - self._columns.keys()
            raise ValueError(
                f"a row lacks the columns {sorted(lacking)}, and has {sorted(more)} more"
            )
        for name, column in self._columns.items():
            if not _fits(row[name], column):
                found = f"{row[name]!r:.100} as {name}"
                raise ValueError(f"the row {row['id']} has {found}, expected {column.kind}")
        if row["id"] in self._ids:
            raise ValueError(f"two rows have the id {row['id']!r}")
        self._ids.add(row["id"])


def _fits(value: object, column: Column) -> bool:
    """Whether a value is of the kind of its column; None stands for no value."""
    if value is None:
        return True
    if column.kind.endswith("s"):
        one = column.kind.removesuffix("s")
        return isinstance(value, list) and all(_is_one(each, one, column) for each in value)
    return _is_one(value, column.kind, column)


def _is_one(value: object, kind: str, column: Column) -> bool:
    if kind in _KEYS:
        return (
            isinstance(value, dict)
            and value.keys() == _KEYS[kind]
            and all(isinstance(text, str) for text in value.values())
        )
    if kind == "record":
        return (
            isinstance(value, dict)
            and value.keys() == {part.name for part in column.fields}
            and all(_fits(value[part.name], part) for part in column.fields)
        )
    if kind == "float" and isinstance(value, int | float) and not isinstance(value, bool):
        return math.isfinite(value)
    return type(value) is _SCALARS[kind]


def write_companions(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files that stand beside the rows.

    Raises:
        ValueError: one would lie outside the folder, or over another file of the export.
        TypeError: one is no text.
    """
    for name, text in files.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise ValueError(f"the file {name!r} beside the rows would lie outside the folder")
        target = folder / path
        if str(path) in _OWN or target.exists():
            raise ValueError(f"the file {name!r} beside the rows would lie over one of the export")
        if not isinstance(text, str):
            raise TypeError(f"the file {name!r} beside the rows is {text!r:.100}, expected a text")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
