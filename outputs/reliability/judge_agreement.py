"""How often judges confirm declared labels: shares with intervals over scenarios."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from pipeline.store.queries.report_rows import CaseVotes, VoteCount
from quality.statistics.bootstrap import (
    Estimator,
    Floats,
    Interval,
    Resampling,
    intervals,
    resample,
    share_interval,
)
from quality.statistics.class_figures import share
from scenarios.schemes.model import Scheme

K = TypeVar("K", bound=Hashable)
V = TypeVar("V", VoteCount, CaseVotes)

READER_REMARK = (
    "What only readers label, such as whether the hearer is misled, counts as found where it is what "
    "the scheme expects under the goal."
)


@dataclass(frozen=True, slots=True)
class ConfirmedShare:
    """How many of the readable judgements say yes, and how far that would move."""

    yes: int
    judged: int
    interval: Interval | None = None
    """Over other scenarios; None for fewer than two."""

    @property
    def value(self) -> float | None:
        """The share in ``[0, 1]``; None where nothing could be read."""
        return self.yes / self.judged if self.judged else None


@dataclass(frozen=True, slots=True)
class Count:
    """Judgements of one group in one cluster."""

    cluster: str
    yes: int
    judged: int


def shares(
    groups: Mapping[K, Iterable[Count]], how: Resampling | None = None
) -> dict[K, ConfirmedShare]:
    """Return the share of each group, with a percentile bootstrap interval over its clusters.

    Utterances of one dialogue, and dialogues of one scenario, resemble each other: what is drawn
    with replacement are whole clusters, the same ones for every group, so that groups over the
    same cases remain comparable. Where every resample is the same, the number of clusters
    alone says how far the share could be off.

    Args:
        groups: counts by group; several counts of one cluster are summed.
        how: how often and from which seed; 2,000 times from seed 42 if None.
    """
    summed = {key: _summed(counts) for key, counts in groups.items()}
    estimate, clusters = _estimator(summed)
    how = how or Resampling()
    draws = resample(estimate, clusters, how).T if clusters > 1 else [None] * len(summed)
    found: dict[K, ConfirmedShare] = {}
    for (key, counts), drawn in zip(summed.items(), draws, strict=True):
        yes, judged = (sum(pair[place] for pair in counts.values()) for place in (0, 1))
        bound = None
        if drawn is not None and judged:
            own = sum(1 for pair in counts.values() if pair[1])
            bound = share_interval(drawn, yes / judged, own, how.coverage)
        found[key] = ConfirmedShare(yes, judged, bound)
    return found


def differences(
    groups: Mapping[K, Iterable[Count]],
    pairs: Sequence[tuple[K, K]],
) -> list[tuple[float | None, Interval | None]]:
    """Return by how much the share of the first of each pair of groups exceeds the second's.

    Both see the same resampled clusters: what makes a scenario hard for both cancels out, and the
    interval is that of the difference. A difference that is the same in every resample has none.

    Args:
        groups: counts by group.
        pairs: which groups are compared.
    """
    summed = {key: _summed(counts) for key, counts in groups.items()}
    estimate, clusters = _estimator(summed)
    place = {key: number for number, key in enumerate(summed)}
    first = [place[one] for one, _ in pairs]
    second = [place[other] for _, other in pairs]

    def contrast(weights: Floats) -> Floats:
        values = estimate(weights)
        return values[:, first] - values[:, second]

    if not pairs:
        return []
    values = contrast(np.ones((1, clusters)))[0]
    bounds: Sequence[Interval | None] = (None,) * len(pairs)
    if clusters > 1:
        bounds = intervals(contrast, clusters, Resampling())
    return [
        (float(value), bound if bound and bound.has_width else None)
        if np.isfinite(value)
        else (None, None)
        for value, bound in zip(values, bounds, strict=True)
    ]


def grouped(
    votes: Iterable[VoteCount], key: Callable[[VoteCount], K | None]
) -> dict[K, list[Count]]:
    """Put votes into groups, clustered by scenario; a key of None leaves a vote out."""
    groups: defaultdict[K, list[Count]] = defaultdict(list)
    for vote in votes:
        name = key(vote)
        if name is not None:
            groups[name].append(Count(vote.scenario, vote.yes, vote.judged))
    return dict(groups)


def judged_dimensions(scheme: Scheme) -> list[str]:
    """Return what judges are asked, in order: of utterances, then of whole dialogues."""
    return [
        *(d.id for d in scheme.utterance_dimensions),
        *(d.id for d in scheme.read_dimensions("utterance")),
        *((scheme.assigned,) if scheme.assigned else ()),
        *(d.id for d in scheme.read_dimensions("dialogue")),
    ]


def kappa(table: Sequence[Sequence[int]]) -> float | None:
    """Return Cohen's kappa of a square table of counts; None where both gave one label throughout.

    Source: Cohen 1960.
    """
    counts = np.asarray(table, dtype=np.float64)
    total = counts.sum()
    if not total:
        return None
    observed = np.trace(counts) / total
    expected = float(counts.sum(axis=0) @ counts.sum(axis=1)) / total**2
    return None if np.isclose(expected, 1.0) else float((observed - expected) / (1.0 - expected))


def _summed(counts: Iterable[Count]) -> dict[str, tuple[int, int]]:
    sums: dict[str, tuple[int, int]] = {}
    for count in counts:
        yes, judged = sums.get(count.cluster, (0, 0))
        sums[count.cluster] = yes + count.yes, judged + count.judged
    return sums


def _estimator(summed: Mapping[K, Mapping[str, tuple[int, int]]]) -> tuple[Estimator, int]:
    """Return the shares of all groups as a function of cluster weights, and how many clusters."""
    clusters = sorted({cluster for counts in summed.values() for cluster in counts})
    yes = _matrix(summed, clusters, 0)
    judged = _matrix(summed, clusters, 1)

    def estimate(weights: Floats) -> Floats:
        return share(weights @ yes, weights @ judged)

    return estimate, len(clusters)


def _matrix(
    summed: Mapping[K, Mapping[str, tuple[int, int]]], clusters: Sequence[str], part: int
) -> Floats:
    rows = [[counts.get(name, (0, 0))[part] for counts in summed.values()] for name in clusters]
    return np.asarray(rows, dtype=np.float64).reshape(len(clusters), len(summed))
