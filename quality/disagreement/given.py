"""What annotators gave: how often each label, and how their ratings are spread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, quantiles, stdev

from quality.agreement.annotations import Answer, by_group
from quality.agreement.labels import ANY_OTHER
from quality.disagreement.confusions import label_pairs
from scenarios.schemes.model import Dimension
from scenarios.terms import LabelValue


@dataclass(frozen=True, slots=True)
class LabelShare:
    """How often annotators gave one label, and how many items have it as their gold label."""

    group: str
    label: str
    answers: int
    share: float | None
    """Of all answers; None without any. Where an answer holds several labels, each is one of its own."""
    gold: int
    gold_share: float | None
    """Of the items that have a gold label; None without any."""
    alike: int
    """Pairs of annotators who both gave it to an item: the diagonal beside confused pairs."""


@dataclass(frozen=True, slots=True)
class RatingSpread:
    """How the ratings on one interval dimension are spread, in the units of its scale."""

    group: str
    dimension: str
    answers: int
    mean: float
    sd: float | None
    """Sample standard deviation; None for a single rating, as are the quartiles."""
    low: float | None
    """The first quartile."""
    median: float | None
    high: float | None
    """The third quartile."""


def label_shares(
    dimension: Dimension,
    answers: Iterable[Answer],
    gold: Mapping[str, LabelValue],
    *,
    groups: Mapping[str, str] | None = None,
) -> list[LabelShare]:
    """Count every label of a dimension, over all items (group "") and in each group.

    Args:
        dimension: the labels.
        answers: of annotators.
        gold: item -> gold label.
        groups: item -> group.

    Raises:
        UsageError: an annotator answered an item twice.

    Source: CEI, section 5.1; the diagonal of figure 5.
    """
    rows = []
    for group, members in by_group(answers, groups):
        mine = [answer for answer in members if answer.dimension == dimension.id]
        alike = Counter(one for one, other in label_pairs(dimension, mine) if one == other)
        settled = [gold[item] for item in {answer.item for answer in mine} if item in gold]
        for label in dimension.values:
            given = sum(_holds(answer.value, label) for answer in mine)
            decided = sum(_holds(value, label) for value in settled)
            if label == ANY_OTHER and not given and not decided:
                continue
            share = given / len(mine) if mine else None
            of_gold = decided / len(settled) if settled else None
            rows.append(LabelShare(group, label, given, share, decided, of_gold, alike[label]))
    return rows


def _holds(value: LabelValue, label: str) -> bool:
    return label in value if isinstance(value, tuple) else value == label


def rating_spread(
    interval: Dimension, answers: Iterable[Answer], *, groups: Mapping[str, str] | None = None
) -> list[RatingSpread]:
    """Return how ratings are spread, over all items (group "") and in each group that has any.

    Source: CEI, figure 8.
    """
    rows = []
    for group, members in by_group(answers, groups):
        values = [
            float(answer.value)
            for answer in members
            if answer.dimension == interval.id and isinstance(answer.value, (int, float))
        ]
        if values:
            several = len(values) > 1
            low, median, high = (
                quantiles(values, n=4, method="inclusive") if several else (None, None, None)
            )
            sd = stdev(values) if several else None
            rows.append(
                RatingSpread(group, interval.id, len(values), fmean(values), sd, low, median, high)
            )
    return rows
