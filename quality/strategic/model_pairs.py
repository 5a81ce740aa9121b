"""Models in pairs: which of two labels strategic answers more as people do, over all dialogues."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Final

import numpy as np

from quality.statistics.bootstrap import Floats, Interval, Resampling, interval, resample
from quality.statistics.packages import statistics_package
from quality.strategic.comparison import likeness_by_dialogue
from quality.strategic.discourses import Discourse

QUANTITIES: Final = ("BaT", "PaT", "NRBaT", "commitment", "relevance", "manner", "quality")
"""What models are compared on."""
_EQUAL = 1e-9
"""Differences up to this are none."""
_Likeness = Mapping[tuple[str, str], float]
"""How near a model is to people in a dialogue, by quantity and statistic; undefined ones lack."""


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How much nearer to people the first model of a pair is than the second, on one quantity.

    There is one difference for each pair in each dialogue in which both have the figure.
    """

    quantity: str
    statistic: str
    wins: int
    """Differences in favour of the first model."""
    losses: int
    ties: int
    mean: float
    median: float
    sd: float | None = None
    """Of a sample; None of fewer than two differences, as of all below."""
    interval: Interval | None = None
    """Of the mean, 95 %, bootstrapped over differences."""
    p: float | None = None
    """Of a t-test of the differences; None where all are alike."""
    p_bonferroni: float | None = None
    """The same, corrected for the number of quantities that have one."""


def paired_differences(
    people: Sequence[Discourse],
    others: Sequence[Discourse],
    pairs: Sequence[tuple[str, str]],
    *,
    threshold: int,
) -> list[PairedDifference]:
    """Compare the models of each pair by how near they are to people, dialogue by dialogue.

    Args:
        people: discourses of the reference annotators; a model's figure in a dialogue is the mean
            over those who labelled it.
        others: discourses of the models.
        pairs: annotators of ``others``, such as a larger model and a smaller one; all of them count
            together.
        threshold: from which rating on a maxim is violated.

    Raises:
        UsageError: the packages of the extra ``stats`` are missing.

    Source: CoBRA, section 6.1 and tables 5 and 6.
    """
    named = {name for pair in pairs for name in pair}
    models = [one for one in others if one.annotator in named]
    near: defaultdict[str, dict[str, _Likeness]] = defaultdict(dict)
    for one in likeness_by_dialogue(people, models, threshold=threshold):
        near[one.dialogue][one.annotator] = {
            (row.quantity, row.statistic): row.value
            for row in one.rows
            if row.quantity in QUANTITIES and row.value is not None
        }
    found: dict[tuple[str, str], list[float]] = {}
    for by_model in near.values():
        for first, second in pairs:
            left, right = by_model.get(first, {}), by_model.get(second, {})
            for key in left.keys() & right.keys():
                found.setdefault(key, []).append(left[key] - right[key])
    return difference_rows(found)


def difference_rows(
    differences: Mapping[tuple[str, str], Sequence[float]],
) -> list[PairedDifference]:
    """Return what differences amount to.

    Args:
        differences: by quantity and statistic how much nearer the first of a pair is in a dialogue,
            at least one.

    Raises:
        UsageError: the packages of the extra ``stats`` are missing.
    """
    rows = [_row(key, differences[key]) for key in sorted(differences, key=_place)]
    tests = sum(row.p is not None for row in rows)
    return [
        row if row.p is None else replace(row, p_bonferroni=min(1.0, row.p * tests)) for row in rows
    ]


def _place(key: tuple[str, str]) -> int:
    return QUANTITIES.index(key[0])


def _row(key: tuple[str, str], differences: Sequence[float]) -> PairedDifference:
    known = np.array([0.0 if abs(x) <= _EQUAL else x for x in differences], dtype=np.float64)
    wins, losses = int((known > 0).sum()), int((known < 0).sum())
    row = PairedDifference(
        *key, wins, losses, len(known) - wins - losses, fmean(known), float(np.median(known))
    )
    if len(known) < 2:
        return row
    row = replace(row, sd=stdev(known), interval=_interval(known))
    if known.max() - known.min() <= _EQUAL:
        return row
    return replace(row, p=float(statistics_package("scipy.stats").ttest_1samp(known, 0).pvalue))


def _interval(differences: Floats) -> Interval | None:
    how = Resampling()
    means = resample(
        lambda weights: weights @ differences / weights.sum(axis=1), len(differences), how
    )
    near = interval(means[:, 0], how.coverage, len(differences))
    return near if near is not None and near.has_width else None
