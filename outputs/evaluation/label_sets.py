"""Figures of dimensions of which several labels may be right at once: whole sets, and each label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from outputs.evaluation.cells import Cell, estimate_cell, nothing, table_of
from outputs.evaluation.evaluated import Contender, Evaluated, ReferenceView
from outputs.report.page import Foldable, Remark
from outputs.report.wording import count, percent
from quality.evaluation.scores import SetScores

_NO_ANSWER: Final = "no answer to score"
_HEADER: Final = ("model", "items", "F1", "micro-F1", "macro-F1", "all right")
_FLOORS: Final = {
    "majority": "the commonest set throughout",
    "all labels": "every label throughout",
}


def set_blocks(evaluated: Evaluated, task: str) -> list[Foldable]:
    """Return two tables for each such dimension of a task and each reference: of sets, and of labels."""
    mine = [one for one in evaluated.scores.sets if one.task == task]
    blocks: list[Foldable] = []
    for dimension in dict.fromkeys(one.dimension for one in mine):
        found = [one for one in mine if one.dimension == dimension]
        for view in dict.fromkeys(ReferenceView(x.reference, x.weighting) for x in found):
            of_view = [x for x in found if ReferenceView(x.reference, x.weighting) == view]
            blocks += _tables(evaluated, task, of_view, view)
    return blocks


def _tables(
    evaluated: Evaluated, task: str, found: Sequence[SetScores], view: ReferenceView
) -> list[Foldable]:
    named = [evaluated.named(Contender(one.model, one.mode), task) for one in found]
    title = f"{evaluated.record.title(found[0].dimension)}, several labels at once"
    widest = max(found, key=lambda one: one.items)
    floors: list[list[str | Cell]] = [
        [f"{_FLOORS[x.name]} (floor)", count(widest.items),
         *map(percent, (x.f1, x.micro_f1, x.macro_f1, x.exact))]
        for x in widest.floors
    ]  # fmt: skip
    rows: list[list[str | Cell]] = [
        [name, *_figures(one)] for name, one in zip(named, found, strict=True)
    ]
    labels: list[list[str | Cell]] = [
        [name, *(estimate_cell(x.f1, "neither right nor given", items=one.items) for x in one.classes)]
        for name, one in zip(named, found, strict=True)
    ]  # fmt: skip
    supports = {one.label: one.support for one in widest.classes}
    header = ["model", *(f"{label} ({count(supports[label])})" for label in widest.labels)]
    said = dict.fromkeys(text for one in found for text in one.remarks)
    return [
        table_of(f"{title}, against {view.labels}", _HEADER, [*rows, *floors]),
        table_of(f"{title}: F1 of each label (how often it is right)", header, labels),
        *(Remark(f"{text}.") for text in said),
    ]


def _figures(one: SetScores) -> list[str | Cell]:
    if not one.items:
        return [nothing(_NO_ANSWER)] * (len(_HEADER) - 1)
    figures = (one.f1, one.micro_f1, one.macro_f1, one.exact)
    cells = [estimate_cell(figure, _NO_ANSWER, items=one.items) for figure in figures]
    return [count(one.items), *cells]
