"""How benefit and penalty are distributed over the answers of each dialogue."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from quality.strategic.discourses import Discourse

HistogramMetric = Literal["BaT", "PaT", "NRBaT", "net benefit"]
_WIDTHS: Final[dict[HistogramMetric, float]] = {
    "BaT": 0.1,
    "PaT": 0.1,
    "NRBaT": 0.25,
    "net benefit": 0.25,
}
"""Of a bin. Those of benefit and penalty are so narrow that each value they take has its own."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """One metric of the answers of one dialogue, whoever annotated it."""

    metric: HistogramMetric
    """``net benefit`` is BaT less PaT of an answer, each as a z-score over the answers of all dialogues
    together, so that dialogues can be compared; NRBaT is its like for the sums so far."""
    dialogue: str
    answers: int
    mean: float
    sd: float
    """Of the population."""
    low: float
    """The first quartile."""
    median: float
    high: float
    bins: tuple[tuple[float, float], ...]
    """The middle of each bin and the share of answers in it, from the first that has any to the last."""


def histograms(discourses: Sequence[Discourse]) -> list[Histogram]:
    """Count the answers of each dialogue by metric; those whose metric is not known are left out.

    Source: CoBRA, figures 6 (net benefit) and 12.
    """
    found: dict[tuple[HistogramMetric, str], list[float]] = {}
    for metric, values in _values(discourses).items():
        for discourse, own in zip(discourses, values, strict=True):
            found.setdefault((metric, discourse.dialogue), []).extend(own)
    return [
        _histogram(metric, dialogue, values)
        for (metric, dialogue), values in found.items()
        if values
    ]


def _values(discourses: Sequence[Discourse]) -> dict[HistogramMetric, list[list[float]]]:
    """Return the values of each metric by discourse."""
    known = [
        [
            (metrics.bat, metrics.pat, metrics.nrbat)
            for metrics in (answer.metrics for answer in discourse.answers)
            if metrics.bat is not None and metrics.pat is not None and metrics.nrbat is not None
        ]
        for discourse in discourses
    ]
    everything = np.array([row[:2] for rows in known for row in rows]).reshape(-1, 2)
    means, spreads = (
        (everything.mean(axis=0), everything.std(axis=0)) if len(everything) else ((0, 0), (0, 0))
    )

    def standard(value: float, place: int) -> float:
        return float((value - means[place]) / spreads[place]) if spreads[place] else 0.0

    return {
        "BaT": [[bat for bat, _, _ in rows] for rows in known],
        "PaT": [[pat for _, pat, _ in rows] for rows in known],
        "NRBaT": [[nrbat for _, _, nrbat in rows] for rows in known],
        "net benefit": [
            [standard(bat, 0) - standard(pat, 1) for bat, pat, _ in rows] for rows in known
        ],
    }


def _histogram(metric: HistogramMetric, dialogue: str, values: Sequence[float]) -> Histogram:
    width = _WIDTHS[metric]
    places = Counter(math.floor(value / width + 0.5) for value in values)
    bins = tuple(
        (round(place * width, 6), places[place] / len(values))
        for place in range(min(places), max(places) + 1)
    )
    low, median, high = map(float, np.quantile(values, (0.25, 0.5, 0.75)))
    return Histogram(
        metric, dialogue, len(values), float(np.mean(values)), float(np.std(values)),
        low, median, high, bins,
    )  # fmt: skip
