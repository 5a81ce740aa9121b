"""Compare how people speak in groups of lines: figures, differences, and how certain these are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from outputs.speech.measures import SpeechMeasure, Sums
from quality.statistics.bootstrap import Interval, Resampling, interval, resample

Floats = NDArray[np.float64]
RESAMPLES: Final = 10_000
_BEYOND: Final = 25
"""Resamples that have to lie beyond an end before it is read from them."""


NoInterval = Literal["nothing counted", "too few", "no spread"]
"""Why an interval is missing: a figure is, fewer than :data:`FEWEST` scenarios or dialogues tell of
it, or all resamples give the same."""


def _fewest(coverage: float) -> int:
    """Return how many clusters an interval takes.

    No resample goes beyond what single clusters show, and all of ``n`` point the same way by chance
    in one of ``2 ** (n - 1)`` cases: fewer than six are not enough for 95 %.
    """
    return math.ceil(1 - math.log2(1 - coverage))


FEWEST: Final = _fewest(Resampling().coverage)


@dataclass(slots=True)
class SpeechGroup:
    """Lines that are looked at together."""

    name: str
    dialogues: int = 0
    lines: int = 0
    clusters: dict[str, Sums] = field(default_factory=dict)
    """Sums by scenario, or by dialogue where it is of none."""

    def add(self, cluster: str, sums: Sums, lines: int) -> None:
        """Take in the lines of one dialogue."""
        self.dialogues += 1
        self.lines += lines
        self.clusters[cluster] = self.clusters[cluster] + sums if cluster in self.clusters else sums

    def figures(self) -> Floats:
        """Return the figure of every measure; nan where nothing was counted."""
        together: Floats = np.sum(list(self.clusters.values()), axis=0)
        return _quotients(together[0], together[1])

    def counted(self) -> list[int]:
        """Return in how many clusters anything was counted, for every measure."""
        return [int(n) for n in np.sum([one[1] > 0 for one in self.clusters.values()], axis=0)]


@dataclass(frozen=True, slots=True)
class SpeechDifference:
    """How far a figure of one group is from that of the reference."""

    measure: SpeechMeasure
    reference: float | None
    """None: nothing was counted."""
    figure: float | None
    interval: Interval | None
    """Of the figure less that of the reference."""
    certain: bool
    """Whether 0 lies outside the interval even if all differences are looked at together."""
    counted: int
    """In how many scenarios, or dialogues where nobody says of which they are, anything was counted:
    in the group with fewer of them."""
    no_interval: NoInterval | None
    """Why there is no interval; None: there is one."""

    @property
    def difference(self) -> float | None:
        """The figure less that of the reference."""
        if self.figure is None or self.reference is None:
            return None
        return self.figure - self.reference


@dataclass(frozen=True, slots=True)
class SpeechComparison:
    """Groups of lines, the first of which the others are compared with."""

    groups: tuple[SpeechGroup, ...]
    differences: Mapping[str, tuple[SpeechDifference, ...]]
    """By the name of each group but the first."""
    notes: tuple[str, ...] = ()
    """What is to be known of what was counted."""


def compare_groups(
    groups: Sequence[SpeechGroup],
    measures: Sequence[SpeechMeasure],
    seed: int,
    notes: Sequence[str] = (),
) -> SpeechComparison:
    """Compare all groups, two at least, with the first one.

    Scenarios are resampled, not lines: lines of one scenario are alike. Scenarios that two groups
    share are drawn for both together. A difference is certain if 0 lies outside its interval at a
    coverage of 95 % for all differences at once (Bonferroni). The ends of that lie where few
    resamples are, or none, and are reckoned from those further in.
    """
    first, *others = groups
    looks = len(measures) * len(others)
    return SpeechComparison(
        tuple(groups),
        {other.name: _differences(first, other, measures, seed, looks) for other in others},
        (*notes, *_too_few(groups, _strict(Resampling().coverage, looks))),
    )


def _strict(coverage: float, looks: int) -> float:
    """Return the coverage of one of several intervals that hold all at once (Bonferroni)."""
    return 1 - (1 - coverage) / looks


def _too_few(groups: Sequence[SpeechGroup], strict: float) -> Iterator[str]:
    """Say of which group there is too little for an interval or a star, and how much it takes."""
    least = min(groups, key=lambda group: len(group.clusters))
    clusters, starred = len(least.clusters), _fewest(strict)
    if clusters >= starred:
        return
    takes = f"an interval takes {FEWEST} in each group, a star {starred}"
    if clusters >= FEWEST:
        takes = f"a star takes {starred} in each group"
    yield f"{least.name} is drawn from {clusters}, scenarios or dialogues of none: {takes}"


def _differences(
    first: SpeechGroup,
    other: SpeechGroup,
    measures: Sequence[SpeechMeasure],
    seed: int,
    looks: int,
) -> tuple[SpeechDifference, ...]:
    resampling = Resampling(RESAMPLES, seed)
    strict = _strict(resampling.coverage, looks)
    draws, clusters = _draws(first, other, resampling)
    found = []
    for at, (measure, reference, figure) in enumerate(
        zip(measures, first.figures(), other.figures(), strict=True)
    ):
        known = bool(np.isfinite(reference) and np.isfinite(figure))
        usual = (
            _told(draws[:, at], resampling.coverage, clusters[at]) if known else "nothing counted"
        )
        wide = _told(draws[:, at], strict, clusters[at]) if known else "nothing counted"
        found.append(
            SpeechDifference(
                measure,
                float(reference) if np.isfinite(reference) else None,
                float(figure) if np.isfinite(figure) else None,
                usual if isinstance(usual, Interval) else None,
                isinstance(wide, Interval) and not wide.low <= 0 <= wide.high,
                clusters[at],
                None if isinstance(usual, Interval) else usual,
            )
        )
    return tuple(found)


def _told(draws: Floats, coverage: float, clusters: int) -> Interval | NoInterval:
    """Return an interval where there are enough clusters for it, and it has a width."""
    if clusters < _fewest(coverage):
        return "too few"
    found = interval(draws, coverage, clusters, beyond=_BEYOND)
    return found if found is not None and found.has_width else "no spread"


def _draws(
    first: SpeechGroup, other: SpeechGroup, resampling: Resampling
) -> tuple[Floats, list[int]]:
    """Return every measure's difference in every resample, and its number of clusters.

    That is the number of the group with fewer, and of clusters in which anything was counted: a
    short line alone says nothing of how varied words are.
    """
    fewer = [min(pair) for pair in zip(first.counted(), other.counted(), strict=True)]
    if first.clusters.keys() & other.clusters.keys():
        together = sorted({*first.clusters, *other.clusters})
        drawn = _figures([first, other], together, resampling)
        half = drawn.shape[1] // 2
        return drawn[:, half:] - drawn[:, :half], fewer
    again = replace(resampling, seed=resampling.seed + 1)
    alone = _figures([first], sorted(first.clusters), resampling)
    return _figures([other], sorted(other.clusters), again) - alone, fewer


def _figures(
    groups: Sequence[SpeechGroup], clusters: Sequence[str], resampling: Resampling
) -> Floats:
    """Return the figures of groups side by side, shape ``(resamples, groups * measures)``."""
    nothing = np.zeros_like(next(iter(groups[0].clusters.values())))
    sums = np.array(
        [[group.clusters.get(cluster, nothing) for cluster in clusters] for group in groups]
    )  # groups, clusters, 2, measures

    def estimate(weights: Floats) -> Floats:
        parts = [_quotients(weights @ one[:, 0], weights @ one[:, 1]) for one in sums]
        return np.concatenate(parts, axis=1)

    return resample(estimate, len(clusters), resampling)


def _quotients(above: Floats, below: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(below > 0, above / below, np.nan)
    return found
