"""Agreement label by label, as text and as JSON; and what the intervals of agreement draw."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from hipo.cli.terminal.console import columns, ends, plain

if TYPE_CHECKING:
    from quality.agreement.agreement import AgreementRow
    from quality.agreement.labels import LabelAgreement
    from quality.statistics.bootstrap import Interval

FEW = 20
"""Of fewer dialogues, percentiles of resamples are not to be relied on."""


def label_as_json(row: LabelAgreement) -> dict[str, Any]:
    """Return what JSON has of one label."""
    return plain(
        row,
        "dimension label answers items dialogues annotators of_annotators specific "
        "specific_interval alpha alpha_interval note",
        specific_interval=ends(row.specific_interval),
        alpha_interval=ends(row.alpha_interval),
    )


def labels_text(rows: Sequence[LabelAgreement]) -> str:
    """Return a table of the labels that somebody gave, and below it which nobody gave."""
    if not rows:
        return ""
    from quality.agreement.labels import UNUSED, drawn_units  # noqa: PLC0415 - statistics

    given = [row for row in rows if row.answers]
    cells = [
        [
            row.dimension,
            row.label,
            figure(row.specific),
            bounds(row.specific_interval),
            figure(row.alpha),
            bounds(row.alpha_interval),
            str(row.answers),
            str(row.dialogues),
            f"{row.annotators} of {row.of_annotators}",
        ]
        for row in given
    ]
    header = [
        "dimension", "label", "specific", "95% interval", "alpha", "95% interval", "answers",
        drawn_units(rows), "given by",
    ]  # fmt: skip
    notes: dict[str, list[str]] = {}
    for row in rows:
        if row.note:
            notes.setdefault(row.note, []).append(f"{row.dimension} {row.label}")
    notes = {UNUSED: notes.pop(UNUSED), **notes} if UNUSED in notes else notes
    said = [f"{note}: {', '.join(of)}" for note, of in notes.items()]
    return "\n".join([columns(header, cells), *said])


def drawn_text(rows: Iterable[AgreementRow], *, in_dialogues: bool) -> str:
    """Say what the intervals below a table draw, and where there is too little of it."""
    rows = [row for row in rows if row.interval is not None]
    if not rows:
        return ""
    what = "dialogues" if in_dialogues else "items"
    said = (
        "intervals draw whole dialogues, since items of one resemble each other"
        if in_dialogues
        else "intervals draw items one by one: nothing says that any two are of one dialogue"
    )
    few: dict[str, int] = {}
    for row in rows:
        if row.dialogues < FEW:  # figures that take items with all answers alone rest on fewer
            few[row.dimension] = min(row.dialogues, few.get(row.dimension, FEW))
    if few:
        some = ", ".join(f"{name} {number}" for name, number in few.items())
        said += f"; fewer than {FEW} {what} ({some}): they may come out too narrow"
    return said


def figure(value: float | None) -> str:
    """Return a figure as every table of agreement has it."""
    return "undefined" if value is None else f"{value:.3f}"


def bounds(interval: Interval | None) -> str:
    """Return an interval; empty where there is none."""
    return "" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}"
