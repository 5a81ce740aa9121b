"""Which label people and models choose where another one is right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from quality.evaluation.scores import Scores


@dataclass(frozen=True, slots=True)
class ChosenLabel:
    """One cell of a matrix of choices that is not 0."""

    reference: str
    task: str
    mode: str
    dimension: str
    who: str
    right: str
    chosen: str | None
    """None: no label could be read, or no label has a majority."""
    answers: int
    of: int
    """Answers of ``who`` where ``right`` is right."""


def choices(scores: Iterable[Scores]) -> list[ChosenLabel]:
    """Return what everybody chose, by what is right; of each right label the most frequent first.

    Source: Evaluating Intention Understanding in Persuasive Dialogues, table 6; CEI, figures 5 and 10.
    """
    return [
        ChosenLabel(
            one.reference, one.task, one.mode, one.dimension, one.model, right, chosen, n, of
        )
        for one in scores
        for right, row, unread in zip(one.labels, one.matrix, one.unread, strict=True)
        for of in (sum(row) + unread,)
        for chosen, n in sorted(
            zip((*one.labels, None), (*row, unread), strict=True), key=lambda cell: -cell[1]
        )
        if n
    ]
