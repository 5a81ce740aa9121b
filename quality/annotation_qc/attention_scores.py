"""Score what annotators answered to items whose labels are known beforehand.

Nobody gets all of them right: labels are close, and known labels can be wrong. What is looked for is
somebody who does no better than whoever guesses, or misses most of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from quality.annotation_qc.findings import Finding, QcSettings
from quality.statistics.bootstrap import Interval
from scenarios.plural import plural
from scenarios.reviews import AttentionAnswer

_STEPS = 60
"""Halvings that lead to a bound: further than a float can tell."""


@dataclass(frozen=True, slots=True)
class AttentionScore:
    """How one annotator answered attention items."""

    annotator: str
    items: int
    failed: int
    """Items of which fewer than half of the questions were answered as they should be."""
    interval: Interval
    """95 %, exact (Clopper and Pearson 1934), of the share of items that fail."""
    right: int
    asked: int
    """Questions in all."""
    guessed: float
    """How many of them a guess gets right on average."""
    chance: float
    """How probable it is that guessing gets as many right as this, or more."""


def attention_scores(given: Sequence[AttentionAnswer]) -> list[AttentionScore]:
    """Return the score of everybody who has answered one, by code."""
    answered = [one for one in given if one.state == "done" and one.chances]
    by_person: dict[str, list[AttentionAnswer]] = {}
    for one in answered:
        by_person.setdefault(one.code, []).append(one)
    return [_score(code, mine) for code, mine in sorted(by_person.items())]


def attention_findings(scores: Sequence[AttentionScore], settings: QcSettings) -> list[Finding]:
    """Report who does no better than guessing, or fails more items than not beyond doubt."""
    findings = []
    for score in scores:
        if score.items < settings.fewest_attention:
            continue
        told = (
            f"failed {score.failed} of {score.items} attention items "
            f"({score.right} of {plural(score.asked, 'question')} right; guessing gets {score.guessed:.1f})"
        )
        if score.chance > settings.attention_chance:
            reason, value, threshold = (
                f"{told}: no better than chance", score.chance, settings.attention_chance,
            )  # fmt: skip
        elif score.interval.low > settings.attention_failed:
            reason, value, threshold = (
                f"{told}: more than can be by accident", score.failed / score.items,
                settings.attention_failed,
            )  # fmt: skip
        else:
            continue
        findings.append(
            Finding(
                2,
                "inattentive",
                reason,
                annotator=score.annotator,
                value=value,
                threshold=threshold,
            )
        )
    return findings


def exact_interval(count: int, total: int) -> Interval:
    """Return the exact 95 % interval of a share; source: Clopper and Pearson (1934)."""
    tail = (1 - 0.95) / 2
    low = 0.0 if count == 0 else _share_where(count, total, tail)
    high = 1.0 if count == total else 1 - _share_where(total - count, total, tail)
    return Interval(low, high)


def guessing_chance(right: int, chances: Sequence[float]) -> float:
    """Return how probable it is to guess ``right`` or more, each with a chance of its own."""
    spread = [1.0]
    for chance in chances:
        lucky = [0.0, *(p * chance for p in spread)]
        spread = [
            a + b for a, b in zip([*(p * (1 - chance) for p in spread), 0.0], lucky, strict=True)
        ]
    return sum(spread[right:])


def _score(code: str, answered: Sequence[AttentionAnswer]) -> AttentionScore:
    chances = [chance for one in answered for chance in one.chances]
    right = sum(one.right for one in answered)
    failed = sum(2 * one.right < len(one.chances) for one in answered)
    return AttentionScore(
        annotator=code,
        items=len(answered),
        failed=failed,
        interval=exact_interval(failed, len(answered)),
        right=right,
        asked=len(chances),
        guessed=sum(chances),
        chance=guessing_chance(right, chances),
    )


def _share_where(count: int, total: int, tail: float) -> float:
    """Return the share under which ``count`` or more of ``total`` have the probability ``tail``."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        share = (low + high) / 2
        reached = sum(
            comb(total, k) * share**k * (1 - share) ** (total - k) for k in range(count, total + 1)
        )
        low, high = (low, share) if reached > tail else (share, high)
    return (low + high) / 2
