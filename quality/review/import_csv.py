"""Read answers from a spreadsheet: the table we write, filled in or in part."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from quality.review.exchange import LEAD, Incoming, dimensions_of, split_name
from quality.review.spreadsheet import OPINION, SEPARATOR, columns
from quality.tables.formulas import is_number, original
from scenarios.errors import InputError, Problem
from scenarios.schemes.model import Scheme


def read_csv(text: str, scheme: Scheme, file: str) -> list[Incoming]:
    """Return everybody's answers, the rows of one dialogue put together again.

    Columns may be missing, rows may be few, cells may be blank; commas, semicolons or tabs separate.

    Raises:
        InputError: it is no such table; every problem is named with its line.
    """
    table = _AnswerTable(scheme, file)
    table.read(text.lstrip("\ufeff"))
    if table.problems:
        raise InputError(table.problems)
    return list(table.found.values())


class _AnswerTable:
    """Collects the answers of a table, and everything that is wrong with it."""

    def __init__(self, scheme: Scheme, file: str) -> None:
        self.found: dict[tuple[str, str], Incoming] = {}
        self.problems: list[Problem] = []
        self._scheme = scheme
        self._file = file

    def read(self, text: str) -> None:
        """Read the whole table."""
        header, _, _ = text.partition("\n")
        delimiter = max(",;\t", key=header.count)
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        try:
            if self._accepts(reader.fieldnames or ()):
                for row in reader:
                    self._take(row, reader.line_num)
        except csv.Error as error:
            self._wrong(reader.line_num, "", str(error), "a CSV table")

    def _accepts(self, header: object) -> bool:
        names = [str(name) for name in header] if isinstance(header, list) else []
        for name in ("item", "annotator"):
            if name not in names:
                self._wrong(1, "", f"no column {name!r}", "columns item and annotator")
        expected_columns = columns(self._scheme)
        for name in names:
            if name not in expected_columns:
                self._wrong(1, name, "an unknown column", f"one of {', '.join(expected_columns)}")
            elif names.count(name) > 1:
                self._wrong(1, name, "a column that stands twice", "each column once")
        return not self.problems

    def _take(self, row: Mapping[str | None, object], line: int) -> None:
        if None in row:
            self._wrong(line, "", "more cells than columns", "as many as columns")
            return
        cells = {str(key): original(str(value or "").strip()) for key, value in row.items()}
        answered = [d for d in dimensions_of(self._scheme) if cells.get(d.id)]
        opinion = {name: cells[name] for name in OPINION if cells.get(name)}
        lead_s = float(cells[LEAD]) if is_number(cells.get(LEAD, "")) else 0.0
        if not answered and not opinion and not lead_s:
            return  # a row nobody has filled in yet
        place = split_name(cells["item"])
        if place is None:
            self._wrong(line, "item", repr(cells["item"]), "case/arm#turn")
            return
        annotator = cells["annotator"]
        if not annotator:
            self._wrong(line, "annotator", "nothing", "a code or a name")
            return
        item, turn = place
        sheet = self.found.setdefault((item, annotator), Incoming(item, annotator, line))
        for dimension in answered:
            key = (turn if dimension.level != "dialogue" else None, dimension.id)
            text = cells[dimension.id]
            value: object = text
            if dimension.measurement == "multi":
                value = text.split(SEPARATOR)
            elif dimension.measurement == "interval" and is_number(text):
                value = float(text)
            sheet.places.setdefault(key, line)
            if sheet.labels.setdefault(key, value) != value:
                self._wrong(line, dimension.id, "a second answer", "one per person and question")
        sheet.opinion |= opinion
        sheet.lead_s += max(0.0, lead_s)

    def _wrong(self, line: int, field: str, found: str, expected: str) -> None:
        self.problems.append(Problem(self._file, line, field, found, expected))
