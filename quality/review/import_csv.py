"""Read answers from a spreadsheet: the table we write, filled in or in part."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from quality.review.outgoing import ISSUE, LEAD, Incoming, dimensions_of, split_name
from quality.review.spreadsheet import OPINION, columns
from quality.tables.formulas import is_number, original
from quality.tables.header import SEPARATOR, SHOWN, SHOWN_WORDS
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
        self._answered: set[tuple[str, ...]] = set()
        self._scheme = scheme
        self._file = file

    def read(self, text: str) -> None:
        """Read the whole table."""
        header, _, _ = text.partition("\n")
        delimiter = max(",;\t", key=header.count)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        try:
            names = _without_empty_end(next(reader, []))
            if self._accepts(names):
                # By the number that a spreadsheet gives a row: a cell may have several lines.
                for number, cells in enumerate(reader, start=2):
                    self._take(names, _without_empty_end(cells), number)
        except csv.Error as error:
            self._wrong(reader.line_num, "", str(error), "a CSV table")

    def _accepts(self, names: Sequence[str]) -> bool:
        for name in ("item", "annotator"):
            if name not in names:
                self._wrong(1, "", f"no column {name!r}", "columns item and annotator")
        expected_columns = columns(self._scheme)
        for name in names:
            if name not in (*expected_columns, *SHOWN):
                self._wrong(1, name, "an unknown column", f"one of {', '.join(expected_columns)}")
            elif names.count(name) > 1:
                self._wrong(1, name, "a column that stands twice", "each column once")
        return not self.problems

    def _take(self, names: Sequence[str], row: Sequence[str], line: int) -> None:
        if len(row) > len(names):
            self._wrong(line, "", "more cells than columns", "as many as columns")
            return
        cells = {name: original(cell.strip()) for name, cell in zip(names, row, strict=False)}
        answered = [d for d in dimensions_of(self._scheme) if cells.get(d.id)]
        opinion = {name: cells[name] for name in OPINION if cells.get(name)}
        lead_s = float(cells[LEAD]) if is_number(cells.get(LEAD, "")) else 0.0
        is_filled_in = bool(answered or opinion or lead_s)
        if not is_filled_in or tuple(row) in self._answered:
            return  # not yet; or the same once more, whose seconds are no further ones
        self._answered.add(tuple(row))
        place = split_name(cells.get("item", ""))
        if place is None:
            self._wrong(line, "item", repr(cells.get("item", "")), "case/arm#turn")
            return
        annotator = cells.get("annotator", "")
        if not annotator:
            self._wrong(line, "annotator", "nothing", "a code or a name")
            return
        item, turn = place
        sheet = self.found.setdefault((item, annotator), Incoming(item, annotator, line))
        sheet.shown += [(turn, x, cells[x], line) for x in SHOWN_WORDS if cells.get(x)]
        for dimension in answered:
            key = (turn if dimension.level != "dialogue" else None, dimension.id)
            text = cells[dimension.id]
            value: object = text
            if dimension.measurement == "multi":
                value = [part.strip() for part in text.split(SEPARATOR.strip())]
            elif dimension.measurement == "interval" and is_number(text):
                value = float(text)
            sheet.places.setdefault(key, line)
            if sheet.labels.setdefault(key, value) != value:
                self._wrong(line, dimension.id, "a second answer", "one per person and question")
        for name, said in opinion.items():
            self._note(sheet, name, said, line)
        sheet.lead_s += max(0.0, lead_s)

    def _note(self, sheet: Incoming, name: str, said: str, line: int) -> None:
        """Take a part of an opinion; remarks on several rows of a dialogue are kept one below the other."""
        before = sheet.opinion.get(name, "")
        if name == ISSUE and before and before.casefold() != said.casefold():
            self._wrong(line, name, "a second answer", "one per person and dialogue")
        sheet.opinion[name] = "\n".join(dict.fromkeys(filter(None, (before, said))))
        sheet.places[None, name] = line

    def _wrong(self, line: int, field: str, found: str, expected: str) -> None:
        self.problems.append(Problem(self._file, line, field, found, expected))


def _without_empty_end(cells: Sequence[str]) -> Sequence[str]:
    """Return the cells of a row without those that spreadsheets write behind the last column."""
    used = [number for number, cell in enumerate(cells, 1) if cell.strip()]
    return cells[: max(used, default=0)]
