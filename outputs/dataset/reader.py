"""Read the rows of a data set on disk: JSON lines or Parquet, a file or a folder."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import orjson

from outputs.contamination.comparable import Row
from outputs.contamination.contamination import RowSet
from scenarios.errors import InputError, Problem, UsageError
from scenarios.text_file import unmarked

_LINES = (".jsonl", ".ndjson")
_PARQUET = ".parquet"
_PAGE = 512
_LONGEST_LINE = 64 * 1024 * 1024


def row_set(path: Path, name: str | None = None) -> RowSet:
    """Return the rows of a file, or of all data files of a folder in the order of their paths.

    Where a folder holds JSON lines they are read, and Parquet files, which then hold the same
    rows again, are not.

    Raises:
        UsageError: there is nothing to read, or ``pyarrow`` is missing and needed.
    """
    files = data_files(path)
    if any(file.suffix == _PARQUET for file in files) and find_spec("pyarrow") is None:
        raise UsageError(
            f"{path}: reading Parquet needs the package pyarrow", 'pip install "hipo[datasets]"'
        )

    def rows() -> Iterator[Row]:
        for file in files:
            yield from _parquet(file) if file.suffix == _PARQUET else _json_lines(file)

    return RowSet(name or str(path), rows)


def data_files(path: Path) -> list[Path]:
    """Return the files of rows that a path stands for, in the order in which they are read.

    Raises:
        UsageError: there is none.
    """
    if path.is_file():
        if path.suffix not in (*_LINES, _PARQUET):
            raise UsageError(
                f"{path}: is neither .jsonl nor .parquet",
                "give rows in one of these forms, or make a run of the table with hipo import",
            )
        return [path]
    if not path.is_dir():
        raise UsageError(f"{path}: there is no such file or folder", "give an exported data set")
    found = [file for file in sorted(path.rglob("*")) if file.is_file()]
    lines = [file for file in found if file.suffix in _LINES]
    files = lines or [file for file in found if file.suffix == _PARQUET]
    if not files:
        raise UsageError(f"{path}: holds no .jsonl and no .parquet file", "give a data set")
    return files


def _json_lines(file: Path) -> Iterator[Row]:
    try:
        with file.open("rb") as lines:
            yield from _objects(file, lines)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}", "make the file readable") from error


def _objects(file: Path, lines: IO[bytes]) -> Iterator[Row]:
    number = 0
    while line := lines.readline(_LONGEST_LINE):
        number += 1
        text = unmarked(line) if number == 1 else line
        if not text.strip():
            continue
        try:
            row = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise _problem(file, number, f"a line that is no JSON ({error})") from error
        if not isinstance(row, dict):
            raise _problem(file, number, f"a JSON {type(row).__name__}")
        yield row


def _problem(file: Path, line: int, found: str) -> InputError:
    return InputError(
        [Problem(str(file), line, "", found, "one JSON object per line", "mend or leave out")]
    )


def _parquet(file: Path) -> Iterator[Row]:
    from pyarrow import ArrowException  # noqa: PLC0415
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415

    try:
        with ParquetFile(file) as table:
            for batch in table.iter_batches(_PAGE):
                yield from batch.to_pylist()
    except (ArrowException, OSError) as error:
        first = str(error).partition("\n")[0]
        raise UsageError(f"{file}: cannot be read as Parquet: {first}", "export it anew") from error
