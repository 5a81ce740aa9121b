"""Benefit and penalty of each answer, and how they add up along a discourse."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quality.strategic.formula import Formula
from quality.strategic.moves import Commitment, Maxim, Move

VALUES: dict[Commitment, float] = {
    "beneficial": 1.0,
    "neutral": 0.5,
    "none": -0.5,
    "detrimental": -1.0,
}
"""What a commitment is worth to the one who makes it."""


@dataclass(frozen=True, slots=True)
class AnswerMetrics:
    """Where the witness stands after one answer; None where a label it needs is missing."""

    bat: float | None
    """Benefit of this answer."""
    pat: float | None
    """Penalty of this answer."""
    bat_sum: float
    """Benefit so far, of the answers whose benefit is known."""
    pat_sum: float
    nrbat: float | None
    """Relative benefit so far, both sums in units of their spread over the discourse."""
    nra: float | None
    """Answers won less answers lost, by answers decided so far; in ``[-1, 1]``."""


def trajectory(moves: Sequence[Move], formula: Formula) -> list[AnswerMetrics]:
    """Return where the witness stands after each move of one annotator's discourse.

    Sums are normalised with mean and population standard deviation over the answers whose benefit
    and penalty are known; a sum that never changes is 0 throughout. An answer with a label missing
    adds nothing to the sums.

    Args:
        moves: in the order of the discourse.
        formula: how benefit and penalty are computed.

    Source: CoBRA, equations 1 to 3.
    """
    bats, pats, bat_sums, pat_sums = [], [], [], []
    bat_sum = pat_sum = 0.0
    for move in moves:
        bat = benefit(move, formula)
        bat_sum += bat or 0.0
        pat = penalty(move, bat_sum if bat is not None else None, formula)
        pat_sum += pat or 0.0
        bats.append(bat)
        pats.append(pat)
        bat_sums.append(bat_sum)
        pat_sums.append(pat_sum)
    known = [b is not None and p is not None for b, p in zip(bats, pats, strict=True)]
    relative = [
        (b - p) if is_known else None
        for b, p, is_known in zip(
            _z_scores(bat_sums, known), _z_scores(pat_sums, known), known, strict=True
        )
    ]
    columns = zip(bats, pats, bat_sums, pat_sums, relative, _relative_wins(moves), strict=True)
    return [AnswerMetrics(*row) for row in columns]


def benefit(move: Move, formula: Formula) -> float | None:
    """Return BaT: what the answer gains; a harmful admission gains by being less than plain."""
    if move.commitment is None:
        return None
    value = VALUES[move.commitment]
    if move.commitment == "detrimental":
        return _times(abs(value), _violations(move, formula.compensating, formula))
    return max(value, 0.0)


def penalty(move: Move, benefit_so_far: float | None, formula: Formula) -> float | None:
    """Return PaT: what the answer costs.

    Args:
        move: the answer.
        benefit_so_far: sum of BaT, this answer's included: an inconsistent answer puts a share of
            it at risk (not in the released annotations). None where it is not known.
        formula: how it is computed.
    """
    if move.commitment is None:
        return None
    value = VALUES[move.commitment]
    cost: float | None = abs(value)
    if value > 0:
        cost = _times(value, _violations(move, ("relevance", "manner", "quality"), formula))
    if formula.variant == "as_released" or cost is None:
        return cost
    if move.inconsistent is None:
        return None
    if not move.inconsistent:
        return cost
    return None if benefit_so_far is None else cost + formula.weights.consistency * benefit_so_far


def is_violated(rating: int | None, threshold: int) -> bool | None:
    """Return whether a rating is a violation; None where there is no rating."""
    return None if rating is None else rating >= threshold


def _violations(move: Move, maxims: Iterable[Maxim], formula: Formula) -> float | None:
    """Return the summed weights of the maxims that the answer violates."""
    total = 0.0
    for maxim in maxims:
        violated = is_violated(move.rating(maxim), formula.threshold)
        if violated is None:
            return None
        total += formula.weights.of(maxim) * violated
    return total


def _times(value: float, factor: float | None) -> float | None:
    return None if factor is None else value * factor


def _z_scores(sums: Sequence[float], known: Sequence[bool]) -> list[float]:
    counted = [s for s, is_known in zip(sums, known, strict=True) if is_known]
    if not counted or min(counted) == max(counted):
        return [0.0] * len(sums)
    mean = math.fsum(counted) / len(counted)
    spread = math.sqrt(math.fsum((s - mean) ** 2 for s in counted) / len(counted))
    return [(s - mean) / spread for s in sums]


def _relative_wins(moves: Sequence[Move]) -> list[float | None]:
    """Return NRA; an answer whose outcome nobody decided has none and counts for no side."""
    won = decided = 0
    shares: list[float | None] = []
    for move in moves:
        if move.winner is None:
            shares.append(None)
            continue
        decided += 1
        won += 1 if move.winner == "witness" else -1
        shares.append(won / decided)
    return shares
