"""Compute the derived dimensions of a scheme from what each annotator said of a dialogue."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from quality.derived import DERIVED
from scenarios.annotations import Annotation
from scenarios.errors import UsageError
from scenarios.extensions import told_of_plugin
from scenarios.plural import plural
from scenarios.schemes.model import Scheme
from scenarios.terms import LabelValue


def with_derived(scheme: Scheme, annotations: Iterable[Annotation]) -> Iterator[Annotation]:
    """Yield annotations with the numbers that follow from them, by whoever gave the labels.

    A number that a file brings along is put aside for the one that is computed. Labels of whole
    dialogues, and of parts of a turn, are not given to the functions.

    Raises:
        UsageError: the scheme names a function that there is none of, or one of a plugin returns
            anything but a number, or None, a row.
    """
    derived = scheme.derived
    computed = {dimension.id for dimension in derived}
    sheets: dict[tuple[str, ...], dict[int, dict[str, Annotation]]] = {}
    for annotation in annotations:
        if annotation.dimension in computed:
            continue
        yield annotation
        about = annotation.subject
        if (
            not derived
            or about.turn is None
            or about.part is not None
            or about.last_turn is not None
        ):
            continue
        key = (about.case, about.arm, annotation.kind, annotation.who, annotation.config)
        sheets.setdefault(key, {}).setdefault(about.turn, {})[annotation.dimension] = annotation
    for turns in sheets.values():
        yield from _numbers(scheme, [turns[turn] for turn in sorted(turns)])


def _numbers(scheme: Scheme, turns: list[dict[str, Annotation]]) -> list[Annotation]:
    rows: list[dict[str, LabelValue | None]] = [
        {name: annotation.value for name, annotation in turn.items()} for turn in turns
    ]
    found = []
    for dimension in scheme.derived:
        if dimension.derived is None:
            continue
        function = DERIVED.get(dimension.derived.function)
        with told_of_plugin(DERIVED, function.name):
            numbers: object = function.compute(rows, dimension.derived.parameters)
        if (
            not isinstance(numbers, list | tuple)
            or len(numbers) != len(turns)
            or not all(one is None or _is_number(one) for one in numbers)
        ):
            raise UsageError(
                f"the function {function.name!r} of the dimension {dimension.id!r} returned"
                f" {numbers!r:.100}",
                f"it must return a list of {plural(len(turns), 'number')}, one a row",
            )
        for turn, number in zip(turns, numbers, strict=True):
            if number is not None:
                model = next(iter(turn.values()))
                found.append(
                    replace(model, dimension=dimension.id, value=number, rationale="", raw=None)
                )
    return found


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
