"""One reader against the truth on one dimension: how far each of its labels can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from quality.bootstrap import Floats, Interval, Resampling, intervals
from quality.class_figures import Codes, class_features, class_figures, count_matrix
from scenarios.errors import UsageError
from scenarios.schemes.model import LabelValue


@dataclass(frozen=True, slots=True)
class IntervalEstimate:
    """A share in ``[0, 1]`` with its bootstrap interval; ``value`` None where undefined."""

    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class LabelTrust:
    """How a judge does on one label, which people gave to ``support`` items."""

    label: str
    support: int
    precision: IntervalEstimate
    recall: IntervalEstimate
    f1: IntervalEstimate


@dataclass(frozen=True, slots=True)
class Confusion:
    """One judge against the people, on one dimension.

    ``matrix[i][j]`` counts the items that people gave ``labels[i]`` and the judge ``labels[j]``;
    ``unreadable[i]`` those to which the judge gave no label at all, which counts as wrong. Items that were not
    put to the judge do not enter the figures.
    """

    judge: str
    dimension: str
    labels: tuple[str, ...]
    matrix: tuple[tuple[int, ...], ...]
    unreadable: tuple[int, ...]
    accuracy: IntervalEstimate
    macro_f1: IntervalEstimate
    """Over the labels that occur in the truth."""
    per_label: tuple[LabelTrust, ...]

    @property
    def items(self) -> int:
        """How many items the figures rest on."""
        return sum(map(sum, self.matrix)) + sum(self.unreadable)


def confusion(
    judge: str,
    dimension: str,
    labels: Sequence[str],
    *,
    truth: Mapping[str, LabelValue],
    judged: Mapping[str, LabelValue | None],
    how: Resampling | None = None,
) -> Confusion:
    """Hold one judge's labels against the truth, item by item.

    Args:
        judge: the judge's name.
        dimension: the dimension that was judged.
        labels: its labels, in the order the matrix shall have.
        truth: item -> the right label.
        judged: item -> what the judge said, or None where its reply was unreadable.
        how: how intervals are bootstrapped over items; 2,000 times from seed 42 if None.

    Raises:
        UsageError: somebody gave a label that is none of ``labels``.
    """
    code = {label: i for i, label in enumerate(labels)}
    items = sorted(item for item in truth if item in judged)
    true = np.array([_code(code, truth[item], dimension) for item in items], dtype=np.intp)
    judged_codes = np.array([_code(code, judged[item], dimension) for item in items], dtype=np.intp)
    size = len(labels)
    table = count_matrix(true, judged_codes, size)
    estimates = _estimates(true, judged_codes, size, how or Resampling())
    return Confusion(
        judge=judge,
        dimension=dimension,
        labels=tuple(labels),
        matrix=tuple(tuple(map(int, row[:size])) for row in table),
        unreadable=tuple(map(int, table[:, size])),
        accuracy=estimates[0],
        macro_f1=estimates[1],
        per_label=tuple(
            LabelTrust(label, int(table[i].sum()), *estimates[2 + i :: size][:3])
            for i, label in enumerate(labels)
        ),
    )


def _code(code: Mapping[str, int], label: LabelValue | None, dimension: str) -> int:
    if label is None:
        return len(code)
    if isinstance(label, str) and label in code:
        return code[label]
    raise UsageError(f"{label!r} is no label of {dimension!r}", f"its labels are {', '.join(code)}")


def _estimates(true: Codes, judged: Codes, size: int, how: Resampling) -> list[IntervalEstimate]:
    """Return accuracy, macro-F1, then precisions, recalls and F1s of all labels."""
    features = class_features(true, judged, size)
    counted = np.bincount(true, minlength=size) > 0

    def estimate(weights: Floats) -> Floats:
        found = class_figures(weights @ features, counted)
        columns = [found.accuracy, found.macro_f1, found.precision, found.recall, found.f1]
        return np.column_stack(columns)

    values = estimate(np.ones((1, len(true))))[0]
    bounds = intervals(estimate, len(true), how) or (None,) * len(values)
    return [
        IntervalEstimate(float(value), bound)
        if np.isfinite(value)
        else IntervalEstimate(None, None)
        for value, bound in zip(values, bounds, strict=True)
    ]
