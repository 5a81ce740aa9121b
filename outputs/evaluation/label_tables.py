"""Precision, recall and F1 of every label, a table for each dimension of a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from outputs.evaluation.evaluated import Evaluated, ReferenceView
from outputs.evaluation.result_lines import (
    OF_CASES,
    Drawn,
    ResultLine,
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
        task, dimension = place
        mine = [(view, line) for view, line in lines if place in line.scores]
        drawn = drawn_in(line.scores[place] for _, line in mine)
        labels = dict.fromkeys(label for _, line in mine for label in line.scores[place].labels)
        rows = [
            _row(view, line, found, drawn, several=len(modes) > 1)
            for label in labels
            for view, line in mine
            for found in line.scores[place].classes
            if found.label == label
        ]
        yield ResultTable(
            id=f"{name}-{number}",
            source=group[0].record.set.name,
            title=f"{task_title(group, task)}, {dimension} by label",
            unit="percent",
            columns=tuple(
                ResultColumn(task=task_title(group, task), dimension=dimension, metric=metric)
                for metric in _METRICS
            ),
            rows=tuple(rows),
            notes=(_RARE, *([OF_CASES] if drawn == "cases" else [])),
            drawn=drawn,
        )


def _row(
    view: ReferenceView, line: ResultLine, found: ClassScore, drawn: Drawn, *, several: bool
) -> TableRow:
    figures = (found.precision, found.recall, found.f1)
    return TableRow(
        kind="human" if is_human(line.contender) else "model",
        name=line.name,
        mode=line.contender.mode if several else "",
        reference=view.name,
        label=found.label,
        values=tuple(in_percent(figure.value) for figure in figures),
        intervals=tuple(spread_of(figure, drawn) for figure in figures),
        counts=(found.support,) * len(figures),
    )
