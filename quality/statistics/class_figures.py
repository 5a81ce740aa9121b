"""Accuracy, macro-F1 and the figures of each class as functions of sums over items.

A resample only changes how often an item enters the sums, so that thousands of resamples are a
matrix product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quality.statistics.bootstrap import Floats

Codes = NDArray[np.intp]
"""Places in a list of labels; the length of the list stands for no label at all."""
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """Figures per row of sums; nan where undefined. The last axis of the last three is the label."""

    accuracy: Floats
    macro_f1: Floats
    balanced_accuracy: Floats
    precision: Floats
    recall: Floats
    f1: Floats


def class_features(
    true: Codes, said: Codes, size: int, weights: Floats | Sequence[float] | None = None
) -> Floats:
    """Return what is summed up over items: per label hits, references and answers.

    Args:
        true: the right label of each item, below ``size``.
        said: the label that was given; ``size`` where there is none.
        size: how many labels there are.
        weights: what each item counts; 1 if None.

    Returns:
        Shape ``(items, 3 * size)``.
    """
    labels = np.arange(size)
    is_true = (true[:, None] == labels).astype(np.float64)
    is_said = (said[:, None] == labels).astype(np.float64)
    features = np.hstack([is_true * is_said, is_true, is_said])
    return features if weights is None else features * np.asarray(weights)[:, None]


def class_figures(sums: Floats, counted: Flags) -> ClassFigures:
    """Return the figures of sums of :func:`class_features`.

    The F1 of a label that nobody has or gives in a resample is 0 in the macro-F1, which always
    divides by the same number of labels. A label without items has no recall, and the balanced
    accuracy leaves it out. Both are what scikit-learn does.

    Args:
        sums: shape ``(..., 3 * size)``.
        counted: which labels enter macro-F1 and balanced accuracy, shape ``(..., size)``: those
            that occur in the whole reference set, whatever was resampled.
    """
    hits, support, given = np.split(sums, 3, axis=-1)
    recall = share(hits, support)
    has_recall = counted & np.isfinite(recall)
    return ClassFigures(
        accuracy=accuracy(sums),
        macro_f1=macro_f1(sums, counted),
        balanced_accuracy=share(
            np.where(has_recall, recall, 0.0).sum(axis=-1),
            has_recall.sum(axis=-1).astype(np.float64),
        ),
        precision=share(hits, given),
        recall=recall,
        f1=share(2 * hits, support + given),
    )


def accuracy(sums: Floats) -> Floats:
    """Return the accuracy alone, as :func:`class_figures` does."""
    hits, support, _ = np.split(sums, 3, axis=-1)
    return share(hits.sum(axis=-1), support.sum(axis=-1))


def macro_f1(sums: Floats, counted: Flags) -> Floats:
    """Return the macro-F1 alone, as :func:`class_figures` does."""
    hits, support, given = np.split(sums, 3, axis=-1)
    below = support + given
    f1 = np.zeros(below.shape)
    np.divide(2 * hits, below, out=f1, where=(below > 0) & counted)
    number = np.where(support.sum(axis=-1) > 0, counted.sum(axis=-1), 0).astype(np.float64)
    return share(f1.sum(axis=-1), number)


def count_matrix(true: Codes, said: Codes, size: int) -> NDArray[np.intp]:
    """Return how often each label was given where each is right, shape ``(size, size + 1)``.

    The last column counts the items without a label.
    """
    counts = np.bincount(true * (size + 1) + said, minlength=size * (size + 1))
    return counts.reshape(size, size + 1)


def share(above: Floats, below: Floats) -> Floats:
    """Divide, with nan where there is nothing to divide by."""
    above, below = np.broadcast_arrays(above, below)
    shares = np.full(below.shape, np.nan)
    np.divide(above, below, out=shares, where=below > 0)
    return shares
