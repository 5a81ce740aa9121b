"""How well each annotator agrees with the others, beside how well these agree with each other.

Whoever clicks at random leaves no other trace: no label stands out, and no time. The agreement of
the others is the measure, so that hard items are held against nobody.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from quality.agreement.annotations import Answer
from quality.agreement.ratings import Ratings, ratings
from quality.agreement.resampling import answered_twice, mean_defined, pair_agreements
from quality.statistics.bootstrap import Floats, Interval, Resampling, interval, resample
from scenarios.schemes.model import Dimension, Scheme

QUICK = Resampling(resamples=400)
_COVERAGE = 0.99
"""Of the interval that tells somebody from the others: many people are looked at."""


@dataclass(frozen=True, slots=True)
class AnnotatorAgreement:
    """One annotator beside the others, on one dimension."""

    annotator: str
    dimension: str
    items: int
    """That the annotator and somebody else answered."""
    value: float | None
    """Mean Cohen's kappa with each of the others; of numbers Spearman's rho. None: undefined."""
    interval: Interval | None
    """95 %, over dialogues."""
    others: float | None
    """The same of the others with each other; None for fewer than two of them."""
    apart: bool
    """Whether it is less than half of that of the others, with a chance of error below 1 %."""


def annotator_agreement(
    scheme: Scheme, answers: Iterable[Answer], how: Resampling = QUICK
) -> list[AnnotatorAgreement]:
    """Return every annotator beside the others, on every dimension that two people answered.

    Args:
        scheme: the dimensions, in whose order rows come.
        answers: checked answers.
        how: how intervals are bootstrapped over dialogues.

    Raises:
        UsageError: an answer is no value of its dimension, or somebody answered an item twice.
    """
    everything = list(answers)
    asked = {answer.dimension for answer in everything}
    return [
        row
        for dimension in scheme.dimensions
        if dimension.id in asked
        for row in _of_dimension(dimension, everything, how)
    ]


def _of_dimension(
    dimension: Dimension, answers: Iterable[Answer], how: Resampling
) -> list[AnnotatorAgreement]:
    table = ratings(dimension, answers)
    shared = answered_twice(table)
    pairs = pair_agreements(table)
    if not pairs or len(np.unique(table.clusters[shared])) < 2:
        return []

    def estimate(weights: Floats) -> Floats:
        return np.column_stack([agreement(weights) for _, _, agreement in pairs])

    compared = _ComparedPairs(
        table,
        tuple((i, j) for i, j, _ in pairs),
        estimate(np.ones((1, len(table.items)))),
        resample(estimate, len(table.items), how, table.clusters),
    )
    found = (_row(compared, number, how) for number in range(len(table.annotators)))
    return [row for row in found if row is not None]


@dataclass(frozen=True, slots=True)
class _ComparedPairs:
    """The agreement of every pair of annotators."""

    table: Ratings
    pairs: tuple[tuple[int, int], ...]
    whole: Floats
    """Of all items, shape ``(1, pairs)``."""
    draws: Floats
    """The same of every resample."""


def _row(compared: _ComparedPairs, number: int, how: Resampling) -> AnnotatorAgreement | None:
    table, whole, draws = compared.table, compared.whole, compared.draws
    mine = [column for column, pair in enumerate(compared.pairs) if number in pair]
    rest = [column for column, pair in enumerate(compared.pairs) if number not in pair]
    if not mine:
        return None
    answered = np.isfinite(table.codes[:, number]) & answered_twice(table)
    dialogues = len(np.unique(table.clusters[answered]))
    own, own_draws = mean_defined(whole[:, mine]), mean_defined(draws[:, mine])
    others = mean_defined(whole[:, rest]) if rest else np.array([np.nan])
    apart = False
    if rest and dialogues > 1:
        behind = interval(own_draws - mean_defined(draws[:, rest]) / 2, _COVERAGE, dialogues)
        apart = bool(others[0] > 0 and behind is not None and behind.high < 0)
    return AnnotatorAgreement(
        annotator=table.annotators[number],
        dimension=table.dimension,
        items=int(answered.sum()),
        value=float(own[0]) if np.isfinite(own[0]) else None,
        interval=interval(own_draws, how.coverage, dialogues) if dialogues > 1 else None,
        others=float(others[0]) if np.isfinite(others[0]) else None,
        apart=apart,
    )
