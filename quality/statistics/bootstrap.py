"""Percentile bootstrap intervals over items, or over clusters of items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]
Estimator = Callable[[Floats], Floats]
"""Weights of shape ``(resamples, items)``, how often each item was drawn, to one row of statistics
per resample, shape ``(resamples,)`` or ``(resamples, statistics)``; nan where undefined."""

_CELLS = 2_000_000
"""Weights held in memory at a time."""
_NO_WIDTH = 1e-12


@dataclass(frozen=True, slots=True)
class Resampling:
    """How to resample: how often, from which seed, and how much the interval shall cover."""

    resamples: int = 2_000
    seed: int = 42
    coverage: float = 0.95

    def __post_init__(self) -> None:
        if self.resamples < 1 or not 0 < self.coverage < 1:
            raise ValueError("resampling needs at least 1 resample and a coverage between 0 and 1")


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float

    @property
    def has_width(self) -> bool:
        """Whether it says anything: where every resample is the same the bootstrap knows nothing."""
        return self.high - self.low > _NO_WIDTH


def resample(
    estimator: Estimator, items: int, resampling: Resampling, clusters: Numbers | None = None
) -> Floats:
    """Estimate on items drawn with replacement; the same seed draws the same items.

    A resample is a vector of weights, so an estimator computes thousands of them with a few
    matrix products instead of rebuilding its table for each.

    Args:
        estimator: maps weights ``(r, items)`` to statistics ``(r,)`` or ``(r, k)``.
        items: how many items there are, at least 1.
        resampling: how often and from which seed.
        clusters: the number from 0 of the cluster of each item, shape ``(items,)``: items of one
            cluster are drawn together. None: every item is drawn alone.

    Returns:
        The statistics, shape ``(resampling.resamples, k)``.
    """
    rng = np.random.default_rng(resampling.seed)
    drawn_from = items if clusters is None else int(clusters.max()) + 1
    step = max(1, _CELLS // max(items, drawn_from))
    parts: list[Floats] = []
    for start in range(0, resampling.resamples, step):
        rows = min(step, resampling.resamples - start)
        drawn = rng.integers(drawn_from, size=(rows, drawn_from))
        drawn += np.arange(rows)[:, None] * drawn_from
        counts = np.bincount(drawn.ravel(), minlength=rows * drawn_from)
        weights: Floats = counts.reshape(rows, drawn_from).astype(np.float64)
        whole = weights if clusters is None else weights[:, clusters]
        parts.append(estimator(whole).reshape(rows, -1))
    return np.concatenate(parts)


def interval(draws: Floats, coverage: float, clusters: int, *, beyond: int = 0) -> Interval | None:
    """Return the central interval of the draws of one statistic, shape ``(resamples,)``.

    Percentiles of few clusters lie too close together: a resample spreads by ``sqrt((n - 1) / n)``
    too little, and the normal distribution is not yet that of Student. So the percentiles are
    taken further out, where they would be for the mean of ``clusters`` draws.

    Resamples in which the statistic is undefined (nan) are left out; None where that is more
    than half of them.

    Args:
        draws: the statistic in every resample.
        coverage: how often the interval shall hold the truth.
        clusters: how many items, or clusters of items, were drawn from, at least 2.
        beyond: how many draws have to lie beyond an end that is read from them. An end further
            out is reckoned from the quantile that has so many beyond it, as of a normal
            distribution, and may be where no draw is.

    Source: Hesterberg 2015, What teachers should know about the bootstrap, section 5.3 (expanded
    percentile interval).
    """
    finite = np.isfinite(draws)
    defined = draws if finite.all() else draws[finite]
    if 2 * len(defined) < len(draws) or not len(defined):
        return None
    tail = _tail(coverage, clusters)
    reached = max(tail, beyond / len(defined))
    low, middle, high = map(float, np.quantile(defined, (reached, 0.5, 1 - reached)))
    if reached == tail:
        return Interval(low, high)
    further = NormalDist().inv_cdf(tail) / NormalDist().inv_cdf(reached)
    return Interval(middle - (middle - low) * further, middle + (high - middle) * further)


def _tail(coverage: float, clusters: int) -> float:
    """Return the share of resamples that lies beyond each end of an interval."""
    normal = NormalDist()
    z = normal.inv_cdf((1 + coverage) / 2)
    n = clusters - 1
    # Student's t by its expansion in 1/n (Abramowitz and Stegun 26.7.5): within 1 % from n = 3 on.
    t = z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
    t += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    return normal.cdf(-t * (clusters / n) ** 0.5)


def even_share_interval(share: float, clusters: int, coverage: float) -> Interval:
    """Return the interval of a share that is the same in every cluster, as if of single answers.

    Source: Clopper and Pearson (1934) for 0 and 1; with 95 % and n clusters, 1 is bounded by
    0.025 ** (1 / n), about ``1 - 3.7 / n``: the two-sided rule of three. Wilson (1927) in between.
    """
    reach = ((1 - coverage) / 2) ** (1 / clusters)
    if np.isclose(share, 1.0):
        return Interval(reach, 1.0)
    if np.isclose(share, 0.0):
        return Interval(0.0, 1 - reach)
    z = NormalDist().inv_cdf((1 + coverage) / 2)
    middle = share + z**2 / (2 * clusters)
    half = z * (share * (1 - share) / clusters + (z / (2 * clusters)) ** 2) ** 0.5
    whole = 1 + z**2 / clusters
    return Interval((middle - half) / whole, (middle + half) / whole)


def share_interval(draws: Floats, share: float, clusters: int, coverage: float) -> Interval | None:
    """Return the interval of a share of all there is, also where the draws have no width.

    Clusters that all have the same share leave the bootstrap without any width; their number alone
    then says how far the share could be off.

    Args:
        draws: the share in every resample.
        share: the share itself, in ``[0, 1]``.
        clusters: how many clusters it rests on; None is returned for fewer than 2.
        coverage: how often the interval shall hold the truth.
    """
    if clusters < 2:
        return None
    found = interval(draws, coverage, clusters)
    if found is None or found.has_width or np.nanmax(draws) - np.nanmin(draws) > _NO_WIDTH:
        return found
    return even_share_interval(share, clusters, coverage)


def intervals(
    estimator: Estimator, items: int, resampling: Resampling
) -> tuple[Interval | None, ...]:
    """Return one interval per statistic of the estimator; all None for fewer than two items."""
    if items < 2:
        count = estimator(np.ones((1, items))).reshape(1, -1).shape[1] if items else 0
        return (None,) * count
    draws = resample(estimator, items, resampling)
    return tuple(interval(column, resampling.coverage, items) for column in draws.T)
