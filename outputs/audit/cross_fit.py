"""Ridge regression that guesses each scenario from the others, for thousands of targets at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Matrix = Any
"""Features, one row an item: a numpy array, or a sparse matrix of scipy in CSR form."""

FOLDS = 5
PENALTY = 1.0


def grouped_folds(groups: Integers, seed: int) -> Integers:
    """Return the fold of every item, so that all items of a group are in one.

    Args:
        groups: of every item, such as its scenario; at least two different ones.
        seed: which fold a group is in.
    """
    from sklearn.model_selection import GroupKFold  # noqa: PLC0415 heavy, extra audit

    numbered = np.unique(groups, return_inverse=True)[1]
    folds = np.zeros(len(groups), np.int64)
    splitter = GroupKFold(min(FOLDS, int(numbered.max()) + 1), shuffle=True, random_state=seed)
    for number, (_, inside) in enumerate(splitter.split(folds, groups=numbered)):
        folds[inside] = number
    return folds


class CrossFit:
    """Learns from all folds but one and guesses that one, in turn.

    The closed form of ridge regression needs the features once: what depends on the targets are
    two products, so that a thousand permutations of the labels take little more than one fit.
    """

    def __init__(self, features: Matrix, folds: Integers, *, centred: bool = True) -> None:
        """Prepare what does not depend on targets.

        Args:
            features: shape ``(items, features)``.
            folds: the fold of each item, numbered from 0.
            centred: whether means are taken off features and targets first.
        """
        self._centred = centred
        self._inside = [np.flatnonzero(folds == fold) for fold in range(int(folds.max()) + 1)]
        self._parts = [features[inside] for inside in self._inside]
        # Products with a transposed sparse matrix are several times quicker in row form.
        turned = [part.T.tocsr() if hasattr(part, "tocsr") else part.T for part in self._parts]
        self._turned = turned
        self._sums = [np.asarray(part.sum(axis=0)).ravel() for part in self._parts]
        grams = [_dense(t @ part) for t, part in zip(turned, self._parts, strict=True)]
        whole, total = sum(grams), sum(self._sums)
        self._inverses, self._means = [], []
        for part, gram, sums in zip(self._parts, grams, self._sums, strict=True):
            known = len(folds) - part.shape[0]
            mean = (total - sums) / known * centred
            spread = whole - gram - known * np.outer(mean, mean)
            spread[np.diag_indices_from(spread)] += PENALTY
            self._inverses.append(np.linalg.inv(spread))
            self._means.append(mean)

    def scores(self, targets: Floats) -> Floats:
        """Return what is guessed for every item from the folds that it is not in.

        Args:
            targets: shape ``(items, targets)``; each column is guessed by itself.

        Returns:
            The guesses, same shape.
        """
        inside = [targets[rows] for rows in self._inside]
        products = [_dense(turned @ own) for turned, own in zip(self._turned, inside, strict=True)]
        sums = [own.sum(axis=0) for own in inside]
        product, total = sum(products), sum(sums)
        guesses = np.empty_like(targets)
        for place, rows in enumerate(self._inside):
            known = len(targets) - len(rows)
            mean, level = self._means[place], (total - sums[place]) / known * self._centred
            weights = self._inverses[place] @ (
                product - products[place] - known * np.outer(mean, level)
            )
            guesses[rows] = _dense(self._parts[place] @ weights) - mean @ weights + level
        return guesses


def _dense(values: Matrix) -> Floats:
    array: Floats = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    return array
