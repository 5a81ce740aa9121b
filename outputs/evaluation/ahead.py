"""Who is ahead of whom: only what differs beyond chance is called a difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from outputs.evaluation.cells import Cell, estimate_cell, p_cell, table_of
from outputs.evaluation.evaluated import Evaluated, ReferenceView
from outputs.report.page import Fold, Remark, ReportSection, Table
from outputs.report.wording import count, percent
from quality.evaluation.scores import ModelComparison

LEVEL = 0.05
"""Adjusted p under which two models are told apart."""
_LEAD = (
    "Two models on the items that both answered. The difference is that of the first less the "
    "second, in points, with its 95% interval over cases (paired bootstrap). p: how often the "
    "accuracy of the two would lie as far apart if their answers to whole cases were exchanged at "
    "random; adjusted by Holm for all pairs of a task and dimension."
)


def ahead_sentences(evaluated: Evaluated, task: str, dimension: str) -> list[str]:
    """Return one sentence for each mode in which several models were compared."""
    view = evaluated.references(task, dimension)[0]
    contenders = evaluated.contenders(task, dimension)
    modes = dict.fromkeys(one.mode for one in contenders)
    title = evaluated.record.title(dimension)
    sentences = []
    for mode in modes:
        pairs = [p for p in _pairs(evaluated, task, dimension, view) if p.mode == mode]
        if pairs:
            found = {
                one.model: evaluated.score(task, dimension, view, one)
                for one in contenders
                if one.mode == mode
            }
            accuracy = {model: one.accuracy.value for model, one in found.items() if one}
            where = f"{title}, {mode}" if len(modes) > 1 else title
            sentences.append(f"{where}: {ahead_in_words(accuracy, pairs)}")
    return sentences


def comparisons_section(evaluated: Evaluated) -> ReportSection:
    """Return every pair of models with its difference and its adjusted p."""
    title, blocks = "Models against each other", []
    for task in evaluated.tasks:
        tables = [
            _table(evaluated, task.id, dimension, view)
            for dimension in evaluated.dimensions(task.id)
            for view in evaluated.references(task.id, dimension)
            if _pairs(evaluated, task.id, dimension, view)
        ]
        if tables:
            blocks.append(Fold(task.title, tuple(tables), unfolded=len(evaluated.tasks) == 1))
    if not blocks:
        note = Remark("One model was evaluated, so that there is nothing to compare.")
        return ReportSection("comparisons", title, _LEAD, (note,), absent=True)
    return ReportSection("comparisons", title, _LEAD, tuple(blocks))


def _table(evaluated: Evaluated, task: str, dimension: str, view: ReferenceView) -> Table:
    several = len(evaluated.modes) > 1
    header = ["pair", *(["mode"] if several else []), "accuracy", "macro-F1", "p", "p (Holm)",
              "items", "left out"]  # fmt: skip
    rows: list[list[str | Cell]] = []
    for pair in _pairs(evaluated, task, dimension, view):
        undefined = "no item that both answered"
        rows.append(
            [
                f"{pair.first} less {pair.second}",
                *([pair.mode] if several else []),
                estimate_cell(pair.accuracy, undefined, items=pair.n, signed=True),
                estimate_cell(pair.macro_f1, undefined, items=pair.n, signed=True),
                p_cell(pair.p),
                p_cell(pair.p_holm),
                count(pair.n),
                count(pair.left_out),
            ]
        )
    title = evaluated.record.title(dimension)
    return table_of(f"{title}, against {view.labels}", header, rows)


def _pairs(
    evaluated: Evaluated, task: str, dimension: str, view: ReferenceView
) -> list[ModelComparison]:
    return [
        pair
        for pair in evaluated.scores.comparisons
        if (pair.task, pair.dimension) == (task, dimension)
        and (pair.reference, pair.weighting) == (view.reference, view.weighting)
    ]


def ahead_in_words(accuracy: Mapping[str, float | None], pairs: Sequence[ModelComparison]) -> str:
    """Say who is ahead of whom, or that nothing can be told apart.

    Args:
        accuracy: by model.
        pairs: the comparisons of these models, with adjusted p.
    """
    known = [pair.p_holm for pair in pairs if pair.p_holm is not None]
    if not known:
        return "too few cases to tell models apart."
    apart = {
        frozenset((pair.first, pair.second)): pair.p_holm
        for pair in pairs
        if pair.p_holm is not None and pair.p_holm < LEVEL
    }
    if not apart:
        return (
            f"nothing can be told apart. No two of the {len(accuracy)} models differ in accuracy "
            f"beyond chance (smallest adjusted p {_p(min(known))})."
        )
    best = max(accuracy, key=lambda model: accuracy[model] or 0.0)
    behind = [name for name in accuracy if frozenset((best, name)) in apart]
    level = [name for name in accuracy if name != best and name not in behind]
    said = f"{best} has the highest accuracy ({percent(accuracy[best])})"
    if not level:
        worst = max(apart[frozenset((best, name))] for name in behind)
        return f"{said} and is ahead of {_listed(behind)} (adjusted p at most {_p(worst)})."
    ahead = f" and is ahead of {_listed(behind)}, but" if behind else ", but"
    return f"{said}{ahead} cannot be told apart from {_listed(level)}."


def _p(value: float) -> str:
    return "0.001" if value < 0.001 else f"{value:.3f}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
