"""Write rows to the files of their configuration: one for each thing that is asked, or one for all."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from outputs.dataset.columns import Row
from outputs.dataset.manifest import Column, ExportedFile
from outputs.dataset.writer import RowWriter


class DividedWriter:
    """Writes rows of several configurations into one folder; use it as a context.

    Rows of one configuration alone lie in ``jsonl/<split>.jsonl``, those of several in
    ``jsonl/<configuration>/<split>.jsonl``; Parquet likewise.
    """

    def __init__(
        self,
        folder: Path,
        *,
        subsets: Sequence[str],
        divided_by: str | None,
        columns: Sequence[Column],
        splits: Sequence[str],
        parquet: bool,
        csv: bool = False,
    ) -> None:
        """Begin the files.

        Args:
            folder: of the export.
            subsets: the configurations there may be, in the order in which they are listed.
            divided_by: the column that says which one a row belongs to; None: there is one alone.
            columns: of every row.
            splits: there may be.
            parquet: whether Parquet is written beside JSON lines.
            csv: whether a table is, too; rows have to be flat then.

        Raises:
            UsageError: Parquet is wanted and the package for it is missing.
        """
        self._divided_by = divided_by
        self._only = subsets[0]
        several = len(subsets) > 1
        self._writers = {
            name: RowWriter(
                folder,
                subset=name,
                part=name if several else "",
                columns=columns,
                splits=splits,
                parquet=parquet,
                csv=csv,
            )
            for name in subsets
        }
        self._open = ExitStack()

    def write(self, split: str, row: Row) -> str:
        """Add one row to a split of its configuration, and return what that is called.

        Raises:
            ValueError: it lacks a column, or an earlier row does not fit the types of columns.
        """
        name = self._only if self._divided_by is None else str(row[self._divided_by])
        self._writers[name].write(split, row)
        return name

    def files(self) -> tuple[ExportedFile, ...]:
        """Return what was written, format by format; what has no row has no file."""
        found = [file for writer in self._writers.values() for file in writer.files()]
        formats = list(dict.fromkeys(file.format for file in found))
        return tuple(sorted(found, key=lambda file: formats.index(file.format)))

    def __enter__(self) -> Self:
        for writer in self._writers.values():
            self._open.enter_context(writer)
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)
