"""Figures with intervals over cases and over scenarios, for many groups of items at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from quality.bootstrap import Floats, Interval, Resampling, interval, resample
from quality.class_figures import Codes, Flags
from quality.evaluation.answers import ScoredAnswer
from quality.evaluation.scores import ClusteredEstimate

FEWEST_ITEMS = 10
"""No interval for fewer items."""
FEWEST_SCENARIOS = 20
"""Fewer clusters make percentile intervals too narrow, which is told."""
RESAMPLING = Resampling(resamples=10_000, seed=42)
Figures = Callable[[Floats], Floats]
"""Sums of features, shape ``(resamples, groups, features)``, to figures, shape
``(resamples, groups, figures)``; nan where undefined."""


@dataclass(frozen=True, slots=True)
class Clusters:
    """What each answer belongs to, as numbers from 0."""

    items: Codes
    cases: Codes
    scenarios: Codes

    @classmethod
    def of(cls, answers: Sequence[ScoredAnswer]) -> Clusters:
        """Number the items, cases and scenarios of some answers."""
        return cls(
            numbered([answer.item for answer in answers]),
            numbered([answer.case for answer in answers]),
            numbered([answer.scenario for answer in answers]),
        )


def numbered(names: Sequence[str]) -> Codes:
    """Return a number from 0 for every name, in the order of the sorted names."""
    place = {name: number for number, name in enumerate(sorted(set(names)))}
    return np.array([place[name] for name in names], dtype=np.intp)


def clustered(
    features: Floats,
    figures: Figures,
    clusters: Clusters,
    *,
    groups: Flags | None = None,
    shares: Collection[int] = (),
    how: Resampling = RESAMPLING,
) -> list[list[ClusteredEstimate]]:
    """Return figures of groups of answers, with percentile intervals over cases and scenarios.

    What is drawn with replacement are whole cases (scenarios), with all answers about them; groups
    and figures see the same draws. There is no interval for fewer than 10 items or 2 clusters, and
    none where all draws give the same figure: the bootstrap knows nothing there. Only a share that
    is 0 or 1 throughout has the exact binomial interval over clusters in its place.

    Args:
        features: what is summed up over answers, shape ``(answers, features)``.
        figures: from sums to figures.
        clusters: what the answers belong to.
        groups: which answers each group has, shape ``(answers, groups)``; one of all if None.
        shares: places of the figures that are shares of all answers of the group.
        how: how often and from which seed.

    Returns:
        Per group, one estimate per figure.
    """
    if groups is None:
        groups = np.ones((len(features), 1), dtype=np.bool_)
    size = groups.shape[1]
    columns = size * features.shape[1]
    stacked = (groups[:, :, None] * features[:, None, :]).reshape(len(features), columns)
    whole = figures(stacked.sum(axis=0).reshape(1, size, -1))[0]
    bounds = [
        _intervals(stacked, figures, groups, codes, whole=whole, shares=shares, how=how)
        for codes in (clusters.cases, clusters.scenarios)
    ]
    enough = [len(np.unique(clusters.items[group])) >= FEWEST_ITEMS for group in groups.T]
    return [
        [
            ClusteredEstimate(None)
            if not np.isfinite(value)
            else ClusteredEstimate(
                float(value), *((found[group][j] if enough[group] else None) for found in bounds)
            )
            for j, value in enumerate(values)
        ]
        for group, values in enumerate(whole)
    ]


def _intervals(
    stacked: Floats,
    figures: Figures,
    groups: Flags,
    codes: Codes,
    *,
    whole: Floats,
    shares: Collection[int],
    how: Resampling,
) -> list[list[Interval | None]]:
    """Return the intervals over one kind of clusters, by group and figure."""
    number, columns = whole.shape
    present = [len(np.unique(codes[group])) for group in groups.T]
    if not len(codes) or max(present) < 2:
        return [[None] * columns for _ in range(number)]
    sums = sums_by(codes, stacked)

    def estimate(weights: Floats) -> Floats:
        drawn = (weights @ sums).reshape(len(weights), number, -1)
        return figures(drawn).reshape(len(weights), -1)

    draws = resample(estimate, len(sums), how).reshape(-1, number, columns)
    return [
        [
            _bound(draws[:, group, j], whole[group, j], present[group], j in shares, how)
            for j in range(columns)
        ]
        for group in range(number)
    ]


def _bound(
    draws: Floats, value: float, clusters: int, is_share: bool, how: Resampling
) -> Interval | None:
    if clusters < 2:
        return None
    found = interval(draws, how.coverage)
    if found is None or np.nanmax(draws) - np.nanmin(draws) > 1e-12:
        return found
    return exact_interval(value, clusters, how.coverage) if is_share else None


def exact_interval(value: float, clusters: int, coverage: float) -> Interval | None:
    """Return the interval of a share that is the same, 0 or 1, in every cluster; else None.

    Source: Clopper and Pearson (1934); with 95 % and n clusters, 1 is bounded by 0.025 ** (1 / n).
    """
    reach = ((1 - coverage) / 2) ** (1 / clusters)
    if np.isclose(value, 1.0):
        return Interval(reach, 1.0)
    return Interval(0.0, 1 - reach) if np.isclose(value, 0.0) else None


def sums_by(codes: Codes, features: Floats) -> Floats:
    """Return the sums of rows with the same number, shape ``(numbers, features)``."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(int(codes.max()) + 1))
    sums: Floats = np.add.reduceat(features[order], starts, axis=0)
    return sums
