"""How often what was said, per dialogue and annotator, and where the witness ends."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from quality.strategic.discourses import Discourse, LabelledAnswer
from quality.strategic.moves import COMMITMENTS, MAXIMS, Commitment, Maxim
from quality.strategic.trajectory import AnswerMetrics, is_violated

RATINGS = (1, 2, 3, 4)


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and quartiles of a number; None where nobody has it."""

    mean: float | None
    low: float | None
    median: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Distribution:
    """One annotator's labels of one dialogue, counted."""

    dialogue: str
    annotator: str
    answers: int
    commitments: dict[Commitment, int]
    ratings: dict[Maxim, dict[int, int]]
    violations: dict[Maxim, float | None]
    """Share of rated answers that violate the maxim."""
    inconsistent: int
    won: float | None
    """Share of decided answers that went to the witness."""
    bat: Spread
    pat: Spread
    net: Spread
    """Benefit less penalty of an answer."""
    last: AnswerMetrics | None
    """Where the witness stands after the last answer."""

    def without_end(self) -> Distribution:
        """Return the same of answers that are no dialogue together."""
        return replace(self, last=None)


def distribution(discourse: Discourse, threshold: int) -> Distribution:
    """Count one discourse.

    Args:
        discourse: the labels of one annotator.
        threshold: from which rating on a maxim is violated.
    """
    answers = discourse.answers
    commitments = Counter(a.move.commitment for a in answers)
    ratings = {maxim: Counter(a.move.rating(maxim) for a in answers) for maxim in MAXIMS}
    winners = [a.move.winner for a in answers if a.move.winner is not None]
    return Distribution(
        dialogue=discourse.dialogue,
        annotator=discourse.annotator,
        answers=len(answers),
        commitments={label: commitments[label] for label in COMMITMENTS},
        ratings={maxim: {r: ratings[maxim][r] for r in RATINGS} for maxim in MAXIMS},
        violations={maxim: _violated(answers, maxim, threshold) for maxim in MAXIMS},
        inconsistent=sum(bool(a.move.inconsistent) for a in answers),
        won=sum(w == "witness" for w in winners) / len(winners) if winners else None,
        bat=_spread(answers, lambda metrics: metrics.bat),
        pat=_spread(answers, lambda metrics: metrics.pat),
        net=_spread(answers, _net),
        last=answers[-1].metrics if answers else None,
    )


def _net(metrics: AnswerMetrics) -> float | None:
    if metrics.bat is None or metrics.pat is None:
        return None
    return metrics.bat - metrics.pat


def _violated(answers: Iterable[LabelledAnswer], maxim: Maxim, threshold: int) -> float | None:
    flags = [is_violated(answer.move.rating(maxim), threshold) for answer in answers]
    known = [flag for flag in flags if flag is not None]
    return sum(known) / len(known) if known else None


def _spread(
    answers: Iterable[LabelledAnswer], read: Callable[[AnswerMetrics], float | None]
) -> Spread:
    values = [v for a in answers if (v := read(a.metrics)) is not None]
    if not values:
        return Spread(None, None, None, None)
    mean = math.fsum(values) / len(values)
    return Spread(mean, *map(float, np.quantile(values, (0.25, 0.5, 0.75))))
