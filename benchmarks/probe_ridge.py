"""Ridge regression over folds that finds its penalty in the folds it learns from."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Columns = NDArray[np.float64]
Codes = NDArray[np.int64]
PENALTIES = (1.0, 10.0, 100.0, 1000.0)


class NestedRidge:
    """Guesses each fold from the others, with the penalty that serves best among those.

    For the penalty of a fold, each of the others is guessed from the rest. What two folds leave is
    solved once for both: ten solutions a penalty for five folds, for all dimensions together.
    """

    def __init__(self, columns: Columns, fold: Codes, learnt: NDArray[np.bool_]) -> None:
        """Prepare what does not depend on labels.

        Args:
            columns: shape ``(items, columns)``.
            fold: of each item, numbered from 0.
            learnt: which items are learnt from; the others are only guessed.
        """
        self._columns = np.column_stack([columns, np.ones(len(columns))])
        self._fold = fold
        self._folds = range(int(fold[learnt].max()) + 1)
        self._rows = [np.flatnonzero(learnt & (fold == number)) for number in self._folds]
        self._parts = [self._columns[rows] for rows in self._rows]
        self._grams = [part.T @ part for part in self._parts]

    def guess(self, labels: Codes) -> Codes:
        """Guess the label of every item in every dimension.

        Args:
            labels: shape ``(items, dimensions)``, numbered from 0 in each; of items that are not
                learnt from they are not looked at.
        """
        known = labels[np.concatenate(self._rows)]
        eyes = [np.eye(int(most) + 1) for most in known.max(axis=0)]
        ends = np.cumsum([len(eye) for eye in eyes])
        products = [
            part.T @ np.hstack([eye[labels[rows, d]] for d, eye in enumerate(eyes)])
            for part, rows in zip(self._parts, self._rows, strict=True)
        ]
        right = np.zeros((len(self._folds), len(PENALTIES), len(eyes)))
        for place, penalty in enumerate(PENALTIES):
            for one, other in combinations(self._folds, 2):
                weights = self._solved(products, penalty, without=(one, other))
                for outer, inner in ((one, other), (other, one)):
                    found = _highest(self._parts[inner] @ weights, ends)
                    right[outer, place] += np.sum(found == labels[self._rows[inner]], axis=0)
        guesses = np.zeros_like(labels)
        for fold in self._folds:
            inside = np.flatnonzero(self._fold == fold)
            best = np.argmax(right[fold], axis=0)
            for place in set(best.tolist()):
                weights = self._solved(products, PENALTIES[place], without=(fold,))
                found = _highest(self._columns[inside] @ weights, ends)
                chosen = np.flatnonzero(best == place)
                guesses[np.ix_(inside, chosen)] = found[:, chosen]
        return guesses

    def _solved(self, products: list[Columns], penalty: float, without: tuple[int, ...]) -> Columns:
        """Return the weights, shape ``(columns + 1, labels)``, learnt from the folds that are left."""
        from scipy.linalg import solve  # noqa: PLC0415 heavy, comes with the extra audit

        kept = [fold for fold in self._folds if fold not in without]
        gram = np.sum([self._grams[fold] for fold in kept], axis=0)
        # The level is free, but for what keeps the matrix regular.
        gram[np.diag_indices(len(gram) - 1)] += penalty
        gram[-1, -1] += 1e-9
        product = np.sum([products[fold] for fold in kept], axis=0)
        weights: Columns = solve(gram, product, assume_a="pos")
        return weights


def _highest(scores: Columns, ends: Codes) -> Codes:
    """Return the label with the highest score in each dimension, shape ``(items, dimensions)``."""
    parts = np.split(scores, ends[:-1], axis=1)
    return np.stack([np.argmax(part, axis=1) for part in parts], axis=1)
