"""Write flat rows as CSV, beside the other formats, with cells that no spreadsheet computes."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TextIO

from outputs.dataset.columns import Row
from outputs.dataset.manifest import Column, sha256_of
from quality.tables.formulas import neutral


class _Writer(Protocol):
    """What ``csv.writer`` returns."""

    def writerow(self, row: Sequence[object], /) -> object:
        """Write one line."""


class CsvFiles:
    """``csv/<split>.csv`` for every split that has a row: a header, then a line for each row.

    UTF-8; an empty cell is null or an empty text. Text that a spreadsheet would take for a formula
    has an apostrophe before it. Line breaks within a cell stand in quotes, as CSV has it.
    """

    def __init__(self, folder: Path, columns: Sequence[Column]) -> None:
        """Begin with no file."""
        self._folder = folder / "csv"
        self._names = [column.name for column in columns]
        self._open: dict[str, tuple[TextIO, _Writer]] = {}
        self.hashes: dict[str, str] = {}
        """By split, once closed."""

    def path(self, split: str) -> Path:
        """Return where the rows of a split lie."""
        return self._folder / f"{split}.csv"

    def write(self, split: str, row: Row) -> None:
        """Add one row."""
        if split not in self._open:
            self._folder.mkdir(parents=True, exist_ok=True)
            file = self.path(split).open("w", encoding="utf-8", newline="")
            self._open[split] = (file, csv.writer(file, lineterminator="\n"))
            self._open[split][1].writerow(self._names)
        cells = (row[name] for name in self._names)
        self._open[split][1].writerow(
            [neutral(cell) if isinstance(cell, str) else cell for cell in cells]
        )

    def close(self) -> None:
        """Close the files and keep their hashes."""
        for split, (file, _) in self._open.items():
            file.close()
            self.hashes[split] = sha256_of(self.path(split))
        self._open.clear()
