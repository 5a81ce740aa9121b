"""Accuracy as a dialogue unfolds: by the place of the utterance in it."""

from __future__ import annotations

from collections.abc import Mapping

from outputs.evaluation.evaluated import Evaluated
from outputs.plots.lines import Series, Spot, line_chart
from outputs.report.page import Fold, Grid, Plot, Remark, ReportSection, Table
from outputs.report.wording import count, percent
from quality.evaluation.scores import Scores

AXIS = "turn: place of the utterance in its dialogue, from 0"
_LEAD = (
    "Accuracy by the place of the utterance that is asked about. Where a task shows what was said "
    "before, this is how accuracy changes as more of a dialogue is seen."
)


def unfolding_section(evaluated: Evaluated) -> ReportSection:
    """Return a curve per model for each dimension of each task about utterances.

    Source: HIPO, Figure 5 (its values are printed nowhere, so that none stand beside these).
    """
    title = "As dialogues unfold"
    folds: list[Fold] = []
    for task in evaluated.tasks:
        plots = [
            plot
            for dimension in evaluated.dimensions(task.id)
            for plot in unfolding_plots(evaluated, task.id, dimension).values()
        ]
        if plots:
            folds.append(Fold(task.title, (Grid(tuple(plots)),), unfolded=not folds))
    if not folds:
        note = Remark("No task asks about utterances at several places of their dialogues.")
        return ReportSection("unfolding", title, _LEAD, (note,), absent=True)
    return ReportSection("unfolding", title, _LEAD, tuple(folds))


def unfolding_plots(evaluated: Evaluated, task: str, dimension: str) -> dict[str, Plot]:
    """Return the curves of one dimension by mode, where utterances stand at several places."""
    view = evaluated.references(task, dimension)[0]
    curves: dict[str, dict[str, tuple[Spot, ...]]] = {}
    for one in evaluated.contenders(task, dimension):
        score = evaluated.score(task, dimension, view, one)
        if score is not None:
            curves.setdefault(one.mode, {})[one.model] = _spots(score)
    title = evaluated.record.title(dimension)
    return {
        mode: _plot(title if len(curves) == 1 else f"{title}, {mode}", view.labels, found)
        for mode, found in curves.items()
        if max(map(len, found.values())) > 1
    }


def _plot(title: str, reference: str, curves: Mapping[str, tuple[Spot, ...]]) -> Plot:
    series = [Series(model, spots) for model, spots in curves.items() if spots]
    drawn = line_chart(series, label=f"Accuracy on {title} by {AXIS}", axis=AXIS)
    rows = tuple((line.name, str(spot.x), spot.text) for line in series for spot in line.spots)
    numbers = Table(f"Accuracy on {title}", ("model", "turn", "accuracy"), rows)
    note = f"Against {reference}. Bars: 95% intervals over cases."
    return Plot(title, drawn, numbers, note)


def _spots(score: Scores) -> tuple[Spot, ...]:
    spots = []
    for one in score.groups:
        if one.by != "turn" or one.accuracy.value is None or not one.group.isdecimal():
            continue
        bounds = one.accuracy.by_case
        said = f"{percent(one.accuracy.value)} of {count(one.n)}"
        spots.append(
            Spot(
                int(one.group),
                one.accuracy.value,
                said,
                bounds.low if bounds else None,
                bounds.high if bounds else None,
            )
        )
    return tuple(spots)
