"""Rows of results across evaluations of the same items: who has which figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from outputs.evaluation.evaluated import Contender, Evaluated, ReferenceView
from quality.evaluation.people import is_people
from quality.evaluation.scores import ClusteredEstimate, ScoredDimension, Scores

Place = tuple[str, str]
"""Task and dimension."""


@dataclass(frozen=True, slots=True)
class ResultLine:
    """One row in the making: a model in a mode, with its figures by place."""

    evaluated: Evaluated
    contender: Contender
    name: str
    scores: Mapping[Place, Scores]


def same_items(evaluations: Sequence[Evaluated]) -> list[list[Evaluated]]:
    """Return the evaluations in groups that are about the same items and labels."""

    def key(one: Evaluated) -> tuple[str, str]:
        return one.record.set.fingerprint, one.record.set.scheme

    first = {key(one): number for number, one in reversed(list(enumerate(evaluations)))}
    ordered = sorted(evaluations, key=lambda one: first[key(one)])
    return [list(group) for _, group in groupby(ordered, key)]


def views_of(group: Sequence[Evaluated]) -> list[ReferenceView]:
    """Return the kinds of references that any of the evaluations has figures against."""
    found = [
        view
        for one in group
        for task in one.tasks
        for dimension in one.dimensions(task.id)
        for view in one.references(task.id, dimension)
    ]
    return list(dict.fromkeys(found))


def lines_of(group: Sequence[Evaluated], view: ReferenceView) -> Iterator[ResultLine]:
    """Yield the rows of a table; a model that two evaluations asked has the name of the second."""
    taken: set[str] = set()
    for one in group:
        for contender, scores in _by_contender(one, view).items():
            name = one.signed(contender.model)
            key = f"{name} {contender.mode}"
            if key in taken:
                name = f"{name} ({one.record.name})"
            taken.add(f"{name} {contender.mode}")
            yield ResultLine(one, contender, name, scores)


def _by_contender(one: Evaluated, view: ReferenceView) -> dict[Contender, dict[Place, Scores]]:
    found: dict[Contender, dict[Place, Scores]] = {}
    for task in one.tasks:
        for dimension in one.dimensions(task.id):
            for contender in one.contenders(task.id, dimension):
                score = one.score(task.id, dimension, view, contender)
                if score is not None:
                    # People answered once, whatever mode the models beside them were asked in.
                    who = Contender(contender.model, "") if is_human(contender) else contender
                    found.setdefault(who, {}).setdefault((task.id, dimension), score)
    return found


def is_human(contender: Contender) -> bool:
    """Return whether these are people, together or one of them."""
    return is_people(contender.model)


def places_of(group: Sequence[Evaluated], lines: Sequence[ResultLine]) -> list[Place]:
    """Return the tasks and dimensions of some rows, in the order of the evaluations."""
    known = [(task.id, d) for one in group for task in one.tasks for d in one.dimensions(task.id)]
    used = {place for line in lines for place in line.scores}
    return [place for place in dict.fromkeys(known) if place in used]


def task_title(group: Sequence[Evaluated], task: str) -> str:
    """Return what people call a task."""
    return next(found.title for one in group for found in one.tasks if found.id == task)


Drawn = Literal["cases", "scenarios"]
"""What the intervals of a table draw."""


OF_CASES = "Intervals are over cases, as a figure rests on one scenario: they say nothing of other scenarios."


def drawn_in(scores: Iterable[ScoredDimension]) -> Drawn:
    """Return what the intervals of a table draw: scenarios, as whoever reads it thinks of others.

    Where a figure rests on a single scenario, cases are drawn in the whole table, and nothing is
    said about other scenarios.
    """
    return "scenarios" if all(score.scenarios > 1 for score in scores) else "cases"


def spread_of(estimate: ClusteredEstimate, drawn: Drawn) -> tuple[float, float] | None:
    """Return an interval in per cent."""
    bounds = estimate.by_scenario if drawn == "scenarios" else estimate.by_case
    return None if bounds is None else (100 * bounds.low, 100 * bounds.high)


def in_percent(value: float | None) -> float | None:
    """Return a share in per cent."""
    return None if value is None else 100 * value
