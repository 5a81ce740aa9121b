"""Figures by category, tag, turn, goal, strategy and generator, and intervals over cases and scenarios."""

from __future__ import annotations

from outputs.evaluation.cells import (
    Cell,
    accuracy_cell,
    estimate_cell,
    macro_f1_cell,
    nothing,
    table_of,
)
from outputs.evaluation.evaluated import Evaluated, ReferenceView
from outputs.report.page import Fold, Remark, ReportSection, Table
from outputs.report.wording import count
from quality.evaluation.answers import Grouping
from quality.evaluation.clustering import RESAMPLING
from quality.evaluation.scores import GroupScore, Scores
from quality.evaluation.scoring import natural_order
from scenarios.plural import plural

BREAKDOWNS: tuple[Grouping, ...] = ("category", "tag", "turn", "goal", "strategy", "generator")
_LEAD = (
    "The same figures on parts of the items. Labels are not spread alike over the parts: a part "
    "in which one label is common has a high accuracy for that reason alone."
)
_INTERVALS = (
    "What an interval covers depends on what is drawn together. Turns and arms of a case share "
    "words: over cases, an interval is about other cases of the same scenarios. Over scenarios, it "
    f"is about scenarios that are not in the set. All are percentile intervals (95%) of "
    f"{RESAMPLING.resamples:,} resamples."
)


def breakdowns_section(evaluated: Evaluated) -> ReportSection:
    """Return accuracy and macro-F1 by every property of items that takes several values."""
    folds = []
    for task in evaluated.tasks:
        for dimension in evaluated.dimensions(task.id):
            view = evaluated.references(task.id, dimension)[0]
            tables = [
                table
                for by in BREAKDOWNS
                for table in [_by(evaluated, task.id, dimension, view, by)]
                if len(table.spans) > 2
            ]
            if tables:
                title = f"{task.title}: {evaluated.record.title(dimension)}"
                folds.append(Fold(title, tuple(tables)))
    if not folds:
        note = Remark("All items are of one category, tag, turn, goal, strategy and generator.")
        return ReportSection("breakdowns", "Part by part", _LEAD, (note,), absent=True)
    return ReportSection("breakdowns", "Part by part", _LEAD, tuple(folds))


def intervals_section(evaluated: Evaluated) -> ReportSection:
    """Return the intervals over cases and over scenarios beside each other."""
    folds = []
    for task in evaluated.tasks:
        tables = [
            _intervals(evaluated, task.id, dimension, view)
            for dimension in evaluated.dimensions(task.id)
            for view in evaluated.references(task.id, dimension)
        ]
        if tables:
            folds.append(Fold(task.title, tuple(tables)))
    return ReportSection("intervals", "Intervals", _INTERVALS, tuple(folds))


def _intervals(evaluated: Evaluated, task: str, dimension: str, view: ReferenceView) -> Table:
    rows: list[list[str | Cell]] = []
    for one in evaluated.contenders(task, dimension):
        score = evaluated.score(task, dimension, view, one)
        if score is None:
            continue
        rows.append(
            [
                evaluated.named(one, task),
                accuracy_cell(score),
                accuracy_cell(score, "scenario"),
                macro_f1_cell(score),
                macro_f1_cell(score, "scenario"),
                count(score.cases),
                count(score.scenarios),
            ]
        )
    header = ("model", "accuracy, over cases", "over scenarios", "macro-F1, over cases",
              "over scenarios", "cases", "scenarios")  # fmt: skip
    title = evaluated.record.title(dimension)
    return table_of(f"{title}, against {view.labels}", header, rows)


def _by(
    evaluated: Evaluated, task: str, dimension: str, view: ReferenceView, by: Grouping
) -> Table:
    """Return one row per model and mode, and two columns per part."""
    contenders = evaluated.contenders(task, dimension)
    found = {one: evaluated.score(task, dimension, view, one) for one in contenders}
    sizes: dict[str, int] = {}
    for score in found.values():
        for one in score.groups if score else ():
            if one.by == by:
                sizes[one.group] = max(one.n, sizes.get(one.group, 0))
    groups = sorted(sizes, key=natural_order)
    rows = [
        [
            evaluated.named(one, task),
            *(cell for group in groups for cell in _cells(score, by, group)),
        ]
        for one, score in found.items()
    ]
    title = evaluated.record.title(dimension)
    spans = [("", 1), *((f"{group}: {plural(sizes[group], 'answer')}", 2) for group in groups)]
    header = ["model", *(("accuracy", "macro-F1") * len(groups))]
    return table_of(f"{title} by {by}, against {view.labels}", header, rows, spans)


def _cells(score: Scores | None, by: Grouping, group: str) -> list[str | Cell]:
    found = group_of(score, by, group)
    if found is None:
        return [nothing("no such answers")] * 2
    return [
        estimate_cell(found.accuracy, "no answer to score", items=found.n),
        estimate_cell(found.macro_f1, "no answer to score", items=found.n),
    ]


def group_of(score: Scores | None, by: Grouping, group: str) -> GroupScore | None:
    """Return the figures of one part of the items."""
    found = score.groups if score else ()
    return next((one for one in found if (one.by, one.group) == (by, group)), None)
