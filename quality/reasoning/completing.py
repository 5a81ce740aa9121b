"""Forms made from logs for raters, completed from logs and gold, and merged."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from quality.reasoning.binary_matrix import cell
from quality.reasoning.error_types import ERROR_TYPES, SEPARATOR
from quality.reasoning.form import (
    ATTEMPTS,
    CHOICES,
    COLUMNS,
    CON_MAT,
    CORRECT,
    ERR_TYPE,
    FAILED_QUERIES,
    FILE,
    GAME,
    PREDICTED,
    REMARKS,
    SENTENCE,
    STAGES,
    RaterForm,
)
from quality.reasoning.gold import RaterGold, rater_forms
from quality.reasoning.samples import ReasoningSample
from quality.tables.formulas import neutral

_CODES: Final = {label: code for code, label in ERROR_TYPES.items()}
_AUTOMATIC: Final = (CON_MAT, FAILED_QUERIES, *PREDICTED.values())


def new_form(samples: Iterable[ReasoningSample]) -> str:
    """Return a form for raters as CSV: what the logs say, and empty cells for what people say.

    The failed claims stay out of it: a rater is to judge without the solver.
    """
    given = (FILE, GAME, ATTEMPTS, *CHOICES.values())
    rows = [
        {name: value for name, value in sample.cells().items() if name in given}
        for sample in samples
    ]
    return _as_csv(COLUMNS, rows)


def completed(form: RaterForm, samples: Mapping[str, ReasoningSample], truth: RaterGold) -> str:
    """Return a form with its automatic columns filled in, as CSV.

    Args:
        form: what a rater filled in; everything else in it stays as it is.
        samples: logs by the name forms find them by.
        truth: what raters agree on, for the column ``con_mat``.
    """
    columns = (*form.columns, *(name for name in _AUTOMATIC if name not in form.columns))
    rows = []
    for name, row in form.rows.items():
        sample = samples.get(name)
        told = {} if sample is None else {**sample.cells(), CON_MAT: _cell(sample, truth)}
        told.pop(FILE, None)
        rows.append({**row.cells, **{column: value for column, value in told.items() if value}})
    return _as_csv(columns, rows)


def merged(
    samples: Sequence[ReasoningSample],
    forms: Sequence[RaterForm],
    truth: RaterGold,
) -> str:
    """Return one table of all raters as CSV: the gold, and what each of them says."""
    raters = rater_forms(forms)
    each = [f"{column}_{form.name}" for form in raters for column in (*CORRECT.values(), ERR_TYPE)]
    kept = [name for name in COLUMNS if name not in (ERR_TYPE, SENTENCE, REMARKS)]
    rows = []
    for sample in samples:
        row = truth.get(sample.key)
        cells = {**sample.cells(), CON_MAT: _cell(sample, truth)}
        for stage in STAGES:
            cells[CORRECT[stage]] = _digit(None if row is None else row[stage])
        for form in raters:
            own = form.rows.get(sample.key)
            if own is None:
                continue
            for stage, column in CORRECT.items():
                cells[f"{column}_{form.name}"] = _digit(own.correct[stage])
            codes = [_CODES[label] for label in own.error_types]
            cells[f"{ERR_TYPE}_{form.name}"] = SEPARATOR.join(codes)
        rows.append(cells)
    return _as_csv((*kept, *PREDICTED.values(), *each), rows)


def _cell(sample: ReasoningSample, truth: RaterGold) -> str:
    row = truth.get(sample.key)
    predicted = sample.predicted("original")
    true = None if row is None else row["original"]
    return "" if predicted is None or true is None else cell(predicted, true)


def _digit(value: bool | None) -> str:
    return "" if value is None else str(int(value))


def _as_csv(columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    # Names of logs, claims and remarks are somebody else's: no spreadsheet is to compute them.
    writer.writerow(map(neutral, columns))
    writer.writerows([neutral(row.get(name, "")) for name in columns] for row in rows)
    return text.getvalue()
