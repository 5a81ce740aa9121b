"""How hard items are to label: all agree, most agree, or nobody has a majority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from quality.agreement.annotations import Answer, by_group, labels_by_item, majority
from scenarios.schemes.model import Dimension
from scenarios.terms import LabelValue

Difficulty = Literal["unanimous", "majority", "split"]


@dataclass(frozen=True, slots=True)
class DifficultyRow:
    """How many items with two answers or more are of each difficulty, in one group."""

    group: str
    items: int
    unanimous: int
    majority: int
    split: int


def difficulty(values: Sequence[LabelValue]) -> Difficulty | None:
    """Return how far the labels of one item agree; None for fewer than two labels."""
    if len(values) < 2:
        return None
    if len(set(values)) == 1:
        return "unanimous"
    return "split" if majority(values) is None else "majority"


def difficulty_by_item(dimension: Dimension, answers: Iterable[Answer]) -> dict[str, Difficulty]:
    """Return the difficulty of every item that two or more annotators labelled.

    Raises:
        UsageError: an annotator answered an item twice.
    """
    found = {
        item: difficulty(list(given.values()))
        for item, given in labels_by_item(answers, dimension.id).items()
    }
    return {item: level for item, level in found.items() if level is not None}


def difficulty_table(
    dimension: Dimension, answers: Iterable[Answer], *, groups: Mapping[str, str] | None = None
) -> list[DifficultyRow]:
    """Count the difficulties over all items (group "") and in each group.

    Raises:
        UsageError: an annotator answered an item twice.
    """
    rows = []
    for group, members in by_group(answers, groups):
        counts = Counter(difficulty_by_item(dimension, members).values())
        rows.append(
            DifficultyRow(
                group,
                counts.total(),
                counts["unanimous"],
                counts["majority"],
                counts["split"],
            )
        )
    return rows
