"""The figures of an evaluation in one table for the terminal; the page has them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hipo.cli.terminal.console import columns, number
from quality.evaluation.scores import ClusteredEstimate, Scores


def scores_as_text(scores: Iterable[Scores], called: Callable[[str], str] = str) -> str:
    """Return accuracy and macro-F1 by task, model and dimension, beside the majority floor.

    Intervals are over cases; ``called`` says what rows call a model.
    """
    rows = [
        [
            one.task,
            one.mode,
            called(one.model),
            one.dimension,
            one.reference if one.weighting == "whole" else f"{one.reference}, {one.weighting}",
            number(one.items),
            *_estimate(one.accuracy),
            *_estimate(one.macro_f1),
            _share(one.majority.accuracy),
        ]
        for one in scores
    ]
    header = [
        "task", "mode", "model", "dimension", "reference", "items",
        "accuracy", "95%", "macro-F1", "95%", "majority",
    ]  # fmt: skip
    return columns(header, rows)


def _estimate(estimate: ClusteredEstimate) -> tuple[str, str]:
    near = estimate.by_case
    return _share(estimate.value), "" if near is None else f"{near.low:.1%}-{near.high:.1%}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"
