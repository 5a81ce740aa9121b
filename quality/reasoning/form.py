"""Forms that raters fill in about logs of reasoning: read, with whatever is odd about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Final, Literal

from quality.reasoning.error_types import ERROR_TYPES, SEPARATOR
from quality.tables.formulas import original
from quality.tables.oddities import Oddity, Place, shown
from quality.tables.records import FileOfRows, Record, folded, no_such_column, read_file

Stage = Literal["original", "final"]
STAGES: Final[tuple[Stage, ...]] = ("original", "final")
"""The first attempt, and the last one."""

FILE, GAME, ATTEMPTS = "file", "game", "attempts"
CHOICES: Final[Mapping[Stage, str]] = {"original": "orig_choice", "final": "final_choice"}
CORRECT: Final[Mapping[Stage, str]] = {"original": "orig_cor", "final": "fin_cor"}
PREDICTED: Final[Mapping[Stage, str]] = {"original": "orig_cor_pred", "final": "fin_cor_pred"}
ERR_TYPE, SENTENCE, REMARKS = "err_type", "sentence", "remarks"
CON_MAT, FAILED_QUERIES = "con_mat", "failed_queries"

COLUMNS: Final = (
    *(FILE, GAME, ATTEMPTS, *CHOICES.values(), *CORRECT.values()),
    *(ERR_TYPE, SENTENCE, CON_MAT, REMARKS, FAILED_QUERIES),
)
"""The columns of a form, in order."""
_BY_RATERS: Final = frozenset({ERR_TYPE, SENTENCE, REMARKS})
"""Columns that only a rater fills in."""
_TRUE, _FALSE = ("1", "1.0", "true", "yes", "y"), ("0", "0.0", "false", "no", "n")
_ENCODINGS, _DELIMITERS = ("utf-8", "cp1252", "mac_roman"), ",;\t|"


@dataclass(frozen=True, slots=True)
class FormRow:
    """What one rater says of one log."""

    log: str
    cells: Mapping[str, str]
    """Everything that stands in the row, by the name of the column."""
    place: Place
    correct: Mapping[Stage, bool | None]
    """Whether the reasoning is right; None where the rater does not say."""
    predicted: Mapping[Stage, bool | None]
    """The same of the solver, where the form has it."""
    error_types: tuple[str, ...]
    """Labels of mistakes, each once, in the order of the list."""


@dataclass(slots=True)
class RaterForm:
    """A form: one row for each log, and what was odd."""

    name: str
    columns: tuple[str, ...]
    rows: dict[str, FormRow] = field(default_factory=dict)
    """By the name of the log."""
    oddities: list[Oddity] = field(default_factory=list)
    all_rows: int = 0
    """How many rows the file has; those that do not count have an oddity each."""

    @property
    def is_merged(self) -> bool:
        """Whether this is no form of a rater, but what raters agreed on."""
        return PREDICTED["original"] in self.columns and _BY_RATERS.isdisjoint(self.columns)


def log_name(cell: str) -> str:
    """Return the name of a log without folder, ending and case, to compare names by."""
    name = PureWindowsPath(PurePosixPath(cell.strip()).name).name
    return name.casefold().removesuffix(".txt")


def read_form(path: Path) -> RaterForm:
    """Read a form; delimiter and encoding are found out, and what is odd is told.

    Of a reasoning with one attempt, an empty cell about the last attempt has what is said of the
    first one.

    Raises:
        UsageError: there is no such file, or it has no column ``file`` or ``orig_cor``.
    """
    table = read_file(path, encodings=_ENCODINGS, delimiters=_DELIMITERS, expected=COLUMNS)
    names = {folded(original(name)).replace(" ", "_"): name for name in table.columns}
    for needed in (FILE, CORRECT["original"]):
        if needed not in names:
            raise no_such_column(table, [needed], "a form about logs of reasoning")
    form = RaterForm(path.stem, tuple(names), oddities=table.oddities, all_rows=table.rows)
    for record in table.records:
        cells = {name: _text(record.cells.get(written)) for name, written in names.items()}
        _take(form, table, record, cells)
    return form


def _take(form: RaterForm, table: FileOfRows, record: Record, cells: dict[str, str]) -> None:
    at = (record.row, record.line)
    name = log_name(cells[FILE])
    if not name:
        found = "a row without the name of a log"
        table.odd("no_log", found, "the row is left out", at=at, column=FILE, left_out=True)
        return
    if name in form.rows:
        first = form.rows[name]
        other = sorted(c for c in cells if cells[c] != first.cells.get(c, ""))
        told = f", which differs in {', '.join(other)}" if other else ""
        found = f"a second row for {cells[FILE].strip()}{told}"
        done = f"row {first.place.row} counts"
        table.odd("second_row", found, done, at=at, column=FILE, left_out=True)
        return
    original, final = CORRECT.values()
    if cells.get(ATTEMPTS, "").strip() == "1" and not cells.get(final, "").strip():
        cells[final] = cells[original]  # the only attempt is the last one, too
    reading = _Cells(table, at, cells)
    row = FormRow(
        log=name,
        cells=cells,
        place=Place(table.file, record.row, record.line),
        correct={stage: reading.yes_or_no(CORRECT[stage]) for stage in STAGES},
        predicted={stage: reading.yes_or_no(PREDICTED[stage]) for stage in STAGES},
        error_types=reading.error_types(),
    )
    reading.compare(row)
    form.rows[name] = row


@dataclass(frozen=True, slots=True)
class _Cells:
    """Reads the cells of one row and notes what is odd about them."""

    table: FileOfRows
    at: tuple[int, int]
    cells: Mapping[str, str]

    def yes_or_no(self, column: str) -> bool | None:
        raw = self.cells.get(column, "")
        text = folded(raw)
        if not text:
            return None
        if text not in (*_TRUE, *_FALSE):
            self.odd("unknown_value", shown(raw), "counted as not answered", column)
            return None
        if raw.strip() not in ("0", "1"):
            self.odd("other_spelling", shown(raw), f"read as {int(text in _TRUE)}", column)
        return text in _TRUE

    def error_types(self) -> tuple[str, ...]:
        raw = self.cells.get(ERR_TYPE, "")
        found: set[str] = set()
        parts = raw.split(SEPARATOR) if raw.strip() else []
        for part in parts:
            code = folded(part)
            if code not in ERROR_TYPES:
                what = shown(part.strip()) if code else f"an empty code in {shown(raw)}"
                self.odd("unknown_error_type", what, "not counted", ERR_TYPE)
                continue
            if part.strip() != code:
                self.odd("other_spelling", shown(part.strip()), f"read as {code!r}", ERR_TYPE)
            found.add(ERROR_TYPES[code])
        return tuple(label for label in ERROR_TYPES.values() if label in found)

    def compare(self, row: FormRow) -> None:
        """Note what a rater says that does not go together."""
        first, last = (row.correct[stage] for stage in STAGES)
        for stage, value in row.correct.items():
            column = CORRECT[stage]
            if value is None and not self.cells.get(column, "").strip():
                self.odd("not_answered", "an empty cell", "counted as not answered", column)
        if first and row.error_types:
            found = f"mistakes ({', '.join(row.error_types)}) in a reasoning called correct"
            self.odd("contradiction", found, "both are kept", ERR_TYPE)
        once = self.cells.get(ATTEMPTS, "").strip() == "1"
        if once and None not in (first, last) and first != last:
            found = f"{int(bool(last))} for the last attempt, which is the first one"
            self.odd("contradiction", found, "both are kept", CORRECT["final"])

    def odd(self, code: str, found: str, done: str, column: str) -> None:
        self.table.odd(code, found, done, at=self.at, column=column)


def _text(cell: object) -> str:
    if cell is None:
        return ""
    return str(int(cell)) if isinstance(cell, bool) else original(str(cell))
