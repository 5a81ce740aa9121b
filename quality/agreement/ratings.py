"""The answers on one dimension as a matrix of items and annotators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from quality.agreement.annotations import Answer, labels_by_item
from quality.statistics.bootstrap import Floats, Numbers
from scenarios.errors import UsageError
from scenarios.schemes.model import Dimension, Measurement
from scenarios.terms import LabelValue


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Codes of shape ``(items, annotators)``; nan where an annotator did not answer an item.

    A code is the number itself (interval) or the position of the label among ``categories``;
    several labels at once (multi) count as one category per distinct set.
    """

    dimension: str
    measurement: Measurement
    items: tuple[str, ...]
    annotators: tuple[str, ...]
    codes: Floats
    categories: tuple[LabelValue, ...]
    clusters: Numbers
    """The number of the dialogue that each item is a part of, from 0; shape ``(items,)``."""

    @property
    def answered(self) -> Floats:
        """How many answers each item has, shape ``(items,)``."""
        answered: Floats = np.isfinite(self.codes).sum(axis=1).astype(np.float64)
        return answered

    def counts(self) -> Floats:
        """Return how often each item was given each category, shape ``(items, categories)``."""
        counts = np.zeros((len(self.items), len(self.categories)))
        for code in range(len(self.categories)):
            counts[:, code] = (self.codes == code).sum(axis=1)
        return counts


def ratings(dimension: Dimension, answers: Iterable[Answer]) -> Ratings:
    """Arrange the answers on one dimension; items and annotators are sorted by name.

    Sorting makes a seeded bootstrap independent of the order in which answers came in.

    Raises:
        UsageError: an answer is no value of the dimension, or an annotator answered twice.
    """
    answers = [answer for answer in answers if answer.dimension == dimension.id]
    grouped = labels_by_item(answers, dimension.id)
    dialogue = {answer.item: answer.dialogue or answer.item for answer in answers}
    items = tuple(sorted(grouped))
    annotators = tuple(sorted({name for row in grouped.values() for name in row}))
    codes = np.full((len(items), len(annotators)), np.nan)
    categories = _categories(dimension, [v for row in grouped.values() for v in row.values()])
    code_of = {category: code for code, category in enumerate(categories)}
    column = {name: i for i, name in enumerate(annotators)}
    for i, item in enumerate(items):
        for name, value in grouped[item].items():
            if dimension.measurement == "interval":
                code = float(value) if isinstance(value, (int, float)) else None
            else:
                code = code_of.get(_category(dimension, value))
            if code is None or not np.isfinite(code):
                raise UsageError(
                    f"{value!r} of {name!r} on item {item!r} is no answer to {dimension.id!r}",
                    "check and harmonise the answers against the scheme first",
                )
            codes[i, column[name]] = code
    return Ratings(
        dimension.id,
        dimension.measurement,
        items,
        annotators,
        codes,
        categories,
        numbered([dialogue[item] for item in items]),
    )


def numbered(names: Sequence[str]) -> Numbers:
    """Return a number from 0 for every name, in the order of the sorted names."""
    place = {name: number for number, name in enumerate(sorted(set(names)))}
    return np.array([place[name] for name in names], dtype=np.intp)


def _categories(dimension: Dimension, values: list[LabelValue]) -> tuple[LabelValue, ...]:
    if dimension.measurement == "interval":
        return ()
    if dimension.measurement == "multi":
        labels = set(dimension.values)
        sets = [v for v in values if isinstance(v, tuple) and labels.issuperset(v)]
        return tuple(sorted({_category(dimension, v) for v in sets}, key=str))
    return dimension.values


def _category(dimension: Dimension, value: LabelValue) -> LabelValue:
    """Put the labels of a set into the order of the dimension, so that equal sets are equal."""
    if not isinstance(value, tuple) or not set(dimension.values).issuperset(value):
        return value
    return tuple(label for label in dimension.values if label in value)
