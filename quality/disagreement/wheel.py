"""Labels that stand in a circle: whether people who disagree at least choose neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from quality.agreement.annotations import Answer, by_group, labels_by_item
from scenarios.schemes.model import Dimension
from scenarios.terms import LabelValue


@dataclass(frozen=True, slots=True)
class AdjacencyRow:
    """The pairs of annotators who gave an item different labels, and how many were neighbours."""

    group: str
    pairs: int
    neighbours: int
    expected: float
    """The share of neighbours among all pairs of different labels: what chance would give."""

    @property
    def share(self) -> float | None:
        """The share of neighbours, in ``[0, 1]``; None where nobody disagrees."""
        return self.neighbours / self.pairs if self.pairs else None


def are_neighbours(dimension: Dimension, first: LabelValue, second: LabelValue) -> bool | None:
    """Tell whether two labels stand beside each other on the wheel of their dimension.

    Returns:
        None where the dimension has no wheel.
    """
    if not dimension.wheel:
        return None
    labels = dimension.values
    apart = abs(labels.index(str(first)) - labels.index(str(second)))
    return apart in (1, len(labels) - 1)


def adjacency(
    dimension: Dimension, answers: Iterable[Answer], *, groups: Mapping[str, str] | None = None
) -> list[AdjacencyRow]:
    """Count the disagreements between neighbours over all items (group "") and in each group.

    Returns:
        No rows where the dimension has no wheel.

    Raises:
        UsageError: an annotator answered an item twice.

    Source: CEI, section 5.5.
    """
    if not dimension.wheel:
        return []
    others = len(dimension.values) - 1
    rows = []
    for group, members in by_group(answers, groups):
        apart = [
            are_neighbours(dimension, first, second)
            for given in labels_by_item(members, dimension.id).values()
            for first, second in combinations(given.values(), 2)
            if first != second
        ]
        rows.append(AdjacencyRow(group, len(apart), sum(map(bool, apart)), min(1.0, 2 / others)))
    return rows
