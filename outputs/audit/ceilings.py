"""What blind readers who know the fact make of labels: how far a reader could come at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from outputs.audit.findings import Ceiling
from outputs.audit.measures import mean_rate
from pipeline.store.queries.report_rows import NamedCount
from scenarios.schemes.model import Scheme

_FEWEST = 20
"""Readings of one reader below which nothing is said."""


def judge_ceilings(scheme: Scheme, counts: Iterable[NamedCount]) -> dict[str, Ceiling]:
    """Return, for each dimension, what the best judge reaches that does not see the labels.

    Balanced accuracy for labels of answers. For the goal it is the AUC of a reader who names one
    goal and no more: the mean over scenarios of the shares of either goal that it finds.

    Args:
        scheme: whose dimensions are asked for.
        counts: labels that judges named without seeing the declared ones.
    """
    grouped: defaultdict[tuple[str, str], list[NamedCount]] = defaultdict(list)
    for count in counts:
        grouped[count.dimension, f"{count.source} {count.judge}"].append(count)
    best: dict[str, Ceiling] = {}
    for (dimension, reader), own in sorted(grouped.items()):
        readings = sum(count.n for count in own)
        value = _found(own, by_scenario=dimension == scheme.assigned)
        if value is None or readings < _FEWEST:
            continue
        if dimension not in best or value > best[dimension].value:
            best[dimension] = Ceiling(reader, value, readings)
    return best


def _found(counts: Sequence[NamedCount], *, by_scenario: bool) -> float | None:
    labels = sorted({str(count.declared) for count in counts})
    scenarios = sorted({count.scenario for count in counts}) if by_scenario else [""]
    hits = np.zeros((len(scenarios), len(labels)))
    chances = np.zeros_like(hits)
    for count in counts:
        row = scenarios.index(count.scenario) if by_scenario else 0
        cell = row, labels.index(str(count.declared))
        chances[cell] += count.n
        hits[cell] += count.n * (count.declared == count.named)
    rates = mean_rate(hits, chances)
    both = (chances > 0).sum(axis=1) > 1
    weights = chances.sum(axis=1) * both
    if not weights.sum():
        return None
    return float((np.where(both, rates, 0.0) * weights).sum() / weights.sum())
