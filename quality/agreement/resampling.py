"""The agreement statistics as functions of item weights, for resampling thousands of times.

Each statistic is rewritten as a function of sums over items; a resample only changes how often an
item enters those sums. With all weights one they are the statistics themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from quality.agreement.ratings import Ratings
from quality.statistics.bootstrap import Estimator, Floats

Rows = NDArray[np.bool_]
_EPSILON = 1e-10
"""Below this a denominator is rounding noise: sums here are counts, or of numbers up to 1."""


def absolute_agreement(ratings: Ratings) -> tuple[Rows, Floats]:
    """Return which items have two answers or more, and their shares of agreeing pairs."""
    rows = answered_twice(ratings)
    counts, answered = ratings.counts()[rows], ratings.answered[rows]
    return rows, (counts * (counts - 1)).sum(axis=1) / (answered * (answered - 1))


def answered_twice(ratings: Ratings) -> Rows:
    """Return which items have two answers or more."""
    rows: Rows = ratings.answered >= 2
    return rows


def equally_answered(ratings: Ratings) -> Rows:
    """Return which items have the most usual number of answers (of two or more; ties: more)."""
    answered = ratings.answered
    frequency = Counter(size for size in answered.tolist() if size >= 2)
    usual = max(frequency, key=lambda size: (frequency[size], size), default=np.inf)
    rows: Rows = answered == usual
    return rows


def fully_answered(ratings: Ratings) -> Rows:
    """Return which items every annotator answered."""
    rows: Rows = ratings.answered == len(ratings.annotators)
    return rows


def _of(rows: Rows, weights: Floats) -> Floats:
    """Return the weights of some items; where that is all of them, as they are: a copy takes longest."""
    return weights if rows.all() else weights[:, rows]


def pair_rows(ratings: Ratings) -> Iterator[tuple[int, int, Rows]]:
    """Yield each pair of annotators with the items that both answered."""
    rated = np.isfinite(ratings.codes)
    for i, j in combinations(range(len(ratings.annotators)), 2):
        rows: Rows = rated[:, i] & rated[:, j]
        if rows.any():
            yield i, j, rows


def pair_columns(ratings: Ratings) -> Iterator[tuple[Floats, Floats]]:
    """Yield the codes of each pair of annotators on the items that both answered."""
    for i, j, rows in pair_rows(ratings):
        yield ratings.codes[rows, i], ratings.codes[rows, j]


def percent_estimator(ratings: Ratings) -> Estimator:
    """Weighted percent agreement."""
    rows, shares = absolute_agreement(ratings)

    def estimate(weights: Floats) -> Floats:
        drawn = _of(rows, weights)
        return ratio(drawn @ shares, drawn.sum(axis=1))

    return estimate


def pair_agreements(ratings: Ratings) -> list[tuple[int, int, Estimator]]:
    """Return the agreement of each pair of annotators who share items, as functions of weights.

    It is Cohen's kappa, and Spearman's rho of numbers.
    """
    of_pair = _rho_of_pair if ratings.measurement == "interval" else _kappa_of_pair
    return [(i, j, of_pair(ratings, i, j, rows)) for i, j, rows in pair_rows(ratings)]


def pair_values(ratings: Ratings, statistic: str) -> list[Estimator]:
    """Return Cohen's kappa, or Spearman's rho, of each pair that shares items, as estimators."""
    of_pair = _rho_of_pair if statistic == "Spearman rho" else _kappa_of_pair
    return [of_pair(ratings, *pair) for pair in pair_rows(ratings)]


def cohen_estimator(ratings: Ratings) -> Estimator:
    """Weighted mean pairwise Cohen's kappa."""
    return _mean_of_pairs(pair_values(ratings, "Cohen kappa"))


def _mean_of_pairs(pairs: list[Estimator]) -> Estimator:
    def estimate(weights: Floats) -> Floats:
        if not pairs:
            return np.full(len(weights), np.nan)
        return mean_defined(np.column_stack([pair(weights) for pair in pairs]))

    return estimate


def _kappa_of_pair(ratings: Ratings, i: int, j: int, rows: Rows) -> Estimator:
    labels = np.arange(len(ratings.categories))
    codes = ratings.codes[rows, i], ratings.codes[rows, j]
    same = (codes[0] == codes[1]).astype(np.float64)
    first, second = ((one[:, None] == labels).astype(np.float64) for one in codes)

    def estimate(weights: Floats) -> Floats:
        drawn = _of(rows, weights)
        total = drawn.sum(axis=1)
        expected = ratio(((drawn @ first) * (drawn @ second)).sum(axis=1), total**2)
        return _beyond_chance(ratio(drawn @ same, total), expected)

    return estimate


def fleiss_estimator(ratings: Ratings) -> Estimator:
    """Weighted Fleiss' kappa."""
    rows = equally_answered(ratings)
    features = _agreement_and_counts(ratings, rows)

    def estimate(weights: Floats) -> Floats:
        drawn = _of(rows, weights)
        sums = drawn @ features
        marginals = ratio(sums[:, 1:], sums[:, 1:].sum(axis=1, keepdims=True))
        observed = ratio(sums[:, 0], drawn.sum(axis=1))
        return _beyond_chance(observed, (marginals**2).sum(axis=1))

    return estimate


def randolph_estimator(ratings: Ratings) -> Estimator:
    """Weighted Randolph's kappa."""
    rows = equally_answered(ratings)
    shares = _agreement_and_counts(ratings, rows)[:, 0]
    expected = np.array(1 / max(len(ratings.categories), 1))

    def estimate(weights: Floats) -> Floats:
        drawn = _of(rows, weights)
        return _beyond_chance(ratio(drawn @ shares, drawn.sum(axis=1)), expected)

    return estimate


def alpha_estimator(ratings: Ratings) -> Estimator:
    """Weighted Krippendorff's alpha at the dimension's level of measurement."""
    if ratings.measurement == "interval":
        return _interval_alpha(ratings)
    return _ordinal_alpha(ratings) if ratings.measurement == "ordinal" else _nominal_alpha(ratings)


def _nominal_alpha(ratings: Ratings) -> Estimator:
    rows = answered_twice(ratings)
    counts, answered = ratings.counts()[rows], ratings.answered[rows]
    agreeing = (counts * (counts - 1)).sum(axis=1) / (answered - 1)

    def estimate(weights: Floats) -> Floats:
        drawn = _of(rows, weights)
        n_label = drawn @ counts
        n = n_label.sum(axis=1)
        by_chance = n**2 - (n_label**2).sum(axis=1)
        return 1 - ratio((n - drawn @ agreeing) * (n - 1), by_chance)

    return estimate


def _ordinal_alpha(ratings: Ratings) -> Estimator:
    """Distances depend on how often each label was given, so the coincidences are kept whole."""
    rows = answered_twice(ratings)
    counts, answered = ratings.counts()[rows], ratings.answered[rows]
    size = counts.shape[1]
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(size)
    coincidences = (pairs / (answered - 1)[:, None, None]).reshape(len(counts), size * size)

    def estimate(weights: Floats) -> Floats:
        drawn = _of(rows, weights)
        n_label = drawn @ counts
        # Two labels are as far apart as answers lie between them, both ends counted by half.
        middle = np.cumsum(n_label, axis=1) - n_label / 2
        distance = (middle[:, :, None] - middle[:, None, :]) ** 2
        observed = ((drawn @ coincidences).reshape(distance.shape) * distance).sum(axis=(1, 2))
        by_chance = (n_label[:, :, None] * n_label[:, None, :] * distance).sum(axis=(1, 2))
        return 1 - ratio(observed * (n_label.sum(axis=1) - 1), by_chance)

    return estimate


def _interval_alpha(ratings: Ratings) -> Estimator:
    """Squared differences need no coincidences: sums and sums of squares will do."""
    rows = answered_twice(ratings)
    codes, answered = _standardised(ratings.codes[rows]), ratings.answered[rows]
    total, squares = np.nansum(codes, axis=1), np.nansum(codes**2, axis=1)
    within = (answered * squares - total**2) / (answered - 1)
    features = np.stack([within, answered, total, squares], axis=1)

    def estimate(weights: Floats) -> Floats:
        observed, n, sums, sums_of_squares = (_of(rows, weights) @ features).T
        variance = ratio(sums_of_squares, n) - ratio(sums, n) ** 2
        return 1 - ratio(ratio(observed, n) * ratio(n - 1, n), variance)

    return estimate


def _standardised(codes: Floats) -> Floats:
    """Move and scale the codes to about ``[-1, 1]``, which neither alpha nor ICC notices."""
    values = codes[np.isfinite(codes)]
    if not len(values):
        return codes
    centred = codes - values.mean()
    width = np.ptp(values)
    scaled: Floats = centred / width if width > _EPSILON * np.abs(values).max() else centred * 0
    return scaled


def spearman_estimator(ratings: Ratings) -> Estimator:
    """Weighted mean pairwise Spearman's rho; ranks are taken anew within each resample."""
    return _mean_of_pairs(pair_values(ratings, "Spearman rho"))


def _rho_of_pair(ratings: Ratings, i: int, j: int, rows: Rows) -> Estimator:
    def estimate(weights: Floats) -> Floats:
        drawn = _of(rows, weights)
        first = centred_ranks(ratings.codes[rows, i], drawn)
        second = centred_ranks(ratings.codes[rows, j], drawn)
        spread = (drawn * first**2).sum(axis=1) * (drawn * second**2).sum(axis=1)
        return ratio((drawn * first * second).sum(axis=1), np.sqrt(spread))

    return estimate


def centred_ranks(codes: Floats, weights: Floats) -> Floats:
    """Return mid-ranks less their mean, where item ``i`` occurs ``weights[:, i]`` times."""
    values, group = np.unique(codes, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(len(values)))
    tied = np.add.reduceat(weights[:, order], starts, axis=1)
    middle = np.cumsum(tied, axis=1) - tied / 2
    centred: Floats = middle[:, group] - weights.sum(axis=1, keepdims=True) / 2
    return centred


def intraclass_estimator(ratings: Ratings) -> Estimator:
    """Weighted ICC(2,1) of the items that every annotator answered."""
    rows = fully_answered(ratings)
    k = len(ratings.annotators)
    if k < 2:
        return lambda weights: np.full(len(weights), np.nan)
    codes = _standardised(ratings.codes[rows])
    features = np.column_stack([codes, codes.sum(axis=1) ** 2, (codes**2).sum(axis=1)])

    def estimate(weights: Floats) -> Floats:
        drawn = _of(rows, weights)
        n, sums = drawn.sum(axis=1), drawn @ features
        correction = ratio(sums[:, :k].sum(axis=1) ** 2, n * k)
        ss_items = sums[:, k] / k - correction
        ss_annotators = ratio((sums[:, :k] ** 2).sum(axis=1), n) - correction
        ss_error = sums[:, k + 1] - correction - ss_items - ss_annotators
        items = ratio(ss_items, n - 1)
        annotators = ratio(ss_annotators, np.array(float(k - 1)))
        error = ratio(ss_error, (n - 1) * (k - 1))
        return ratio(items - error, items + (k - 1) * error + k * ratio(annotators - error, n))

    return estimate


def one_way_intraclass_estimator(ratings: Ratings) -> Estimator:
    """Weighted ICC(1,1) of the items with two answers or more, however many each has."""
    rows = answered_twice(ratings)
    codes, answered = _standardised(ratings.codes[rows]), ratings.answered[rows]
    total, squares = np.nansum(codes, axis=1), np.nansum(codes**2, axis=1)
    features = np.column_stack([total, total**2 / answered, squares, answered, answered**2])

    def estimate(weights: Floats) -> Floats:
        drawn = _of(rows, weights)
        n = drawn.sum(axis=1)
        sums, by_item, sums_of_squares, answers, answers_squared = (drawn @ features).T
        items = ratio(by_item - ratio(sums**2, answers), n - 1)
        within = ratio(sums_of_squares - by_item, answers - n)
        each = ratio(answers - ratio(answers_squared, answers), n - 1)
        return ratio(items - within, items + (each - 1) * within)

    return estimate


def _agreement_and_counts(ratings: Ratings, rows: Rows) -> Floats:
    counts, answered = ratings.counts()[rows], ratings.answered[rows]
    shares = (counts * (counts - 1)).sum(axis=1) / (answered * (answered - 1))
    return np.column_stack([shares, counts])


def _beyond_chance(observed: Floats, expected: Floats) -> Floats:
    return ratio(observed - expected, 1 - expected)


def ratio(above: Floats, below: Floats) -> Floats:
    """Divide, with nan where there is nothing to divide by."""
    above, below = np.broadcast_arrays(above, below)
    result = np.full(below.shape, np.nan)
    np.divide(above, below, out=result, where=np.abs(below) > _EPSILON)
    return result


def mean_defined(values: Floats) -> Floats:
    """Average over the columns that are defined, per resample; nan where none is."""
    finite = np.isfinite(values)
    return ratio(np.where(finite, values, 0.0).sum(axis=1), finite.sum(axis=1).astype(np.float64))
