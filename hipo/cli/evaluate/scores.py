"""The figures of an evaluation in one table for the terminal; the page has them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hipo.cli.terminal.console import columns, number
from quality.evaluation.scores import ClusteredEstimate, EvaluationScores, Scores, SetScores

_PLACE = ("task", "mode", "model", "dimension", "reference", "items")


def all_scores_as_text(found: EvaluationScores, called: Callable[[str], str] = str) -> str:
    """Return the table of dimensions with one label, and that of those with several, as far as any."""
    tables = [scores_as_text(found.scores, called)] if found.scores or not found.sets else []
    if found.sets:
        tables.append(sets_as_text(found.sets, called))
    return "\n\n".join(tables)


def scores_as_text(scores: Iterable[Scores], called: Callable[[str], str] = str) -> str:
    """Return accuracy and macro-F1 by task, model and dimension, beside the majority floor.

    Intervals are over cases; ``called`` says what rows call a model.
    """
    rows = [
        [
            *_place(one, called),
            *_estimate(one.accuracy),
            *_estimate(one.macro_f1),
            _share(one.majority.accuracy),
        ]
        for one in scores
    ]
    return columns([*_PLACE, "accuracy", "95%", "macro-F1", "95%", "majority"], rows)


def sets_as_text(scores: Iterable[SetScores], called: Callable[[str], str] = str) -> str:
    """Return the figures of dimensions with several labels at once, beside their higher floor.

    F1 is that of answers; intervals are over cases.
    """
    rows = [
        [
            *_place(one, called),
            *_estimate(one.f1),
            *_estimate(one.micro_f1),
            *_estimate(one.macro_f1),
            _share(one.exact.value),
            _share(max((floor.f1 for floor in one.floors), default=None)),
        ]
        for one in scores
    ]
    figures = ["F1", "95%", "micro-F1", "95%", "macro-F1", "95%", "all right", "floor of F1"]
    return columns([*_PLACE, *figures], rows)


def _place(one: Scores | SetScores, called: Callable[[str], str]) -> list[str]:
    """Return what a row is of."""
    weighed = one.reference if one.weighting == "whole" else f"{one.reference}, {one.weighting}"
    return [one.task, one.mode, called(one.model), one.dimension, weighed, number(one.items)]


def _estimate(estimate: ClusteredEstimate) -> tuple[str, str]:
    near = estimate.by_case
    return _share(estimate.value), "" if near is None else f"{near.low:.1%}-{near.high:.1%}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"
