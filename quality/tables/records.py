"""Files of rows: delimited text, JSON lines or Parquet, every row accounted for."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern

from quality.tables.oddities import Oddity, Place, shown
from quality.tables.parquet import MAGIC, parquet_rows
from scenarios.errors import UsageError
from scenarios.plural import plural
from scenarios.text_file import read_bytes, shown_path, unmarked

MOST_BYTES = 256 << 20
_NAMED_COLUMNS = 8
"""Of those that are missing, how many an error names."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_BYTE_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_WIDE = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass(frozen=True, slots=True)
class Record:
    """A row of a file: what its cells hold, by the name of the column as it is written."""

    row: int
    line: int
    cells: Mapping[str, object]


@dataclass(slots=True)
class FileOfRows:
    """The rows of a file, and what was odd about them."""

    file: str
    path: Path
    columns: tuple[str, ...] = ()
    """The names in the header, or every name that a JSON object has, in order."""
    records: list[Record] = field(default_factory=list)
    oddities: list[Oddity] = field(default_factory=list)
    rows: int = 0
    """How many data rows the file has; those that are no record have an oddity each."""

    def odd(
        self,
        code: str,
        found: str,
        done: str,
        *,
        at: tuple[int | None, int | None] = (None, None),
        column: str = "",
        left_out: bool = False,
    ) -> None:
        """Note something; ``at`` is (row, line)."""
        place = Place(self.file, at[0], at[1], column)
        self.oddities.append(Oddity(place, code, found, done, left_out))


def read_file(
    path: Path, *, encodings: Sequence[str], delimiters: str, expected: Sequence[str]
) -> FileOfRows:
    """Read a file; which of the delimiters it uses follows from its header.

    Args:
        path: comma- or otherwise separated values with a header, JSON lines, a JSON array, or
            Parquet.
        encodings: to be tried line by line, the first that fits counts.
        delimiters: what may separate cells.
        expected: names of columns that are looked for, to find the delimiter out.

    Raises:
        UsageError: there is no such file, it is too large, or no text.
    """
    table = FileOfRows(shown_path(path), path)
    data = read_bytes(path, MOST_BYTES)
    if data.startswith(MAGIC):
        rows = parquet_rows(table.file, data, MOST_BYTES)
        _take_objects(table, enumerate(rows, 1), lined=False)
        return table
    text = _decoded(table, data, encodings)
    if _is_empty(text):
        table.odd("empty_file", "nothing", "no row is read")
    elif text.lstrip("\0\ufeff \t\r\n")[:1] in ("{", "["):
        _read_json(table, text)
    else:
        _Delimited(table, text, delimiters, expected).read()
    return table


def no_row_of(files: Sequence[FileOfRows], oddities: Sequence[Oddity]) -> UsageError:
    """Return the error of files of which no row can be used, with the first five things odd."""
    listed = ", ".join(file.file for file in files)
    hint = (
        "give a header and below it a row for each answer, or for each item (docs/annotations.md)"
    )
    return UsageError(
        f"no row could be read of {listed}", "\n  ".join([*map(str, oddities[:5]), hint])
    )


def _decoded(table: FileOfRows, data: bytes, encodings: Sequence[str]) -> str:
    """Return the text of a file; what is not in the first encoding is noted line by line."""
    for mark, name in _WIDE:
        if data.startswith(mark):
            table.odd("encoding", f"text in {name.upper()}", "read as such")
            return data.decode(name, errors="replace")
    data = unmarked(data)
    try:
        return data.decode(encodings[0])
    except UnicodeDecodeError:
        pass
    lines = []
    for number, raw in enumerate(_BYTE_LINE.findall(data), 1):
        for encoding in encodings:
            try:
                lines.append(raw.decode(encoding))
            except UnicodeDecodeError:
                continue
            if encoding != encodings[0]:
                strange = next(bytes([byte]) for byte in raw if byte > 127)
                found = f"a byte that is not {encodings[0]}: 0x{strange.hex()}"
                table.odd("encoding", found, f"the line is read as {encoding}", at=(None, number))
            break
        else:
            found = f"bytes that are none of {', '.join(encodings)}"
            table.odd("encoding", found, "replaced by U+FFFD", at=(None, number))
            lines.append(raw.decode(encodings[0], errors="replace"))
    return "".join(lines)


def _read_json(table: FileOfRows, text: str) -> None:
    """Read an array of objects, or objects a line each."""
    rows: Iterator[tuple[int, object]]
    if text.lstrip().startswith("["):
        try:
            array = json.loads(text)
        except (ValueError, RecursionError):
            array = None
        if isinstance(array, list):
            _take_objects(table, enumerate(array, 1), lined=False)
            return
    rows = (
        (number, _json(line))
        for number, line in enumerate(_LINE.findall(text), 1)
        if not _is_empty(line)
    )
    _take_objects(table, rows, lined=True)


def _json(line: str) -> object:
    try:
        return json.loads(line.replace("\0", ""))
    except (ValueError, RecursionError):
        return line


def _take_objects(table: FileOfRows, rows: Iterator[tuple[int, object]], *, lined: bool) -> None:
    columns: dict[str, None] = {}
    for number, (line, value) in enumerate(rows, 1):
        table.rows = number
        at = (number, line if lined else None)
        if not isinstance(value, dict):
            table.odd("no_object", shown(value), "the row is left out", at=at, left_out=True)
            continue
        cells = {str(name).strip(): cell for name, cell in value.items()}
        columns.update(dict.fromkeys(cells))
        table.records.append(Record(number, line, cells))
    table.columns = tuple(columns)


@dataclass(slots=True)
class _Lines:
    """Physical lines, one after the other, and which is next."""

    lines: list[str]
    next: int = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if self.next >= len(self.lines):
            raise StopIteration
        self.next += 1
        return self.lines[self.next - 1]


@dataclass(slots=True)
class _Delimited:
    """Reads delimited text."""

    table: FileOfRows
    text: str
    delimiters: str
    expected: Sequence[str]

    def read(self) -> None:
        """Read header and rows."""
        lines = _LINE.findall(self.text)
        first = next(number for number, line in enumerate(lines) if not _is_empty(line))
        delimiter = self._delimiter("".join(lines[first : first + 50]))
        rows = self._rows(lines[first:], delimiter, first)
        _, header, _ = next(rows)
        names = self._header(header, first + 1)
        for number, (line, cells, raw) in enumerate(rows, 1):
            self.table.rows = number
            self._row(
                names, number, line, self._fitted(names, cells, raw, delimiter, (number, line))
            )

    def _delimiter(self, head: str) -> str:
        """Return what separates the most columns that are looked for, else the most at all."""
        wanted = {folded(name) for name in self.expected}

        def fitness(delimiter: str) -> tuple[int, int]:
            cells = _cells(head, delimiter)
            return len({folded(cell) for cell in cells} & wanted), len(cells)

        return max(self.delimiters, key=fitness)

    def _rows(
        self, lines: list[str], delimiter: str, before: int
    ) -> Iterator[tuple[int, list[str], str]]:
        """Yield (line, cells, as written) of every row, the header first; blank lines are none."""
        source = _Lines(lines)
        while source.next < len(lines):
            start = source.next
            if _is_empty(lines[start]):
                source.next += 1
                continue
            cells = _next_cells(source, delimiter)
            raw = "".join(lines[start : source.next])
            if source.next == len(lines) and _is_open(lines[start:], delimiter):
                source.next = start + 1
                raw = lines[start]
                cells = _unquoted(raw, delimiter)
                self.table.odd(
                    "open_quote", shown(raw.strip()), "the line is read as if quotes were letters",
                    at=(None, start + before + 1),
                )  # fmt: skip
            yield start + before + 1, cells, raw

    def _header(self, cells: list[str], line: int) -> list[str]:
        """Return the names of the columns; a name that stands twice or not at all gets a number."""
        while len(cells) > 1 and not cells[-1].strip():
            cells.pop()
        names: list[str] = []
        for place, cell in enumerate(cells, 1):
            name = " ".join(cell.replace("\0", "").split())
            if not name:
                name = f"column {place}"
                self.table.odd("unnamed_column", "no name", f"called {name!r}", at=(None, line))
            elif name in names:
                again = f"{name} ({place})"
                found = f"a second column {name!r}"
                self.table.odd("repeated_column", found, f"called {again!r}", at=(None, line))
                name = again
            names.append(name)
        self.table.columns = tuple(names)
        return names

    def _fitted(
        self, names: list[str], cells: list[str], raw: str, delimiter: str, at: tuple[int, int]
    ) -> list[str]:
        """Return as many cells as there are columns; whatever is done about others is noted."""
        if len(cells) == len(names):
            return cells
        for other in self.delimiters:
            if other != delimiter and len(again := _cells(raw, other)) == len(names):
                found = f"cells separated by {other!r} in a file of {delimiter!r}"
                self.table.odd("other_delimiter", found, f"separated by {other!r}", at=at)
                return again
        if len(cells) < len(names):
            found = f"{plural(len(cells), 'cell')} for {plural(len(names), 'column')}"
            self.table.odd("short_row", found, "the last columns count as empty", at=at)
            return [*cells, *[""] * (len(names) - len(cells))]
        rest = cells[len(names) :]
        if any(cell.strip() for cell in rest):
            found = f"{plural(len(cells), 'cell')} for {plural(len(names), 'column')}, beyond them {shown(rest)}"
            self.table.odd("long_row", found, "what is beyond the last column is not read", at=at)
        else:
            found = f"{len(rest)} separators too many at the end"
            self.table.odd("trailing_separators", found, "not counted", at=at)
        return cells[: len(names)]

    def _row(self, names: list[str], number: int, line: int, cells: list[str]) -> None:
        at = (number, line)
        if not any(cell.strip("\0 \t\r\n") for cell in cells):
            self.table.odd(
                "blank_row", "only empty cells", "the row is left out", at=at, left_out=True
            )
            return
        for name, cell in zip(names, cells, strict=True):
            if "\0" in cell:
                self.table.odd("zero_bytes", shown(cell), "taken out", at=at, column=name)
        # Names, labels, and what several annotators were shown, are held once.
        clean = [intern(cell.replace("\0", "")) for cell in cells]
        self.table.records.append(Record(number, line, dict(zip(names, clean, strict=True))))


def _is_empty(line: str) -> bool:
    return not line.replace("\0", "").strip()


def folded(name: object) -> str:
    """Return a name without regard to case and spaces."""
    return " ".join(str(name).casefold().split())


def _cells(text: str, delimiter: str) -> list[str]:
    """Return the cells of the first row of a text."""
    return _next_cells(_Lines(_LINE.findall(text)), delimiter)


def _next_cells(source: _Lines, delimiter: str) -> list[str]:
    """Read one row; a cell may be as large as the file."""
    with _cells_of_any_size():
        return next(csv.reader(source, delimiter=delimiter), [])


def _unquoted(line: str, delimiter: str) -> list[str]:
    with _cells_of_any_size():
        return next(csv.reader([line], delimiter=delimiter, quoting=csv.QUOTE_NONE), [])


def _is_open(lines: Sequence[str], delimiter: str) -> bool:
    """Tell whether a quote that was opened in a row is never closed: then it swallows what follows."""
    with _cells_of_any_size():
        reader = csv.reader([*lines, "the next row"], delimiter=delimiter)
        next(reader, None)
        return next(reader, None) is None


@contextmanager
def _cells_of_any_size() -> Iterator[None]:
    limit = csv.field_size_limit(MOST_BYTES)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def no_such_column(table: FileOfRows, names: Sequence[str], what: str) -> UsageError:
    """Return the error that a column which nothing can replace is missing."""
    named = [repr(name) for name in dict.fromkeys(names)]
    if len(named) > _NAMED_COLUMNS + 1:
        named[_NAMED_COLUMNS:] = [f"one of {len(named) - _NAMED_COLUMNS} others of the map"]
    wanted = " or ".join(named)
    listed = ", ".join(table.columns[:40])
    return UsageError(
        f"{table.file}: found no column {wanted}, expected {what}", f"its columns: {listed}"
    )
