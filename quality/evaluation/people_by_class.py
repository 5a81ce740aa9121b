"""What people score on each label: means over annotators, as the paper's Table 5 has them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from quality.evaluation.people import is_one_person
from quality.evaluation.scores import ClassScore, Scores


@dataclass(frozen=True, slots=True)
class PeopleOnLabel:
    """How well people find one label."""

    reference: str
    task: str
    dimension: str
    label: str
    annotators: int
    """Who answered items that the label is right of."""
    accuracy: float
    """Mean share, over these annotators, of the items with the label that were given it (recall)."""
    f1: float


def people_by_class(scores: Iterable[Scores]) -> list[PeopleOnLabel]:
    """Average the figures of each label over annotators; labels that nobody met have no row.

    Args:
        scores: of people and models. People answered once, so that the first mode of a task counts.

    Source: HIPO, appendix E, Table 5.
    """
    known: defaultdict[tuple[str, str, str], dict[str, Scores]] = defaultdict(dict)
    for one in scores:
        if is_one_person(one.model):
            known[one.reference, one.task, one.dimension].setdefault(one.model, one)
    rows = []
    for (reference, task, dimension), alone in known.items():
        classes: defaultdict[str, list[ClassScore]] = defaultdict(list)
        for one in alone.values():
            for found in one.classes:
                if found.support:
                    classes[found.label].append(found)
        rows += [
            PeopleOnLabel(
                reference, task, dimension, label, len(met),
                fmean(found.recall.value or 0.0 for found in met),
                fmean(found.f1.value or 0.0 for found in met),
            )
            for label, met in classes.items()
        ]  # fmt: skip
    return rows
