"""Labels as they might have been if nothing told them: goals swapped within pairs, labels permuted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from outputs.audit.cross_fit import Integers


class NullLabels(Protocol):
    """Draws labellings under which nothing but chance connects labels and features."""

    def draw(self, rng: np.random.Generator, count: int) -> Integers:
        """Return ``count`` labellings, shape ``(items, count)``."""


def codes(values: Sequence[object]) -> Integers:
    """Number values by their order of appearance in sorted form."""
    numbered: Integers = np.unique([str(value) for value in values], return_inverse=True)[1]
    return numbered


@dataclass(frozen=True)
class SwappedGoals:
    """Deals the goals of each pair out anew among its cases; a case keeps one goal for all of it.

    A case whose pair has one goal only is dealt with the others of its kind in its scenario.
    """

    labels: Integers
    cases: Integers
    """Of each item, numbered from 0."""
    pairs: Integers
    """Of each item."""
    scenarios: Integers

    def draw(self, rng: np.random.Generator, count: int) -> Integers:
        """Return ``count`` labellings, shape ``(items, count)``."""
        _, first = np.unique(self.cases, return_index=True)
        goal, group = self.labels[first], self._groups(first)
        base = np.argsort(group, kind="stable")
        drawn = np.empty((len(first), count), np.int64)
        for column in range(count):
            order = np.argsort(group + rng.random(len(first)))
            drawn[order, column] = goal[base]
        return drawn[self.cases]

    def _groups(self, first: Integers) -> Integers:
        pairs, scenarios, goal = self.pairs[first], self.scenarios[first], self.labels[first]
        lowest = np.full(int(pairs.max()) + 1, np.iinfo(np.int64).max)
        highest = np.full(len(lowest), -1)
        np.minimum.at(lowest, pairs, goal)
        np.maximum.at(highest, pairs, goal)
        alone = (lowest == highest)[pairs]
        return np.where(alone, len(lowest) + scenarios, pairs)


@dataclass(frozen=True)
class DealtLabels:
    """Deals the labels of each scenario out anew, those of one block one after the other.

    What belongs together moves together: the two cases of a pair were asked for the same labels, and
    what is drawn once would otherwise count twice. Within a block, what belongs to one turn stands
    together, so that it still does where blocks of different lengths change places.
    """

    labels: Integers
    blocks: Integers
    """Of each item, numbered from 0; within one scenario."""
    ranks: Integers
    """Of each item: its place in its block, by turn first."""
    scenarios: Integers

    def draw(self, rng: np.random.Generator, count: int) -> Integers:
        """Return ``count`` labellings, shape ``(items, count)``."""
        base = np.lexsort((self.ranks, self.blocks, self.scenarios))
        block, scenario, label = (v[base] for v in (self.blocks, self.scenarios, self.labels))
        drawn = np.empty((len(self.labels), count), np.int64)
        for column in range(count):
            # One key a block, behind that of its scenario; a stable order keeps blocks together.
            keys = scenario + rng.random(int(block.max()) + 1)[block]
            drawn[base, column] = label[np.argsort(keys, kind="stable")]
        return drawn


@dataclass(frozen=True)
class SwappedSides:
    """Swaps the two sides of pairs, those of one place together."""

    places: Integers
    """Of each item, numbered from 0."""

    def draw(self, rng: np.random.Generator, count: int) -> Integers:
        """Return ``count`` labellings of 1 and -1, shape ``(items, count)``."""
        signs = rng.integers(0, 2, (int(self.places.max()) + 1, count)) * 2 - 1
        return signs[self.places].astype(np.int64)
