"""What quality control leaves for people to work with: flags, what to adjudicate, gold labels."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from hipo.app.metrics.qc import QcReport
from hipo.app.runs.folders import check_empty
from quality.tables.formulas import neutral
from scenarios.atomic_files import unwritable, write_text
from scenarios.errors import UsageError
from scenarios.terms import LabelValue

_ADJUDICATION = "adjudication.csv"
_NAMES = ("flags.csv", _ADJUDICATION, "gold.csv")
_MARK = "\ufeff"
"""Excel takes a table for UTF-8 only if it begins with this; one that people fill in does."""


def write_qc_files(report: QcReport, folder: Path) -> None:
    """Write ``flags.csv``, ``adjudication.csv`` and ``gold.csv`` into a new folder.

    Raises:
        UsageError: something else is there, or it cannot be written.
    """
    if (folder / _ADJUDICATION).exists():
        raise UsageError(
            f"{folder} holds an {_ADJUDICATION} already, in which somebody may have decided",
            "choose a new folder with -o",
        )
    check_empty(folder, "quality control", "(none)")
    tables = (_flags(report), _adjudication(report), _gold(report))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, rows in zip(_NAMES, tables, strict=True):
            mark = _MARK if name == _ADJUDICATION else ""
            write_text(folder / name, mark + _as_csv(rows))
    except OSError as error:
        raise unwritable(folder, error) from error


def _flags(report: QcReport) -> Iterable[Sequence[str]]:
    yield ("level", "code", "annotator", "item", "dimension", "value", "threshold", "reason")
    for one in report.findings:
        limit = "" if one.threshold is None else f"{one.threshold:g}"
        yield (
            str(one.level), one.code, one.annotator or "", one.item or "", one.dimension or "",
            _text(one.value), limit, one.reason,
        )  # fmt: skip


def _adjudication(report: QcReport) -> Iterable[Sequence[str]]:
    yield (
        "dimension",
        "item",
        "without a majority",
        "answers",
        "all on one side",
        "why",
        "decision",
    )
    for dimension in report.dimensions:
        for item in dimension.to_adjudicate:
            said = "; ".join(f"{who}: {_text(label)}" for who, label in item.said.items())
            yield (
                dimension.dimension, item.item, "yes" if item.undecided else "no", said,
                item.polarity or "", "; ".join(item.reasons), "",
            )  # fmt: skip


def _gold(report: QcReport) -> Iterable[Sequence[str]]:
    yield ("dimension", "item", "label", "basis", "note")
    for dimension in report.dimensions:
        for row in dimension.gold:
            yield dimension.dimension, row.item, _text(row.label), row.basis, row.note


def _text(value: LabelValue | None) -> str:
    if isinstance(value, tuple):
        return " | ".join(value)
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _as_csv(rows: Iterable[Sequence[str]]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows([neutral(cell) for cell in row] for row in rows)
    return out.getvalue()
