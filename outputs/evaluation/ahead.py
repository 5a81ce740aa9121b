"""Who is ahead of whom, and what a mode adds: only what differs beyond chance is a difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from outputs.evaluation.cells import Cell, estimate_cell, p_cell, table_of
from outputs.evaluation.evaluated import Evaluated, ReferenceView
from outputs.report.page import Fold, Remark, ReportSection, Table
from outputs.report.wording import count, percent
from quality.evaluation.scores import ModelComparison
from scenarios.plural import enumerated

LEVEL = 0.05
"""Adjusted p under which two models are told apart."""
_LEAD = (
    "Two models on the items that both answered. The difference is that of the first less the "
    "second, in points, with its 95% interval over cases (paired bootstrap). p: how often the "
    "accuracy of the two would lie as far apart if their answers to whole cases were permuted at "
    "random; adjusted by Holm for all pairs of a task and dimension."
)
_MODES = (
    "What a mode adds to another for one model: the difference of the first mode less the second, on "
    "the items answered in both. Intervals and p as for models, adjusted for all pairs of modes of a "
    "task and dimension."
)


def ahead_sentences(evaluated: Evaluated, task: str, dimension: str) -> list[str]:
    """Return one sentence for each mode in which several models were compared.

    Where several were asked about all items, those that were not are left out: on few items, which
    may be the easy ones, anybody can have the highest accuracy.
    """
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
            known = {model: one for model, one in found.items() if one}
            whole = {model: one for model, one in known.items() if not one.tally.unasked}
            shown = whole if len(whole) > 1 else known
            accuracy = {model: one.accuracy.value for model, one in shown.items()}
            pairs = [pair for pair in pairs if {pair.first, pair.second} <= shown.keys()]
            where = f"{title}, {mode}" if len(modes) > 1 else title
            sentences.append(f"{where}: {ahead_in_words(accuracy, pairs)}")
    return sentences


def comparisons_section(evaluated: Evaluated) -> ReportSection:
    """Return every pair of models with its difference and its adjusted p."""
    title = "Models against each other"
    blocks = _blocks(evaluated, of_modes=False)
    if not blocks:
        note = Remark("One model was evaluated, so that there is nothing to compare.")
        return ReportSection("comparisons", title, _LEAD, (note,), absent=True)
    return ReportSection("comparisons", title, _LEAD, blocks)


def modes_section(evaluated: Evaluated) -> ReportSection | None:
    """Return what modes add to each other, model by model; None where no task has several.

    Source: HIPO, section 5.3 and Figure 6.
    """
    blocks = _blocks(evaluated, of_modes=True)
    if not blocks:
        return None
    return ReportSection("modes", "Modes against each other", _MODES, blocks)


def _blocks(evaluated: Evaluated, *, of_modes: bool) -> tuple[Fold, ...]:
    blocks = []
    for task in evaluated.tasks:
        tables = [
            _table(evaluated, view, dimension, pairs)
            for dimension in evaluated.dimensions(task.id)
            for view in evaluated.references(task.id, dimension)
            if (pairs := _pairs(evaluated, task.id, dimension, view, of_modes=of_modes))
        ]
        if tables:
            unfolded = len(evaluated.tasks) == 1
            blocks.append(Fold(task.title, tuple(tables), unfolded=unfolded))
    return tuple(blocks)


def _table(
    evaluated: Evaluated, view: ReferenceView, dimension: str, pairs: Sequence[ModelComparison]
) -> Table:
    of_modes = any(pair.second_mode for pair in pairs)
    several = len(evaluated.modes) > 1
    first = ["model", "modes"] if of_modes else ["pair", *(["mode"] if several else [])]
    header = [*first, "accuracy", "macro-F1", "p", "p (Holm)", "items", "left out"]
    rows: list[list[str | Cell]] = []
    for pair in pairs:
        undefined = "no item that both answered"
        who = (
            [pair.first, f"{pair.mode} less {pair.second_mode}"]
            if of_modes
            else [f"{pair.first} less {pair.second}", *([pair.mode] if several else [])]
        )
        rows.append(
            [
                *who,
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
    evaluated: Evaluated, task: str, dimension: str, view: ReferenceView, *, of_modes: bool = False
) -> list[ModelComparison]:
    return [
        pair
        for pair in evaluated.scores.comparisons
        if (pair.task, pair.dimension) == (task, dimension)
        and (pair.reference, pair.weighting) == (view.reference, view.weighting)
        and bool(pair.second_mode) == of_modes
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
    apart = _apart(pairs)
    if not apart:
        return (
            f"nothing can be told apart. No two of the {len(accuracy)} models differ in accuracy "
            f"beyond chance (smallest adjusted p {_p(min(known))})."
        )
    best = max(accuracy, key=lambda model: accuracy[model] or 0.0)
    behind = [name for name in accuracy if (best, name) in apart]
    before = [name for name in accuracy if (name, best) in apart]
    level = [name for name in accuracy if name not in {best, *behind}]
    said = f"{best} has the highest accuracy ({percent(accuracy[best])})"
    if before:
        return (
            f"{said} of the items that it answered, but is behind {enumerated(before)} on those that "
            "both answered."
        )
    if not level:
        worst = max(apart[best, name] for name in behind)
        return f"{said} and is ahead of {enumerated(behind)} (adjusted p at most {_p(worst)})."
    ahead = f" and is ahead of {enumerated(behind)}, but" if behind else ", but"
    return f"{said}{ahead} cannot be told apart from {enumerated(level)}."


def _apart(pairs: Sequence[ModelComparison]) -> dict[tuple[str, str], float]:
    """Return the adjusted p of those that differ beyond chance, by who is ahead and who behind."""
    apart = {}
    for pair in pairs:
        if pair.p_holm is not None and pair.p_holm < LEVEL and pair.accuracy.value is not None:
            is_ahead = pair.accuracy.value > 0
            names = (pair.first, pair.second) if is_ahead else (pair.second, pair.first)
            apart[names] = pair.p_holm
    return apart


def _p(value: float) -> str:
    return "0.001" if value < 0.001 else f"{value:.3f}"
