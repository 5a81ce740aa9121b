"""Confusion of judges with people: how far the verdicts of each judge can be trusted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quality.annotations import Answer, labels_by_item, majority
from quality.bootstrap import Estimator, Floats, Interval, Resampling, intervals
from scenarios.errors import UsageError
from scenarios.schemes.model import LabelValue

Codes = NDArray[np.intp]
CARRIED = "carried"
NOT_CARRIED = "not carried"
CARRIED_LABELS = (CARRIED, NOT_CARRIED)
"""Labels of the question whether an utterance carries what was declared."""


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
    ``unreadable[i]`` those to which the judge gave no label at all, which counts as wrong.
    ``undecided`` items have no majority among people, ``unjudged`` ones were not put to the
    judge: neither enters the figures.
    """

    judge: str
    dimension: str
    labels: tuple[str, ...]
    matrix: tuple[tuple[int, ...], ...]
    unreadable: tuple[int, ...]
    accuracy: IntervalEstimate
    macro_f1: IntervalEstimate
    per_label: tuple[LabelTrust, ...]
    undecided: int
    unjudged: int

    @property
    def items(self) -> int:
        """How many items the figures rest on."""
        return sum(map(sum, self.matrix)) + sum(self.unreadable)


def judge_confusions(
    labels: Mapping[str, Sequence[str]],
    people: Iterable[Answer],
    judges: Iterable[Answer],
    *,
    unreadable: Collection[tuple[str, str, str]] = (),
    how: Resampling | None = None,
) -> list[Confusion]:
    """Hold every judge against the majority of people, dimension by dimension.

    Args:
        labels: dimension id -> its labels (``label_sets(scheme)``, or ``CARRIED_LABELS`` for judges
            that only say whether the declared label is carried).
        people: the answers of people; an item counts where more than half give one label.
        judges: the answers of the judges, ``annotator`` being the judge's name.
        unreadable: (judge, dimension, item) to which the judge's reply could not be read.
        how: how intervals are bootstrapped over items; 2,000 times from seed 42 if None.

    Returns:
        One confusion per dimension and judge that judged any of it, in the order of ``labels``,
        judges sorted by name.

    Raises:
        UsageError: an answer is none of the labels, or somebody answered an item twice.
    """
    people, judges = list(people), list(judges)
    names = sorted({answer.annotator for answer in judges} | {key[0] for key in unreadable})
    results: list[Confusion] = []
    for dimension, known in labels.items():
        decided = {
            item: majority(list(row.values()))
            for item, row in labels_by_item(people, dimension).items()
        }
        for name in names:
            judged: dict[str, LabelValue | None] = {
                item: row[name]
                for item, row in labels_by_item(judges, dimension).items()
                if name in row
            }
            for judge, asked, item in unreadable:
                if (judge, asked) == (name, dimension):
                    judged.setdefault(item, None)
            if judged:
                results.append(
                    confusion(name, dimension, known, truth=decided, judged=judged, how=how)
                )
    return results


def confusion(
    judge: str,
    dimension: str,
    labels: Sequence[str],
    *,
    truth: Mapping[str, LabelValue | None],
    judged: Mapping[str, LabelValue | None],
    how: Resampling | None = None,
) -> Confusion:
    """Hold one judge's labels against the truth, item by item.

    Args:
        judge: the judge's name.
        dimension: the dimension that was judged.
        labels: its labels, in the order the matrix shall have.
        truth: item -> what people decided, or None where they did not.
        judged: item -> what the judge said, or None where its reply was unreadable.
        how: as in :func:`judge_confusions`.

    Raises:
        UsageError: somebody gave a label that is none of ``labels``.
    """
    code = {label: i for i, label in enumerate(labels)}
    decided = sorted(item for item, label in truth.items() if label is not None)
    items = [item for item in decided if item in judged]
    true = np.array([_code(code, truth[item], dimension) for item in items], dtype=np.intp)
    judged_codes = np.array([_code(code, judged[item], dimension) for item in items], dtype=np.intp)
    size = len(labels)
    counts = np.bincount(true * (size + 1) + judged_codes, minlength=size * (size + 1))
    table = counts.reshape(size, size + 1)
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
        undecided=len(truth) - len(decided),
        unjudged=len(decided) - len(items),
    )


def as_verdicts(
    answers: Iterable[Answer], declared: Mapping[tuple[str, str], LabelValue]
) -> list[Answer]:
    """Turn labels that people gave into verdicts on the labels that were declared.

    Args:
        answers: the answers of people.
        declared: (item, dimension) -> the label declared for it; answers to anything else are
            left out.

    Returns:
        The same answers with the value ``carried`` or ``not carried``.
    """
    return [
        Answer(
            answer.item,
            answer.dimension,
            answer.annotator,
            CARRIED if answer.value == declared[answer.item, answer.dimension] else NOT_CARRIED,
        )
        for answer in answers
        if (answer.item, answer.dimension) in declared
    ]


def _code(code: Mapping[str, int], label: LabelValue | None, dimension: str) -> int:
    if label is None:
        return len(code)
    if isinstance(label, str) and label in code:
        return code[label]
    raise UsageError(f"{label!r} is no label of {dimension!r}", f"its labels are {', '.join(code)}")


def _estimates(
    true: Codes, judged: np.typing.NDArray[np.intp], size: int, how: Resampling
) -> list[IntervalEstimate]:
    """Return accuracy, macro-F1, then precisions, recalls and F1s of all labels."""
    estimator = _estimator(true, judged, size)
    values = estimator(np.ones((1, len(true))))[0]
    bounds = intervals(estimator, len(true), how) or (None,) * len(values)
    return [
        IntervalEstimate(float(value), bound)
        if np.isfinite(value)
        else IntervalEstimate(None, None)
        for value, bound in zip(values, bounds, strict=True)
    ]


def _estimator(true: Codes, judged: np.typing.NDArray[np.intp], size: int) -> Estimator:
    labels = np.arange(size)
    is_true = (true[:, None] == labels).astype(np.float64)
    is_said = (judged[:, None] == labels).astype(np.float64)

    def estimate(weights: Floats) -> Floats:
        hits = weights @ (is_true * is_said)
        supports, claims = weights @ is_true, weights @ is_said
        accuracy = _share(hits.sum(axis=1, keepdims=True), weights.sum(axis=1, keepdims=True))
        f1 = _share(2 * hits, supports + claims)
        # A label that neither people nor the judge used has no F1 and does not lower the mean.
        used = np.isfinite(f1)
        macro = _share(np.where(used, f1, 0.0).sum(axis=1), used.sum(axis=1).astype(np.float64))
        return np.column_stack([accuracy, macro, _share(hits, claims), _share(hits, supports), f1])

    return estimate


def _share(above: Floats, below: Floats) -> Floats:
    shares = np.full(below.shape, np.nan)
    np.divide(above, below, out=shares, where=below > 0)
    return shares
