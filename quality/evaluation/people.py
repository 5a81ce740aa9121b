"""The human baseline: answers of a quiz beside those of models on the very same items.

People label some dialogues, without the fact and without labels that the quiz does not offer. A
model is held against them only on the lines and dimensions that people answered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final

from quality.agreement.annotations import FEWEST_FOR_MAJORITY, Answer, majority
from quality.evaluation.result_row import ResultRow, is_right

PEOPLE: Final = "people"
"""Stands where models have names: all annotators together; each alone is ``people/CODE``."""
MAJORITY: Final = "people (majority)"
"""Stands there, too: what more than half of them say, where three or more labelled a line."""
_SPLIT: Final = "no label has a majority"
Given = Mapping[str, Mapping[str, str]]
"""Dimension -> annotator -> label, of one line or dialogue."""


def is_people(model: str) -> bool:
    """Return whether what stands where models have names is people, together or one of them."""
    return model in (PEOPLE, MAJORITY) or is_one_person(model)


def is_one_person(model: str) -> bool:
    """Return whether what stands where models have names is one annotator."""
    return model.startswith(f"{PEOPLE}/")


def human_baseline(
    rows: Iterable[ResultRow],
    people: Iterable[Answer],
    labels: Mapping[str, Sequence[str]],
    *,
    hidden: Mapping[str, Sequence[str]],
) -> list[ResultRow]:
    """Return the rows of people and of models on what both answered, as far as people could.

    Under each task and mode people stand once together, where an annotator is a draw, so that
    their figures are means over annotators, and once each alone; and once with the label of the
    majority, which is wrong where no label has one.

    Args:
        rows: results of models; repetitions are left out.
        people: answers of a quiz, or of imported annotators; ``item`` is ``case/arm#turn``, or ``case/arm``.
        labels: the labels of each dimension.
        hidden: labels that people were not offered, by dimension; references that have them are
            left out.

    Returns:
        Rows that :func:`~quality.evaluation.scoring_results.score_results` takes: models, all
        annotators, their majority, then each of them by name; none where no model was asked what
        people answered.
    """
    given = labels_of_people(people, labels)
    names = {name for known in given.values() for said in known.values() for name in said}
    offered = {
        dimension: tuple(label for label in known if label not in hidden.get(dimension, ()))
        for dimension, known in labels.items()
    }
    shared = [
        row.model_copy(update={"references": references})
        for row in rows
        if row.repeat == 0 and (references := _references(row, given.get(place_of(row)), offered))
    ]
    templates = {(row.item, row.task, row.mode): row for row in reversed(shared)}
    answered = [
        readings
        for row in reversed(templates.values())
        for readings in _readings(row, given[place_of(row)], sorted(names), offered)
    ]
    return [*shared, *sorted(answered, key=lambda row: (is_one_person(row.model), row.model))]


def labels_of_people(people: Iterable[Answer], dimensions: Container[str]) -> Mapping[str, Given]:
    """Return who gave which label, by item and dimension; numbers and answers with several are left out."""
    given: defaultdict[str, defaultdict[str, dict[str, str]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for answer in people:
        if isinstance(answer.value, str) and answer.dimension in dimensions:
            given[answer.item][answer.dimension][answer.annotator] = answer.value
    return given


def place_of(row: ResultRow) -> str:
    """Return what a row is about as reviews name it: ``case/arm#turn``, or ``case/arm``."""
    dialogue = f"{row.case}/{row.arm}"
    return dialogue if row.turn is None else f"{dialogue}#{row.turn}"


def _references(
    row: ResultRow, given: Given | None, offered: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, str]]:
    """Return the references that people answered and could have met."""
    kept = {
        reference: {
            dimension: label
            for dimension, label in right.items()
            if dimension in (given or {}) and label in offered[dimension]
        }
        for reference, right in row.references.items()
    }
    return {reference: right for reference, right in kept.items() if right}


def _readings(
    row: ResultRow, given: Given, names: Sequence[str], offered: Mapping[str, tuple[str, ...]]
) -> Iterator[ResultRow]:
    """Yield what each annotator said about an item, as one of all and alone; then the majority."""
    asked = set(row.options or row.labels)
    known = {dimension: by for dimension, by in given.items() if dimension in asked}
    for number, name in enumerate(names):
        said = {dimension: by[name] for dimension, by in known.items() if name in by}
        if said:
            answer = _reading(row, said, offered)
            yield answer.model_copy(update={"draw": number})
            yield answer.model_copy(update={"model": f"{PEOPLE}/{name}"})
    most = {
        d: majority([*by.values()]) for d, by in known.items() if len(by) >= FEWEST_FOR_MAJORITY
    }
    if most:
        split = {dimension: "unreadable" for dimension, label in most.items() if label is None}
        yield _reading(row, most, offered).model_copy(
            update={"model": MAJORITY, "faults": split, "reason": _SPLIT if split else ""}
        )


def _reading(
    row: ResultRow, said: Mapping[str, str | None], offered: Mapping[str, tuple[str, ...]]
) -> ResultRow:
    """Return a row as people would have answered it."""
    return row.model_copy(
        update={
            "draw": 0,
            "model": PEOPLE,
            "marks": (),
            "reply": None,
            "status": "answered",
            "reason": "",
            "labels": said,
            "raw": {},
            "faults": {},
            "harmonised": (),
            "options": {dimension: offered[dimension] for dimension in said},
            "right": {
                reference: {
                    dimension: is_right(said[dimension], label)
                    for dimension, label in right.items()
                    if dimension in said
                }
                for reference, right in row.references.items()
            },
        }
    )
