"""How well guesses fit labels, scenario by scenario: balanced accuracy, AUC, order of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from outputs.audit.cross_fit import Floats, Integers
from quality.statistics.class_figures import share

MeasureName = Literal["balanced accuracy", "AUC", "right order"]


@dataclass(frozen=True, slots=True)
class HitTable:
    """Hits out of chances, by scenario and class; the last two axes are these."""

    hits: Floats
    chances: Floats

    @property
    def rate(self) -> NDArray[np.float64]:
        """The mean over classes of hits over chances, all scenarios together, in [0, 1]."""
        return mean_rate(self.hits.sum(axis=-2), self.chances.sum(axis=-2))


def mean_rate(hits: Floats, chances: Floats) -> NDArray[np.float64]:
    """Return the mean over the last axis of hits over chances; classes without a chance are left out.

    nan where there is no chance at all.
    """
    rates = share(hits, chances)
    there = np.isfinite(rates)
    return share(np.where(there, rates, 0.0).sum(axis=-1), there.sum(axis=-1))


@dataclass(frozen=True)
class ScoreKind:
    """What is guessed of some items, and how guesses are counted.

    *Balanced accuracy*: the class with the highest score for its share is guessed; the mean of the
    shares that are right in each class. *AUC*: how often of two items of one scenario, one with the
    class and one without, the one with it has the higher score; one half by chance. It may be of two
    items of one place in a scenario, where place itself would tell the class. *Right order*:
    how often the preferred one of two sides has the higher score; labels are 1 or -1 there.
    """

    name: MeasureName
    scenarios: Integers
    """Of each item, numbered from 0."""
    classes: int
    compared: Integers | None = None
    """Of each item, for *AUC*: what it is compared with, numbered, within its scenario; None: with all
    of the scenario."""

    @property
    def chance(self) -> float:
        """What guessing without looking reaches."""
        return 1 / self.classes if self.name == "balanced accuracy" else 0.5

    @property
    def columns(self) -> int:
        """Columns of targets for one set of labels."""
        if self.name == "right order" or (self.name == "AUC" and self.classes == 2):
            return 1
        return self.classes

    def targets(self, labels: Integers) -> Floats:
        """Return what is regressed on for each column of labels.

        Args:
            labels: shape ``(items, labellings)``.

        Returns:
            Shape ``(items, labellings * columns)``. Each class is scaled by its share, so that
            the highest guess belongs to the class that is likeliest for how common it is.
        """
        if self.name == "right order":
            return labels.astype(np.float64)
        codes = np.arange(self.classes)[-self.columns :]
        one: Floats = (labels[:, :, None] == codes).astype(np.float64)
        shares = np.maximum(one[:, 0].mean(axis=0), 1e-12)
        scaled: Floats = (one / shares).reshape(len(labels), -1)
        return scaled

    def table(self, guesses: Floats, labels: Integers) -> HitTable:
        """Count hits for each column of labels.

        Args:
            guesses: shape ``(items, labellings * columns)``.
            labels: shape ``(items, labellings)``.

        Returns:
            A table of shape ``(labellings, scenarios, classes)``.
        """
        if self.name == "balanced accuracy":
            return self._accuracy(guesses.reshape(*labels.shape, self.columns), labels)
        if self.name == "AUC":
            return self._area(guesses.reshape(*labels.shape, self.columns), labels)
        signed = guesses * labels
        hits = (signed > _SAME).astype(np.float64) + 0.5 * (np.abs(signed) <= _SAME)
        return HitTable(
            np.stack([hits[own].sum(axis=0) for own in _members(self.scenarios)], axis=1)[
                ..., None
            ],
            np.broadcast_to(
                np.bincount(self.scenarios).astype(np.float64)[None, :, None],
                (labels.shape[1], int(self.scenarios.max()) + 1, 1),
            ),
        )

    def _accuracy(self, guesses: Floats, labels: Integers) -> HitTable:
        count = int(self.scenarios.max()) + 1
        shape = (labels.shape[1], count, self.classes)
        cell = np.arange(labels.shape[1]) * count + self.scenarios[:, None]
        flat = (cell * self.classes + labels).ravel()
        right = (guesses.argmax(axis=2) == labels).ravel()
        size = int(np.prod(shape))
        return HitTable(
            np.bincount(flat, weights=right, minlength=size).astype(np.float64).reshape(shape),
            np.bincount(flat, minlength=size).astype(np.float64).reshape(shape),
        )

    def _area(self, guesses: Floats, labels: Integers) -> HitTable:
        from scipy.stats import rankdata  # noqa: PLC0415 heavy, comes with the extra audit

        codes = np.arange(self.classes)[-self.columns :]
        hits = np.zeros((labels.shape[1], int(self.scenarios.max()) + 1, self.columns))
        chances = np.zeros_like(hits)
        for place in _members(self.scenarios if self.compared is None else self.compared):
            # Rounded: what differs in the last digits of the arithmetic is a tie.
            ranks = rankdata(np.round(guesses[place], 9), axis=0)
            with_it = labels[place][:, :, None] == codes
            positive = with_it.sum(axis=0)
            negative = len(place) - positive
            above = (ranks * with_it).sum(axis=0) - positive * (positive + 1) / 2
            both = positive * negative
            area = np.zeros(above.shape)
            np.divide(above, both, out=area, where=both > 0)
            weight = np.where(both > 0, len(place), 0).astype(np.float64)
            hits[:, self.scenarios[place[0]]] += area * weight
            chances[:, self.scenarios[place[0]]] += weight
        return HitTable(hits, chances)


def _members(groups: Integers) -> list[Integers]:
    """Return the items of each group."""
    return [np.flatnonzero(groups == number) for number in range(int(groups.max()) + 1)]


_SAME = 1e-9
