"""Figures with intervals over cases and over scenarios, for many groups of items at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from quality.bootstrap import Floats, Interval, Resampling, interval, resample
from quality.class_figures import Codes, Flags
from quality.evaluation.answers import ScoredAnswer
from quality.evaluation.scores import ClusteredEstimate

FEWEST_ITEMS = 10
"""No interval for fewer items."""
FEWEST_SCENARIOS = 20
"""Fewer clusters make percentile intervals too narrow, which is told."""
_NO_WIDTH = 1e-12
RESAMPLING = Resampling(resamples=10_000, seed=42)
Figures = Callable[[Floats], Floats]
"""Sums of features, shape ``(resamples, groups, features)``, to figures, shape
``(resamples, figures)``; nan where undefined."""


class Figure(NamedTuple):
    """What is known of a figure before it is computed."""

    group: int = 0
    """The group of answers that it is about."""
    is_share: bool = False
    """Whether it is a share of all answers of the group."""


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
    layout: Sequence[Figure],
    clusters: Clusters,
    *,
    groups: Flags | None = None,
    how: Resampling = RESAMPLING,
) -> list[ClusteredEstimate]:
    """Return figures of groups of answers, with percentile intervals over cases and scenarios.

    What is drawn with replacement are whole cases (scenarios), with all answers about them; groups
    and figures see the same draws. There is no interval for fewer than 10 items or 2 clusters, and
    none where all draws give the same figure: the bootstrap knows nothing there. Only a share that
    is 0 or 1 throughout has the exact binomial interval over clusters in its place.

    Args:
        features: what is summed up over answers, shape ``(answers, features)``.
        figures: from sums to figures.
        layout: what each figure is.
        clusters: what the answers belong to.
        groups: which answers each group has, shape ``(answers, groups)``; one of all if None.
        how: how often and from which seed.

    Returns:
        One estimate per figure.
    """
    if groups is None:
        groups = np.ones((len(features), 1), dtype=np.bool_)
    size, columns = groups.shape[1], groups.shape[1] * features.shape[1]
    stacked = (groups[:, :, None] * features[:, None, :]).reshape(len(features), columns)
    whole = figures(stacked.sum(axis=0).reshape(1, size, -1))[0]
    items = [len(np.unique(clusters.items[group])) for group in groups.T]
    found = [
        _intervals(stacked, figures, layout, groups, codes, whole=whole, how=how)
        for codes in (clusters.cases, clusters.scenarios)
    ]
    estimates = []
    for place, (value, figure) in enumerate(zip(whole.tolist(), layout, strict=True)):
        if not np.isfinite(value):
            estimates.append(ClusteredEstimate(None))
        elif items[figure.group] < FEWEST_ITEMS:
            estimates.append(ClusteredEstimate(value))
        else:
            estimates.append(ClusteredEstimate(value, found[0][place], found[1][place]))
    return estimates


def _intervals(
    stacked: Floats,
    figures: Figures,
    layout: Sequence[Figure],
    groups: Flags,
    codes: Codes,
    *,
    whole: Floats,
    how: Resampling,
) -> list[Interval | None]:
    """Return the intervals of all figures over one kind of clusters."""
    present = [len(np.unique(codes[group])) for group in groups.T]
    if max(present) < 2:
        return [None] * len(layout)
    sums = sums_by(codes, stacked)
    draws = resample(
        lambda weights: figures((weights @ sums).reshape(len(weights), len(present), -1)),
        len(sums),
        how,
    )
    return [
        _bound(draws[:, place], value, present[figure.group], figure, how)
        for place, (value, figure) in enumerate(zip(whole.tolist(), layout, strict=True))
    ]


def _bound(
    draws: Floats, value: float, clusters: int, figure: Figure, how: Resampling
) -> Interval | None:
    if clusters < 2 or not np.isfinite(value):
        return None
    found = interval(draws, how.coverage)
    if found is None or found.high - found.low > _NO_WIDTH:
        return found
    if np.nanmax(draws) - np.nanmin(draws) > _NO_WIDTH:
        return found
    return exact_interval(value, clusters, how.coverage) if figure.is_share else None


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
