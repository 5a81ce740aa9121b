"""Which labels annotators give to the same item, pair of annotators by pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from quality.agreement.annotations import Answer, by_group, labels_by_item
from quality.disagreement.wheel import are_neighbours
from scenarios.schemes.model import Dimension
from scenarios.terms import LabelValue

LabelPair = tuple[LabelValue, LabelValue]


@dataclass(frozen=True, slots=True)
class ConfusedPair:
    """Two labels, and how many pairs of annotators gave one each to the same item."""

    group: str
    first: LabelValue
    second: LabelValue
    count: int
    neighbours: bool | None
    """Whether the two stand beside each other on the wheel; None for labels without a wheel."""


def label_pairs(dimension: Dimension, answers: Iterable[Answer]) -> Iterator[LabelPair]:
    """Yield the two labels of every pair of annotators of every item, equal ones included.

    Raises:
        UsageError: an annotator answered an item twice.
    """
    for given in labels_by_item(answers, dimension.id).values():
        yield from combinations(given.values(), 2)


def confused_pairs(
    dimension: Dimension, answers: Iterable[Answer], *, groups: Mapping[str, str] | None = None
) -> list[ConfusedPair]:
    """Count the pairs of different labels over all items (group "") and in each group.

    Labels stand in the order of the scheme; in each group the most frequent pair comes first.

    Raises:
        UsageError: an annotator answered an item twice.
    """
    place = {label: number for number, label in enumerate(dimension.values)}
    rows = []
    for group, members in by_group(answers, groups):
        counts: Counter[LabelPair] = Counter()
        for pair in label_pairs(dimension, members):
            if pair[0] != pair[1]:
                first, second = sorted(pair, key=lambda label: _order(label, place))
                counts[first, second] += 1
        rows += [
            ConfusedPair(group, first, second, count, are_neighbours(dimension, first, second))
            for (first, second), count in counts.most_common()
        ]
    return rows


def _order(label: LabelValue, place: Mapping[str, int]) -> tuple[tuple[int, ...], str]:
    names = label if isinstance(label, tuple) else (label,)
    return tuple(place.get(str(name), len(place)) for name in names), str(label)
