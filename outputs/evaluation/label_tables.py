"""Precision, recall and F1 of every label, a table for each dimension of a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from outputs.evaluation.evaluated import Contender, Evaluated, ReferenceView
from outputs.evaluation.result_lines import (
    OF_CASES,
    Drawn,
    Place,
    drawn_in,
    in_percent,
    is_human,
    lines_of,
    places_of,
    spread_of,
    task_title,
    views_of,
)
from outputs.result_tables.model import ResultColumn, ResultTable, TableRow
from quality.evaluation.scores import ClassScore

_METRICS: Final[tuple[Literal["precision", "recall", "F1"], ...]] = ("precision", "recall", "F1")
_RARE: Final = (
    "n: how many items have the label. Precision is undefined where nobody gave it, recall where no item "
    "has it, and labels of which nothing is defined have no row."
)


def label_tables(group: Sequence[Evaluated], name: str) -> Iterator[ResultTable]:
    """Yield the figures by label of some evaluations of the same items, the rows of a label together."""
    lines = [(view, line) for view in views_of(group) for line in lines_of(group, view)]
    modes = {line.contender.mode for _, line in lines if line.contender.mode}
    for number, place in enumerate(places_of(group, [line for _, line in lines]), 1):
        mine = [(view, line) for view, line in lines if place in line.scores]
        drawn = drawn_in(line.scores[place] for _, line in mine)
        labels = dict.fromkeys(label for _, line in mine for label in line.scores[place].labels)
        rows = [
            label_row(view, line.contender, line.name, found, drawn, several=len(modes) > 1)
            for label in labels
            for view, line in mine
            for found in line.scores[place].classes
            if found.label == label
        ]
        yield label_table(f"{name}-{number}", group, place, rows, drawn)


def label_table(
    name: str, group: Sequence[Evaluated], place: Place, rows: Sequence[TableRow], drawn: Drawn
) -> ResultTable:
    """Return the table of the labels of one dimension."""
    task, dimension = place
    title = task_title(group, task)
    columns = [ResultColumn(task=title, dimension=dimension, metric=metric) for metric in _METRICS]
    return ResultTable(
        id=name,
        source=group[0].record.set.name,
        title=f"{title}, {dimension} by label",
        unit="percent",
        columns=tuple(columns),
        rows=tuple(rows),
        notes=(_RARE, *([OF_CASES] if drawn == "cases" else [])),
        drawn=drawn,
    )


def label_row(
    view: ReferenceView,
    contender: Contender,
    name: str,
    found: ClassScore,
    drawn: Drawn,
    *,
    several: bool,
) -> TableRow:
    """Return the row of one label and one model, held against one kind of reference."""
    figures = (found.precision, found.recall, found.f1)
    return TableRow(
        kind="human" if is_human(contender) else "model",
        name=name,
        mode=contender.mode if several else "",
        reference=view.name,
        label=found.label,
        values=tuple(in_percent(figure.value) for figure in figures),
        intervals=tuple(spread_of(figure, drawn) for figure in figures),
        counts=(found.support,) * len(figures),
    )
