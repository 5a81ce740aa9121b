"""Read the rows of a data set on disk: JSON lines, JSON or Parquet, a file or a folder."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import orjson

from outputs.contamination.comparable import Row
from outputs.contamination.contamination import RowSet
from outputs.dataset.manifest import MANIFEST
from scenarios.errors import InputError, Problem, UsageError
from scenarios.json_lines import json_lines
from scenarios.text_file import read_bytes, real_path, shown_path, unmarked

_LINES = (".jsonl", ".ndjson")
_JSON = ".json"
_MOST_JSON = 1 << 30
"""Bytes of a file that is one JSON document: it is read as a whole."""
_PARQUET = ".parquet"
_PAGE = 512
_PARENTS = 2
"""Folders above a file of rows in which the manifest of its export is looked for."""
_HINT = "mend or leave out"
_DOCUMENT = "a JSON object, or a list of them"


def row_set(path: Path, name: str | None = None) -> RowSet:
    """Return the rows of a file, or of all data files of a folder in the order of their paths.

    Where a folder holds JSON lines they are read, and Parquet files, which then hold the same
    rows again, are not. JSON files are read where a folder holds neither: each is a row, or a list
    of rows.

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
            yield from _READERS[file.suffix](file)

    return RowSet(name or str(path), rows)


def data_files(path: Path) -> list[Path]:
    """Return the files of rows that a path stands for, in the order in which they are read.

    Raises:
        UsageError: there is none.
    """
    if path.is_file():
        if path.suffix not in _READERS:
            raise UsageError(
                f"{path}: is neither .jsonl, .json nor .parquet",
                "give rows in one of these forms, or make a run of the table with hipo import",
            )
        return [path]
    if not path.is_dir():
        raise UsageError(f"{path}: there is no such file or folder", "give an exported data set")
    found = [file for file in sorted(path.rglob("*")) if file.is_file()]
    lines = [file for file in found if file.suffix in _LINES]
    files = lines or [file for file in found if file.suffix == _PARQUET]
    if not files and not (path / MANIFEST).is_file():  # of an export, JSON is what describes it
        files = [file for file in found if file.suffix == _JSON]
    if not files:
        raise UsageError(f"{path}: holds no .jsonl, .json or .parquet file", "give a data set")
    return files


def folders_of(path: Path) -> list[Path]:
    """Return where the manifest of an export may lie to which a file or folder of rows belongs."""
    return [path] if path.is_dir() else list(real_path(path).parents)[:_PARENTS]


def _json_lines(file: Path) -> Iterator[Row]:
    for number, row in json_lines(file, _HINT):
        if not isinstance(row, dict):
            found, expected = f"a JSON {type(row).__name__}", "one JSON object per line"
            raise InputError([Problem(shown_path(file), number, "", found, expected, _HINT)])
        yield row


def _json(file: Path) -> Iterator[Row]:
    """Yield the object that a file holds, or those of its list."""
    try:
        held = orjson.loads(unmarked(read_bytes(file, _MOST_JSON)))
    except orjson.JSONDecodeError as error:
        found = f"no JSON ({error})"
        raise InputError([Problem(shown_path(file), None, "", found, _DOCUMENT, _HINT)]) from error
    for number, row in enumerate(held if isinstance(held, list) else [held], start=1):
        if not isinstance(row, dict):
            where = f"item {number}" if isinstance(held, list) else ""
            found = f"a JSON {type(row).__name__}"
            raise InputError([Problem(shown_path(file), None, where, found, _DOCUMENT, _HINT)])
        yield row


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


_READERS = {**dict.fromkeys(_LINES, _json_lines), _JSON: _json, _PARQUET: _parquet}
