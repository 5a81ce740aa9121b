"""Figures of dimensions of which several labels may be right at once, a table for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from outputs.evaluation.evaluated import Contender, Evaluated, ReferenceView
from outputs.evaluation.label_tables import label_row, label_table
from outputs.evaluation.leaderboard import said_of
from outputs.evaluation.result_lines import (
    OF_CASES,
    Drawn,
    Place,
    drawn_in,
    in_percent,
    is_human,
    spread_of,
    task_title,
)
from outputs.result_tables.model import ResultColumn, ResultTable, TableRow
from quality.evaluation.scores import SetFloor, SetScores
from scenarios.plural import plural
from scenarios.schemes.vocabulary import NONE_OF_THEM

_METRICS: Final[tuple[Literal["F1", "micro-F1", "macro-F1", "all right"], ...]] = (
    "F1", "micro-F1", "macro-F1", "all right",
)  # fmt: skip
_ABOUT: Final = (
    "F1: the mean over answers of 2 times the labels that are given and right, by all that are given and all "
    "that are right; micro-F1: of all pairs of answer and label together; all right: the share of answers "
    "with all labels that are right and no other. Floors give the commonest set of labels, or all of them, "
    "throughout."
)


@dataclass(frozen=True, slots=True)
class _Line:
    """One row in the making: a model in a mode, held against one kind of reference."""

    name: str
    view: ReferenceView
    contender: Contender
    score: SetScores


def set_tables(
    group: Sequence[Evaluated], name: str, *, by_label: bool = False
) -> Iterator[ResultTable]:
    """Yield the tables of some evaluations of the same items; with ``by_label`` one of each label, too."""
    lines = list(_lines(group))
    several = len({line.contender.mode for line in lines if line.contender.mode}) > 1
    places = dict.fromkeys((line.score.task, line.score.dimension) for line in lines)
    for number, place in enumerate(places, 1):
        mine = [x for x in lines if (x.score.task, x.score.dimension) == place]
        drawn = drawn_in(line.score for line in mine)
        yield _table(f"{name}-{number}", group, place, mine, drawn, several=several)
        if by_label:
            rows = [
                label_row(line.view, line.contender, line.name, found, drawn, several=several)
                for label in mine[0].score.labels
                for line in mine
                for found in line.score.classes
                if found.label == label
            ]
            yield label_table(f"{name}-{number}-labels", group, place, rows, drawn)


def _lines(group: Sequence[Evaluated]) -> Iterator[_Line]:
    """Yield the rows of each model together; one that two evaluations asked has the name of the second."""
    taken: set[tuple[str, str, Place, ReferenceView]] = set()
    for one in group:
        order = {model.name: place for place, model in enumerate(one.record.models)}
        for score in sorted(one.scores.sets, key=lambda x: order.get(x.model, len(order))):
            view = ReferenceView(score.reference, score.weighting)
            name = one.signed(score.model)
            place = score.task, score.dimension
            if (name, score.mode, place, view) in taken:
                name = f"{name} ({one.record.name})"
            taken.add((name, score.mode, place, view))
            yield _Line(name, view, Contender(score.model, score.mode), score)


def _table(
    name: str,
    group: Sequence[Evaluated],
    place: Place,
    lines: Sequence[_Line],
    drawn: Drawn,
    *,
    several: bool,
) -> ResultTable:
    task, dimension = place
    title = task_title(group, task)
    columns = [ResultColumn(task=title, dimension=dimension, metric=x) for x in _METRICS]
    return ResultTable(
        id=name,
        source=f"{group[0].record.set.name} ({group[0].record.set.scheme})",
        title=f"{title}, {dimension}: several labels at once",
        unit="percent",
        columns=tuple(columns),
        rows=(*(_row(line, drawn, several=several) for line in lines), *_floors(lines)),
        notes=(_ABOUT, *([OF_CASES] if drawn == "cases" else []), *_remarks(lines)),
        drawn=drawn,
    )


def _row(line: _Line, drawn: Drawn, *, several: bool) -> TableRow:
    score = line.score
    figures = (score.f1, score.micro_f1, score.macro_f1, score.exact)
    return TableRow(
        kind="human" if is_human(line.contender) else "model",
        name=line.name,
        mode=line.contender.mode if several else "",
        reference=line.view.name,
        values=tuple(in_percent(figure.value) for figure in figures),
        intervals=tuple(spread_of(figure, drawn) for figure in figures),
        counts=(score.items,) * len(figures),
    )


def _floors(lines: Sequence[_Line]) -> Iterator[TableRow]:
    """Yield the floors on the largest number of items that any row rests on."""
    for view in dict.fromkeys(line.view for line in lines):
        mine = [line.score for line in lines if line.view == view]
        widest = max(mine, key=lambda score: score.items)
        for floor in widest.floors:
            values = (floor.f1, floor.micro_f1, floor.macro_f1, floor.exact)
            yield TableRow(
                kind="floor",
                name=_floor_name(floor),
                reference=view.name,
                values=tuple(in_percent(value) for value in values),
                counts=(widest.items,) * len(values),
            )


def _floor_name(floor: SetFloor) -> str:
    if floor.name == "all labels":
        return "always all labels (floor)"
    return f"always {' + '.join(floor.labels) or NONE_OF_THEM} (floor)"


def _remarks(lines: Sequence[_Line]) -> Iterator[str]:
    for view in dict.fromkeys(line.view for line in lines):
        rest = {
            f"{line.name} · {line.contender.mode}": (
                f"{plural(line.score.items, 'item')} of {plural(line.score.cases, 'case')}",
                *line.score.remarks,
            )
            for line in lines
            if line.view == view
        }
        if said := said_of(rest, len(rest)):
            yield f"{view.labels}: {'; '.join(said)}."
