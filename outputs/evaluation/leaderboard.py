"""Who scores what, beside what is reached without reading, by task and dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from outputs.evaluation.ahead import ahead_sentences
from outputs.evaluation.cells import (
    Cell,
    accuracy_cell,
    estimate_cell,
    macro_f1_cell,
    nothing,
    points,
    table_of,
)
from outputs.evaluation.evaluated import REFERENCES, SIGNS, Evaluated
from outputs.evaluation.label_sets import set_blocks
from outputs.plots.bars import Bar, BarRow, bar_chart
from outputs.report.page import Foldable, Grid, Plot, Remark, Table
from outputs.report.wording import count, percent
from quality.evaluation.result_row import Mark
from quality.evaluation.scores import FloorScore, Scores

FLOORS = {"majority": "offline/majority (floor)", "random": "offline/random (floor)"}
"""What is reached without reading, as rows call it."""
MARKED: Mapping[Mark, str] = {
    "its own judge": "its own judge: this model's labels decided which labels are agreed.",
    "its own generator": "its own generator: this model wrote items and declared their labels.",
    "same grammar": (
        "same grammar: a program that labels by rules, on items that its twin wrote by rules of "
        "the same grammar. That it is right says that the two fit together, nothing else."
    ),
}
"""What the signs behind the names of models mean."""


def leaderboard_blocks(evaluated: Evaluated, task: str) -> list[Foldable]:
    """Return the figures of one task: a picture and a table of each dimension.

    Source: HIPO, Table 2 and Figure 6 (modes side by side).
    """
    names = evaluated.dimensions(task)
    plots = tuple(accuracy_plot(evaluated, task, name) for name in names)
    blocks: list[Foldable] = [Grid(plots)] if plots else []
    for dimension in names:
        blocks.append(leaderboard_table(evaluated, task, dimension))
        ahead = " ".join(ahead_sentences(evaluated, task, dimension))
        said = [*([ahead] if ahead else []), *_remarks(evaluated, task, dimension)]
        blocks += [Remark(text) for text in said]
    return [*blocks, *set_blocks(evaluated, task)]


def reference_remark(*evaluations: Evaluated) -> Remark:
    """Say what each kind of reference is."""
    used = {score.reference for one in evaluations for score in one.scores.scores}
    used |= {score.reference for one in evaluations for score in one.scores.sets}
    known = [f"{name}: {what}" for name, what in REFERENCES.items() if name in used]
    return Remark(f"What is held against what. {'; '.join(known)}.")


def mark_remarks(evaluated: Evaluated) -> list[Remark]:
    """Explain what stands behind the names of models."""
    texts = []
    for mark, text in MARKED.items():
        names = [
            one.name for one in evaluated.record.models if mark in evaluated.marks.get(one.name, ())
        ]
        if names:
            texts.append(f"{SIGNS[mark]} {text} ({', '.join(names)})")
    return [Remark(text, tone="warning") for text in texts]


def leaderboard_table(evaluated: Evaluated, task: str, dimension: str) -> Table:
    """Return one row per model and mode, and the floors below, against every reference."""
    views = evaluated.references(task, dimension)
    contenders = evaluated.contenders(task, dimension)
    rows: list[list[str | Cell]] = [[evaluated.named(one, task)] for one in contenders]
    floors: dict[str, list[str | Cell]] = {name: [shown] for name, shown in FLOORS.items()}
    for view in views:
        scores = [evaluated.score(task, dimension, view, one) for one in contenders]
        for row, score in zip(rows, scores, strict=True):
            row.extend(_figures(score))
        widest = max((one for one in scores if one), key=lambda one: one.items, default=None)
        for name, row in floors.items():
            row.extend(_floor(widest, name))
    against = " and ".join(dict.fromkeys(view.reference for view in views))
    caption = f"{evaluated.record.title(dimension)}, against {against} labels"
    spans = [("", 1), *((f"{view.labels}", len(_FIGURES)) for view in views)]
    header = ["model", *(_FIGURES * len(views))]
    return table_of(caption, header, [*rows, *floors.values()], spans)


_FIGURES = ("items", "accuracy", "macro-F1", "above majority")


def _figures(score: Scores | None) -> list[str | Cell]:
    if score is None:
        return [nothing("no such answers")] * len(_FIGURES)
    undefined = "no answer to score"
    return [
        count(score.items),
        _with_sd(accuracy_cell(score), score.accuracy_sd),
        _with_sd(macro_f1_cell(score), score.macro_f1_sd),
        estimate_cell(score.above_majority, undefined, items=score.items, signed=True),
    ]


def _with_sd(cell: Cell, deviation: float | None) -> Cell:
    """Add the standard deviation over draws of examples."""
    if deviation is None:
        return cell
    return Cell(f"{cell.text} (SD {100 * deviation:.1f})", cell.reason)


def _floor(score: Scores | None, name: str) -> list[str | Cell]:
    if score is None:
        return [nothing("no such answers")] * len(_FIGURES)
    floor: FloorScore = score.majority if name == "majority" else score.random
    said = percent(floor.accuracy)
    if floor.label is not None:
        said += f" (always {floor.label})"
    right, most = floor.accuracy, score.majority.accuracy
    above = "" if right is None or most is None else points(right - most)
    return [count(score.items), said, percent(floor.macro_f1), above]


def _remarks(evaluated: Evaluated, task: str, dimension: str) -> list[str]:
    """Return what the figures say of themselves, reference by reference, and about whom."""
    views = evaluated.references(task, dimension)
    contenders = evaluated.contenders(task, dimension)
    texts = []
    for view in views:
        scores = {one: evaluated.score(task, dimension, view, one) for one in contenders}
        said = said_of(
            {evaluated.named(one, task): score.remarks for one, score in scores.items() if score},
            len(contenders),
        )
        if said:
            title = evaluated.record.title(dimension)
            texts.append(f"{title}, against {view.labels}: {'; '.join(said)}.")
    return texts


def said_of(remarks: Mapping[str, Sequence[str]], everybody: int) -> list[str]:
    """Return each remark once, behind the names of those that it is about where these are not all.

    Args:
        remarks: by name.
        everybody: how many there are.
    """
    whom: dict[str, list[str]] = {}
    for name, texts in remarks.items():
        for text in texts:
            whom.setdefault(text, []).append(name)
    said: dict[tuple[str, ...], list[str]] = {}
    for text, names in whom.items():
        said.setdefault(tuple(names), []).append(text)
    return [
        "; ".join(texts) if len(names) == everybody else f"{', '.join(names)}: {'; '.join(texts)}"
        for names, texts in said.items()
    ]


def accuracy_plot(evaluated: Evaluated, task: str, dimension: str) -> Plot:
    """Draw the accuracy of every model, modes side by side, with the majority floor across.

    Source: HIPO, Figure 6 (two of its values are printed; none stand beside these).
    """
    view = evaluated.references(task, dimension)[0]
    contenders = evaluated.contenders(task, dimension)
    modes = [mode for mode in evaluated.modes if any(one.mode == mode for one in contenders)]
    rows = []
    for model in dict.fromkeys(one.model for one in contenders):
        mine = {one.mode: one for one in contenders if one.model == model}
        bars = [
            _bar(evaluated.score(task, dimension, view, mine[mode]) if mode in mine else None)
            for mode in modes
        ]
        rows.append(BarRow(model, tuple(bars)))
    title = evaluated.record.title(dimension)
    said = "; ".join(f"{row.label} {', '.join(bar.text for bar in row.bars)}" for row in rows)
    drawn = bar_chart(
        rows,
        label=f"Accuracy on {title} against {view.labels}: {said}",
        series=modes,
        mark="always the commonest label",
        top=1.0,
    )
    note = f"Against {view.labels}. Whiskers: 95% intervals over cases."
    return Plot(f"{title}: accuracy", drawn, note=note)


def _bar(score: Scores | None) -> Bar:
    if score is None or score.accuracy.value is None:
        return Bar(None, percent(None))
    bounds = score.accuracy.by_case
    return Bar(
        score.accuracy.value,
        percent(score.accuracy.value),
        low=bounds.low if bounds else None,
        high=bounds.high if bounds else None,
        mark=score.majority.accuracy,
    )
