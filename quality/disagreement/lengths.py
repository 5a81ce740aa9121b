"""Whether people agree less on longer texts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from quality.agreement.annotations import Answer, by_group, labels_by_item
from quality.statistics.packages import statistics_package
from scenarios.schemes.model import Dimension

SAID: Final = "said"
SITUATION: Final = "situation"
Words = Mapping[str, Mapping[str, int]]
"""``said`` (what is labelled) or ``situation`` -> item -> number of words."""


@dataclass(frozen=True, slots=True)
class LengthEffect:
    """Spearman's rho of the words of a text and the agreement on its item."""

    group: str
    text: str
    """``said`` or ``situation``."""
    items: int
    """Items with two labels or more whose text is known."""
    rho: float | None
    """Above 0 where people agree more on longer texts; None where words or agreement are all alike."""
    p: float | None
    """The probability of a rho as far from 0 without any relation."""


def length_effects(
    dimension: Dimension,
    answers: Iterable[Answer],
    words: Words,
    *,
    groups: Mapping[str, str] | None = None,
) -> list[LengthEffect]:
    """Correlate the length of texts with the share of annotators who give the commonest label.

    Args:
        dimension: the labels.
        answers: of any dimensions.
        words: of the texts.
        groups: item -> group: rows per group follow those over all items (group "").

    Raises:
        UsageError: an annotator answered an item twice, or the packages of the extra ``stats`` are
            missing.

    Source: CEI, section 5.6 and figure 6.
    """
    rows = []
    for group, members in by_group(answers, groups):
        agreement = {
            item: max(map(list(given.values()).count, given.values())) / len(given)
            for item, given in labels_by_item(members, dimension.id).items()
            if len(given) > 1
        }
        for text, counts in words.items():
            known = [(counts[item], share) for item, share in agreement.items() if item in counts]
            if known:
                rows.append(LengthEffect(group, text, len(known), *_spearman(known)))
    return rows


def _spearman(pairs: list[tuple[int, float]]) -> tuple[float | None, float | None]:
    first, second = zip(*pairs, strict=True)
    if len(set(first)) == 1 or len(set(second)) == 1:
        return None, None
    found = statistics_package("scipy.stats").spearmanr(first, second)
    p = float(found.pvalue)
    return float(found.statistic), p if math.isfinite(p) else None
