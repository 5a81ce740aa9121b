"""Figures with intervals over cases and over scenarios, for many groups of items at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from quality.agreement.ratings import numbered
from quality.evaluation.answers import ScoredAnswer
from quality.evaluation.scores import ClusteredEstimate
from quality.statistics.bootstrap import (
    Floats,
    Interval,
    Resampling,
    interval,
    resample,
    share_interval,
)
from quality.statistics.class_figures import Codes, Flags

FEWEST_ITEMS = 10
"""No interval for fewer items."""
FEWEST_SCENARIOS = 20
"""Fewer clusters make percentile intervals too narrow, which is told."""
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


@dataclass(frozen=True, slots=True)
class Resampled:
    """Figures of groups of answers, and the same of every resample."""

    values: Floats
    """Of all answers, shape ``(figures,)``."""
    by_case: Floats | None
    """Shape ``(resamples, figures)``; None for fewer than two cases."""
    by_scenario: Floats | None
    items: tuple[int, ...]
    """How many each group has; so have the next two."""
    cases: tuple[int, ...]
    scenarios: tuple[int, ...]

    def minus(self, other: Resampled) -> Resampled:
        """Return by how much these figures exceed others of the same items, on shared resamples."""

        def difference(mine: Floats | None, theirs: Floats | None) -> Floats | None:
            return None if mine is None or theirs is None else mine - theirs

        return replace(
            self,
            values=self.values - other.values,
            by_case=difference(self.by_case, other.by_case),
            by_scenario=difference(self.by_scenario, other.by_scenario),
        )


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

    Args:
        features: what is summed up over answers, shape ``(answers, features)``.
        figures: from sums to figures.
        layout: what each figure is.
        clusters: what the answers belong to.
        groups: which answers each group has, shape ``(answers, groups)``; one of all if None.
        how: how often and from which seed.

    Returns:
        One estimate per figure, as :func:`estimates` makes it.
    """
    return estimates(resampled(features, figures, clusters, groups=groups, how=how), layout, how)


def resampled(
    features: Floats,
    figures: Figures,
    clusters: Clusters,
    *,
    groups: Flags | None = None,
    how: Resampling = RESAMPLING,
) -> Resampled:
    """Compute figures of all answers, and of whole cases and scenarios drawn with replacement.

    All answers about a case are drawn together; groups and figures see the same draws, and so
    does whoever else asks about the same clusters with the same seed.

    Args:
        features: as for :func:`clustered`, as is the rest.
        figures: from sums to figures.
        clusters: what the answers belong to.
        groups: which answers each group has.
        how: how often and from which seed.
    """
    if groups is None:
        groups = np.ones((len(features), 1), dtype=np.bool_)

    def drawn(codes: Codes) -> Floats | None:
        if len(np.unique(codes)) < 2:
            return None
        # Group by group: of all groups at once, features of every answer take most of all memory.
        sums = np.empty((int(codes.max()) + 1, groups.shape[1], features.shape[1]))
        for place, group in enumerate(groups.T):
            sums[:, place] = sums_by(codes, features * group[:, None])
        flat = sums.reshape(len(sums), -1)
        return resample(
            lambda weights: figures((weights @ flat).reshape(len(weights), *sums.shape[1:])),
            len(sums),
            how,
        )

    def counts(codes: Codes) -> tuple[int, ...]:
        return tuple(len(np.unique(codes[group])) for group in groups.T)

    return Resampled(
        values=figures(np.stack([features[group].sum(axis=0) for group in groups.T])[None])[0],
        by_case=drawn(clusters.cases),
        by_scenario=drawn(clusters.scenarios),
        items=counts(clusters.items),
        cases=counts(clusters.cases),
        scenarios=counts(clusters.scenarios),
    )


def estimates(
    found: Resampled, layout: Sequence[Figure], how: Resampling
) -> list[ClusteredEstimate]:
    """Return figures with percentile intervals.

    There is no interval for fewer than 10 items or 2 clusters, and none that would have no width:
    where draws give the same figure the bootstrap knows nothing. Only a share of all answers has the interval of
    a share over clusters in its place.

    Args:
        found: figures and draws of them.
        layout: what each figure is.
        how: what intervals shall cover.
    """
    result = []
    for place, (value, figure) in enumerate(zip(found.values.tolist(), layout, strict=True)):
        if not np.isfinite(value):
            result.append(ClusteredEstimate(None))
            continue
        bounds: list[Interval | None] = [None, None]
        if found.items[figure.group] >= FEWEST_ITEMS:
            bounds = [
                None
                if draws is None
                else _bound(draws[:, place], value, present[figure.group], figure, how)
                for draws, present in (
                    (found.by_case, found.cases),
                    (found.by_scenario, found.scenarios),
                )
            ]
        result.append(ClusteredEstimate(value, *bounds))
    return result


def _bound(
    draws: Floats, value: float, clusters: int, figure: Figure, how: Resampling
) -> Interval | None:
    if clusters < 2:
        return None
    if figure.is_share:
        return share_interval(draws, value, clusters, how.coverage)
    found = interval(draws, how.coverage, clusters)
    return found if found is not None and found.has_width else None


def sums_by(codes: Codes, features: Floats) -> Floats:
    """Return the sums of rows with the same number, shape ``(numbers, features)``."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(int(codes.max()) + 1))
    sums: Floats = np.add.reduceat(features[order], starts, axis=0)
    return sums
