"""Write rows once, as JSON lines and Parquet, in constant memory; hash what is written."""

from __future__ import annotations

import hashlib
import io
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Self

import orjson

from outputs.dataset.arrow import arrow_schema, arrow_table, check_parquet, concatenated
from outputs.dataset.columns import Row
from outputs.dataset.csv_files import CsvFiles
from outputs.dataset.manifest import Column, ExportedFile, FileFormat, sha256_of

CHUNK = 4 * 1024 * 1024
"""Bytes of JSON lines written at once: with fewer, the threads wait for each other more often."""
ROW_GROUP = 4
"""Chunks that make one row group of Parquet."""
_WAITING = 4
"""Chunks that may wait to be written: enough to keep both sides busy."""
_PARQUET_VERSION = "2.6"


class _Chunk:
    """Lines in a buffer that is used again and again: a new one costs more than to fill it."""

    def __init__(self) -> None:
        self._buffer = io.BytesIO()
        self.size = 0

    def add(self, line: bytes) -> None:
        """Append one line."""
        self.size += self._buffer.write(line)

    def clear(self) -> None:
        """Forget the lines."""
        self._buffer.seek(0)
        self.size = 0

    @contextmanager
    def lines(self) -> Iterator[memoryview]:
        """Give the lines to look at; nobody may keep them."""
        with self._buffer.getbuffer() as whole, whole[: self.size] as lines:
            yield lines


@dataclass(slots=True)
class _Gathering:
    """What has been gathered for one split and is not handed over yet."""

    chunk: _Chunk
    total: int = 0
    """Rows so far, those handed over included."""


class RowWriter:
    """Writes the rows of every split; use it as a context, then ask for :meth:`files`.

    JSON lines are encoded where the rows are made. A thread writes and hashes each finished chunk
    and turns it into a row group; that needs no lock of the interpreter
    and so take little time from making rows.
    """

    def __init__(
        self,
        folder: Path,
        *,
        subset: str,
        columns: Sequence[Column],
        splits: Sequence[str],
        part: str = "",
        parquet: bool = True,
        csv: bool = False,
        chunk: int = CHUNK,
    ) -> None:
        """Begin ``jsonl/<split>.jsonl`` and ``data/<split>-00000-of-00001.parquet`` in a folder.

        With ``csv`` there is ``csv/<split>.csv``, too; rows have to be flat then.
        With a ``part`` they lie in folders of its name, ``jsonl/<part>/`` and ``data/<part>/``.

        Raises:
            UsageError: Parquet is wanted and the package for it is missing.
        """
        if parquet:
            check_parquet()
        self._folder = folder
        self._subset = subset
        self._columns = tuple(columns)
        self._chunk = chunk
        self._csv = CsvFiles(folder, columns) if csv else None
        self._gathering = {split: _Gathering(_Chunk()) for split in splits}
        self._files = {
            split: _SplitFiles(folder, part, split, columns, parquet) for split in splits
        }
        self._thread = _WritingThread(self._files)

    def write(self, split: str, row: Row) -> None:
        """Add one row to a split.

        Raises:
            ValueError: it lacks a column, or an earlier row does not fit the types of columns.
        """
        if len(row) != len(self._columns):
            names = {column.name for column in self._columns}
            raise ValueError(f"a row has not the columns {sorted(names ^ row.keys())}")
        gathering = self._gathering[split]
        gathering.chunk.add(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
        gathering.total += 1
        if self._csv is not None:
            self._csv.write(split, row)
        if gathering.chunk.size >= self._chunk:
            self._hand_over(split, gathering)

    def files(self) -> tuple[ExportedFile, ...]:
        """Return what was written; a split without a row has no file."""
        found = []
        for form in ("jsonl", "parquet"):
            for split, files in self._files.items():
                if form in files.hashes:
                    path, digest = files.paths[form], files.hashes[form]
                    found.append(self._described(form, split, path, digest))
        if self._csv is not None:
            for split, digest in self._csv.hashes.items():
                found.append(self._described("csv", split, self._csv.path(split), digest))
        return tuple(found)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            for split, gathering in self._gathering.items():
                self._hand_over(split, gathering)
        if self._csv is not None:
            self._csv.close()
        self._thread.close(abandon=kind is not None)

    def _hand_over(self, split: str, gathering: _Gathering) -> None:
        if gathering.chunk.size:
            gathering.chunk = self._thread.add(split, gathering.chunk)

    def _described(self, form: FileFormat, split: str, path: Path, digest: str) -> ExportedFile:
        return ExportedFile(
            path=path.relative_to(self._folder).as_posix(),
            format=form,
            subset=self._subset,
            split=split,
            rows=self._gathering[split].total,
            size=path.stat().st_size,
            sha256=digest,
            columns=self._columns,
        )


class _SplitFiles:
    """The files of one split; made with its first chunk, used by one thread."""

    def __init__(
        self, folder: Path, part: str, split: str, columns: Sequence[Column], parquet: bool
    ) -> None:
        self.paths: Mapping[FileFormat, Path] = {
            "jsonl": folder / "jsonl" / part / f"{split}.jsonl",
            "parquet": folder / "data" / part / f"{split}-00000-of-00001.parquet",
        }
        self.hashes: dict[FileFormat, str] = {}
        self._schema = arrow_schema(columns) if parquet else None
        self._lines: BinaryIO | None = None
        self._hash = hashlib.sha256()
        self._tables: Any = None
        self._group: list[Any] = []

    def add(self, lines: memoryview) -> None:
        """Write one chunk."""
        self._open().write(lines)
        self._hash.update(lines)
        if self._schema is not None:
            self._group.append(arrow_table(lines, self._schema))
            if len(self._group) == ROW_GROUP:
                self._write_group()

    def finish(self) -> None:
        """Close the files and keep their hashes."""
        if self._lines is None:
            return
        self._lines.close()
        self.hashes["jsonl"] = self._hash.hexdigest()
        if self._tables is not None:
            self._write_group()
            self._tables.close()
            self.hashes["parquet"] = sha256_of(self.paths["parquet"])

    def _write_group(self) -> None:
        if self._group:
            rows = sum(len(table) for table in self._group)
            self._tables.write_table(concatenated(self._group), row_group_size=rows)
            self._group.clear()

    def _open(self) -> BinaryIO:
        if self._lines is not None:
            return self._lines
        self.paths["jsonl"].parent.mkdir(parents=True, exist_ok=True)
        self._lines = self.paths["jsonl"].open("wb")
        if self._schema is not None:
            import pyarrow.parquet as pq  # noqa: PLC0415 - optional and slow to import

            self.paths["parquet"].parent.mkdir(parents=True, exist_ok=True)
            self._tables = pq.ParquetWriter(
                self.paths["parquet"],
                self._schema,
                version=_PARQUET_VERSION,
                compression="zstd",
                compression_level=1,
            )
        return self._lines


class _WritingThread:
    """Writes chunks in the order in which they come."""

    def __init__(self, files: Mapping[str, _SplitFiles]) -> None:
        self._files = files
        self._queue: queue.Queue[tuple[str, _Chunk] | None] = queue.Queue(_WAITING)
        self._spare: deque[_Chunk] = deque()
        self._error: BaseException | None = None
        self._abandoned = False
        self._thread = threading.Thread(target=self._work, name="rows", daemon=True)
        self._thread.start()

    def add(self, split: str, chunk: _Chunk) -> _Chunk:
        """Hand over one chunk and return an empty one; waits while too many are waiting already."""
        self._raise_error()
        self._queue.put((split, chunk))
        return self._spare.popleft() if self._spare else _Chunk()

    def close(self, *, abandon: bool) -> None:
        """Finish the files, or leave them as they are.

        Raises:
            OSError: one could not be written.
        """
        self._abandoned = abandon
        self._queue.put(None)
        self._thread.join()
        if not abandon:
            self._raise_error()

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            if self._error is None and not self._abandoned:
                self._tried(partial(self._write, *item))
        for files in self._files.values():
            self._tried(files.finish)

    def _write(self, split: str, chunk: _Chunk) -> None:
        with chunk.lines() as lines:
            self._files[split].add(lines)
        chunk.clear()
        self._spare.append(chunk)

    def _tried(self, step: Callable[[], None]) -> None:
        try:
            step()
        except Exception as error:  # noqa: BLE001 - raised again in the thread that adds rows
            self._error = self._error or error
