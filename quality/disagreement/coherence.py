"""Whether labels and ratings of the same items fit: emotions beside valence, for example."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal

from quality.agreement.annotations import Answer, by_group, labels_by_item
from quality.disagreement.difficulty import difficulty_by_item
from scenarios.schemes.model import Dimension
from scenarios.terms import LabelValue

Pole = Literal["negative", "neutral", "positive"]
CommonPole = Literal["negative", "neutral", "positive", "mixed", "unrated"]
"""The pole that all ratings of an item lie on; mixed where they differ."""

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class PolarityRow:
    """On which side of the scale the items lie for which no label has a majority."""

    group: str
    splits: int
    negative: int
    neutral: int
    positive: int
    mixed: int
    unrated: int
    """Splits that somebody who labelled them did not rate; the share leaves them out."""

    @property
    def share(self) -> float | None:
        """The share of splits on whose side all agree, in ``[0, 1]``; None without splits."""
        rated = self.splits - self.unrated
        return (self.negative + self.neutral + self.positive) / rated if rated else None


@dataclass(frozen=True, slots=True)
class LabelMean:
    """The ratings that stand beside one label."""

    group: str
    label: LabelValue
    dimension: str
    answers: int
    mean: float
    sd: float | None
    """Sample standard deviation; None for a single rating."""


@dataclass(frozen=True, slots=True)
class PolarityMatch:
    """Whether ratings lie on the side of the scale that the polarity of the label names."""

    group: str
    answers: int
    """Answers whose label is positive or negative, and which have a rating beside them."""
    same: int
    neutral: int
    """Rated in the middle of the scale."""
    opposite: int

    @property
    def share(self) -> float | None:
        """The share of answers rated on the side of their label; None without answers."""
        return self.same / self.answers if self.answers else None


def pole(interval: Dimension, value: LabelValue) -> Pole:
    """Return on which side of the middle of an interval scale a rating lies."""
    low, high = interval.range or (-1.0, 1.0)
    offset = float(value) - (low + high) / 2  # type: ignore[arg-type] # ratings are numbers
    if abs(offset) <= _ROUNDING:
        return "neutral"
    return "positive" if offset > 0 else "negative"


def common_pole(
    interval: Dimension, labelled_by: Iterable[str], ratings: Mapping[str, LabelValue]
) -> CommonPole:
    """Return the side on which everybody who labelled an item rated it."""
    names = list(labelled_by)
    if not names or any(name not in ratings for name in names):
        return "unrated"
    poles = {pole(interval, ratings[name]) for name in names}
    return poles.pop() if len(poles) == 1 else "mixed"


def split_polarity(
    labelled: Dimension,
    interval: Dimension,
    answers: Iterable[Answer],
    *,
    groups: Mapping[str, str] | None = None,
) -> list[PolarityRow]:
    """Count on which side items without a majority lie, over all (group "") and in each group.

    Raises:
        UsageError: an annotator answered an item twice.

    Source: CEI, section 5.5.
    """
    rows = []
    for group, members in by_group(answers, groups):
        ratings = labels_by_item(members, interval.id)
        labels = labels_by_item(members, labelled.id)
        poles = [
            common_pole(interval, labels[item], ratings.get(item, {}))
            for item, level in difficulty_by_item(labelled, members).items()
            if level == "split"
        ]
        rows.append(
            PolarityRow(
                group,
                len(poles),
                poles.count("negative"),
                poles.count("neutral"),
                poles.count("positive"),
                poles.count("mixed"),
                poles.count("unrated"),
            )
        )
    return rows


def interval_by_label(
    labelled: Dimension,
    interval: Dimension,
    answers: Iterable[Answer],
    *,
    gold: Mapping[str, LabelValue] | None = None,
    groups: Mapping[str, str] | None = None,
) -> list[LabelMean]:
    """Return mean and spread of the ratings beside each label, in the order of the scheme.

    Args:
        labelled: the dimension of the labels.
        interval: the dimension of the ratings.
        answers: the answers on both.
        gold: item -> label: all ratings of an item stand beside this label. By default each
            rating stands beside the label of whoever gave it.
        groups: item -> group.

    Raises:
        UsageError: an annotator answered an item twice.

    Source: CEI, figure 9.
    """
    rows = []
    for group, members in by_group(answers, groups):
        labels = labels_by_item(members, labelled.id)
        beside: dict[LabelValue, list[float]] = defaultdict(list)
        for item, ratings in labels_by_item(members, interval.id).items():
            for annotator, value in ratings.items():
                label = labels.get(item, {}).get(annotator) if gold is None else gold.get(item)
                if label is not None and isinstance(value, (int, float)):
                    beside[label].append(float(value))
        rows += [
            LabelMean(
                group,
                label,
                interval.id,
                len(values),
                fmean(values),
                stdev(values) if len(values) > 1 else None,
            )
            for label in labelled.values
            if (values := beside.get(label))
        ]
    return rows


def polarity_match(
    labelled: Dimension,
    interval: Dimension,
    answers: Iterable[Answer],
    *,
    groups: Mapping[str, str] | None = None,
) -> list[PolarityMatch]:
    """Count the answers that are rated on the side that the polarity of their label names.

    Labels that are neutral or have no polarity are left out.

    Raises:
        UsageError: an annotator answered an item twice.
    """
    polarity = {label.id: label.polarity for label in labelled.labels}
    rows = []
    for group, members in by_group(answers, groups):
        ratings = labels_by_item(members, interval.id)
        found = [
            (polarity.get(str(label)), pole(interval, ratings[item][annotator]))
            for item, given in labels_by_item(members, labelled.id).items()
            for annotator, label in given.items()
            if polarity.get(str(label)) in ("negative", "positive")
            and annotator in ratings.get(item, {})
        ]
        same = sum(named == rated for named, rated in found)
        neutral = sum(rated == "neutral" for _, rated in found)
        rows.append(PolarityMatch(group, len(found), same, neutral, len(found) - same - neutral))
    return rows
