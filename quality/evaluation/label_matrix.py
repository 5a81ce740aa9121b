"""Which label was given where which is right: of one model, or of several added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from quality.evaluation.scores import Scores

ALL_MODELS: Final = "all models"
"""Stands where models have names: the answers of all of them added up."""


@dataclass(frozen=True, slots=True)
class LabelMatrix:
    """Counts of answers; rows are right labels, columns those that were given."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    unread: tuple[int, ...]
    """By right label: how often none could be read."""

    @classmethod
    def of(cls, scores: Sequence[Scores]) -> LabelMatrix:
        """Add up the answers of one model or more to one question, each model by its answers.

        Source: CEI, figure 10, which adds seven models up.
        """
        return cls(
            scores[0].labels,
            tuple(
                tuple(map(sum, zip(*rows, strict=True)))
                for rows in zip(*(one.matrix for one in scores), strict=True)
            ),
            tuple(map(sum, zip(*(one.unread for one in scores), strict=True))),
        )

    @property
    def n(self) -> int:
        """How many answers there are."""
        return sum(map(sum, self.counts)) + sum(self.unread)

    @property
    def right(self) -> int:
        """How many of them are right."""
        return sum(row[place] for place, row in enumerate(self.counts))
