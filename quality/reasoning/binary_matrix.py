"""Predictions of two outcomes against the truth: counts, and the figures made of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BinaryMatrix:
    """How often what was called positive is so; a figure is None where there is nothing to divide."""

    tp: int = 0
    fp: int = 0
    tn: int = 0
    fn: int = 0

    @property
    def total(self) -> int:
        """All cases."""
        return self.tp + self.fp + self.tn + self.fn

    @property
    def accuracy(self) -> float | None:
        """Share of the cases that were called rightly."""
        return _share(self.tp + self.tn, self.total)

    @property
    def precision(self) -> float | None:
        """Share of what was called positive that is."""
        return _share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float | None:
        """Share of what is positive that was called so."""
        return _share(self.tp, self.tp + self.fn)

    @property
    def specificity(self) -> float | None:
        """Share of what is negative that was called so."""
        return _share(self.tn, self.tn + self.fp)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall."""
        return _share(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    def plain(self) -> dict[str, int | float | None]:
        """Return counts and figures by name."""
        counts = {"tp": self.tp, "fp": self.fp, "tn": self.tn, "fn": self.fn, "total": self.total}
        names = ("accuracy", "precision", "recall", "specificity", "f1")
        return {**counts, **{name: getattr(self, name) for name in names}}


def cell(predicted: bool, true: bool) -> str:
    """Return which cell of the matrix a case belongs to: ``TP``, ``FP``, ``TN`` or ``FN``."""
    return ("T" if predicted == true else "F") + ("P" if predicted else "N")


def binary_matrix(cases: Iterable[tuple[bool, bool]]) -> BinaryMatrix:
    """Count cases of (predicted, true)."""
    cells = [cell(predicted, true) for predicted, true in cases]
    return BinaryMatrix(*(cells.count(name) for name in ("TP", "FP", "TN", "FN")))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
