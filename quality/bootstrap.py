"""Percentile bootstrap intervals over items, or over clusters of items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Estimator = Callable[[Floats], Floats]
"""Weights of shape ``(resamples, items)``, how often each item was drawn, to one row of statistics
per resample, shape ``(resamples,)`` or ``(resamples, statistics)``; nan where undefined."""

_CELLS = 2_000_000
"""Weights held in memory at a time."""


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
    """A percentile confidence interval."""

    low: float
    high: float


def resample(estimator: Estimator, items: int, resampling: Resampling) -> Floats:
    """Estimate on items drawn with replacement; the same seed draws the same items.

    A resample is a vector of weights, so an estimator computes thousands of them with a few
    matrix products instead of rebuilding its table for each.

    Args:
        estimator: maps weights ``(r, items)`` to statistics ``(r,)`` or ``(r, k)``.
        items: how many items, or clusters of items, there are, at least 1.
        resampling: how often and from which seed.

    Returns:
        The statistics, shape ``(resampling.resamples, k)``.
    """
    rng = np.random.default_rng(resampling.seed)
    step = max(1, _CELLS // items)
    parts: list[Floats] = []
    for start in range(0, resampling.resamples, step):
        rows = min(step, resampling.resamples - start)
        drawn = rng.integers(items, size=(rows, items)) + np.arange(rows)[:, None] * items
        weights = np.bincount(drawn.ravel(), minlength=rows * items).reshape(rows, items)
        parts.append(estimator(weights.astype(np.float64)).reshape(rows, -1))
    return np.concatenate(parts)


def interval(draws: Floats, coverage: float) -> Interval | None:
    """Return the central interval of the draws of one statistic, shape ``(resamples,)``.

    Resamples in which the statistic is undefined (nan) are left out; None where that is more
    than half of them.
    """
    finite = np.isfinite(draws)
    defined = draws if finite.all() else draws[finite]
    if 2 * len(defined) < len(draws) or not len(defined):
        return None
    tail = (1 - coverage) / 2
    low, high = np.quantile(defined, (tail, 1 - tail))
    return Interval(float(low), float(high))


def intervals(
    estimator: Estimator, items: int, resampling: Resampling
) -> tuple[Interval | None, ...]:
    """Return one interval per statistic of the estimator; all None for fewer than two items."""
    if items < 2:
        count = estimator(np.ones((1, items))).reshape(1, -1).shape[1] if items else 0
        return (None,) * count
    draws = resample(estimator, items, resampling)
    return tuple(interval(column, resampling.coverage) for column in draws.T)
