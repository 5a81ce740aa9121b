"""Which label people and models choose where another one is right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from quality.evaluation.label_matrix import ALL_MODELS, LabelMatrix
from quality.evaluation.people import is_people
from quality.evaluation.scores import Scores

Question = tuple[str, str, str, str]
"""Reference, task, mode and dimension."""


@dataclass(frozen=True, slots=True)
class ChosenLabel:
    """One cell of a matrix of choices that is not 0."""

    reference: str
    task: str
    mode: str
    dimension: str
    who: str
    """A model, people, or ``all models`` added up, where there are several."""
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
    found: list[ChosenLabel] = []
    models: defaultdict[Question, list[Scores]] = defaultdict(list)
    for one in scores:
        question = one.reference, one.task, one.mode, one.dimension
        found += _cells(question, one.model, LabelMatrix.of([one]))
        if not is_people(one.model):
            models[question].append(one)
    for question, several in models.items():
        if len(several) > 1:
            found += _cells(question, ALL_MODELS, LabelMatrix.of(several))
    return found


def _cells(question: Question, who: str, given: LabelMatrix) -> Iterator[ChosenLabel]:
    for right, row, unread in zip(given.labels, given.counts, given.unread, strict=True):
        cells = zip((*given.labels, None), (*row, unread), strict=True)
        for chosen, n in sorted(cells, key=lambda cell: -cell[1]):
            if n:
                yield ChosenLabel(*question, who, right, chosen, n, sum(row) + unread)
