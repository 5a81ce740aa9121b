"""Figures by label: F1 of each, and which label was given for which, as a picture."""

from __future__ import annotations

from collections import defaultdict

from outputs.evaluation.cells import (
    Cell,
    estimate_cell,
    macro_f1_cell,
    nothing,
    table_of,
)
from outputs.evaluation.evaluated import Contender, Evaluated, ReferenceView
from outputs.plots.heatmap import heatmap
from outputs.report.page import Fold, Grid, Plot, ReportSection, Table
from outputs.report.wording import count, part
from quality.evaluation.label_matrix import ALL_MODELS, LabelMatrix
from quality.evaluation.scores import Scores

NO_LABEL = "no label read"
_LEAD = (
    "How well each label is found, and what is given in its place. Rows of a picture are the right "
    "labels, columns those that the model gave; the darker a cell, the larger its share of the "
    "row. The frame marks what is right. Of several models the last picture adds all up. Macro-F1 is the mean F1, balanced accuracy the mean "
    "recall, over the labels that are right somewhere."
)


def classes_section(evaluated: Evaluated) -> ReportSection:
    """Return F1 by label against every reference, and a picture for each model."""
    folds: list[Fold] = []
    for task in evaluated.tasks:
        for dimension in evaluated.dimensions(task.id):
            views = evaluated.references(task.id, dimension)
            tables = [_class_table(evaluated, task.id, dimension, view) for view in views]
            plots = confusion_plots(evaluated, task.id, dimension, views[0])
            title = f"{task.title}: {evaluated.record.title(dimension)}"
            pictures = Grid(tuple(plots.values()))
            folds.append(Fold(title, (*tables, pictures), unfolded=not folds))
    return ReportSection("labels", "Label by label", _LEAD, tuple(folds))


def confusion_plots(
    evaluated: Evaluated, task: str, dimension: str, view: ReferenceView
) -> dict[Contender, Plot]:
    """Return a picture of the confusion of each model on one dimension of a task.

    Where several models were asked in a mode, one of all of them added up stands behind theirs.
    """
    given: dict[Contender, LabelMatrix] = {}
    by_mode: defaultdict[str, list[Scores]] = defaultdict(list)
    for one in evaluated.contenders(task, dimension):
        score = evaluated.score(task, dimension, view, one)
        if score is not None and score.n:
            given[one] = LabelMatrix.of([score])
            by_mode[one.mode].append(score)
    for mode, scores in by_mode.items():
        if len(scores) > 1:
            given[Contender(ALL_MODELS, mode)] = LabelMatrix.of(scores)
    title = evaluated.record.title(dimension)
    return {
        one: _plot(matrix, title, evaluated.named(one, task), view) for one, matrix in given.items()
    }


def _plot(given: LabelMatrix, title: str, name: str, view: ReferenceView) -> Plot:
    rows = [i for i, row in enumerate(given.counts) if sum(row) or given.unread[i]]
    columns = [*given.labels, *([NO_LABEL] if any(given.unread) else [])]
    counts = [[*given.counts[i], given.unread[i]][: len(columns)] for i in rows]
    names = [given.labels[i] for i in rows]
    said = f"{part(given.right, given.n)} are right"
    drawn = heatmap(
        names,
        columns,
        counts,
        axes=("right label", "given label"),
        label=f"{name}, {title}, against {view.labels}: {said}",
    )
    table = Table(
        f"{name}, {title}: right against given",
        ("right ↓ given →", *columns),
        tuple((label, *map(count, row)) for label, row in zip(names, counts, strict=True)),
    )
    return Plot(name, drawn, table, f"Against {view.labels}: {said}.")


def _class_table(evaluated: Evaluated, task: str, dimension: str, view: ReferenceView) -> Table:
    contenders = evaluated.contenders(task, dimension)
    found = {one: evaluated.score(task, dimension, view, one) for one in contenders}
    scores = [score for score in found.values() if score is not None]
    labels = dict.fromkeys(label for score in scores for label in score.labels)
    widest = max(scores, key=lambda one: one.items)
    supports = {one.label: one.support for one in widest.classes}
    rows: list[list[str | Cell]] = [
        [
            evaluated.named(one, task),
            *(_f1_cell(score, label) for label in labels),
            macro_f1_cell(score),
            _balanced_cell(score),
        ]
        for one, score in found.items()
    ]
    rows.append(["right in", *(count(supports.get(label)) for label in labels),
                 count(widest.n), count(widest.n)])  # fmt: skip
    title = evaluated.record.title(dimension)
    header = ("model", *labels, "macro-F1", "balanced accuracy")
    return table_of(f"{title}: F1 of each label, against {view.labels}", header, rows)


def _f1_cell(score: Scores | None, label: str) -> Cell:
    found = next((one for one in score.classes if one.label == label), None) if score else None
    if score is None or found is None:
        return nothing("no such answers")
    return estimate_cell(found.f1, "neither right nor given anywhere", items=score.items)


def _balanced_cell(score: Scores | None) -> Cell:
    if score is None:
        return nothing("no such answers")
    return estimate_cell(score.balanced_accuracy, "no answer to score", items=score.items)
