"""Answers in long form: who said what about which item, one row per answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from scenarios.errors import UsageError
from scenarios.schemes.model import Dimension
from scenarios.schemes.vocabulary import resolve_label
from scenarios.terms import LabelValue

_Value = TypeVar("_Value")
FEWEST_FOR_MAJORITY: Final = 3
"""Of two, a majority is both of them."""
_SNAP = 0.05
"""How far a number may lie from a point of its scale, as a share of the step (0.33 is 1/3)."""


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """One answer as it was written, before anybody checked it; None or blank is no answer."""

    item: str
    dimension: str
    annotator: str
    value: object
    dialogue: str = ""
    """What the item is a part of: items of one dialogue resemble each other, and are resampled
    together. Empty: the item stands alone."""


@dataclass(frozen=True, slots=True)
class Answer(RawAnswer):
    """One answer in the vocabulary of its dimension; an answer that is missing has no row."""

    value: LabelValue


@dataclass(frozen=True, slots=True)
class Timing:
    """How long one annotator looked at one item, in seconds."""

    item: str
    annotator: str
    seconds: float
    decisions: int = 1
    """How many labels the annotator gave in that time."""


def read_value(dimension: Dimension, raw: object) -> tuple[LabelValue, bool] | None:
    """Return the value that ``raw`` stands for, and whether it had to be put into other words.

    An interval dimension takes the name of a point as well as its number; a number that is not
    one of the declared points (to within a twentieth of a step) is no answer.

    Returns:
        ``(value, harmonised)``, or None where ``raw`` is no value of the dimension.
    """
    if dimension.measurement != "interval":
        return resolve_label(dimension, raw)
    points = dimension.point_values
    if isinstance(raw, str):
        name = " ".join(raw.casefold().split())
        names = [anchor.casefold() for anchor in dimension.anchors]
        if name in names:
            return points[names.index(name)], False
    number = resolve_label(dimension, raw)
    if number is None or not isinstance(number[0], float):
        return None
    value = number[0]
    if points:
        nearest = min(points, key=lambda point: abs(point - value))
        if abs(nearest - value) > _SNAP * (points[1] - points[0]):
            return None
        value = nearest
    return value, False


def is_blank(raw: object) -> bool:
    """Tell whether a raw value is no answer at all."""
    return raw is None or (isinstance(raw, str) and not raw.strip())


def labels_by_item(answers: Iterable[Answer], dimension: str) -> dict[str, dict[str, LabelValue]]:
    """Group the answers on one dimension: item -> annotator -> value.

    Raises:
        UsageError: an annotator answered an item twice.
    """
    grouped: dict[str, dict[str, LabelValue]] = {}
    for answer in answers:
        if answer.dimension != dimension:
            continue
        by_annotator = grouped.setdefault(answer.item, {})
        if answer.annotator in by_annotator:
            raise UsageError(
                f"{answer.annotator!r} answered item {answer.item!r} twice on {dimension!r}",
                "keep one answer of each annotator per item and dimension",
            )
        by_annotator[answer.annotator] = answer.value
    return grouped


def by_group(
    answers: Iterable[Answer], groups: Mapping[str, str] | None = None
) -> Iterator[tuple[str, list[Answer]]]:
    """Yield ``("", all answers)``, then each group by name with the answers on its items.

    An item of the group ``""`` has none, as a dialogue as a whole has no role.
    """
    everything = list(answers)
    yield "", everything
    names = sorted(set((groups or {}).values()) - {""})
    members: dict[str, list[Answer]] = {name: [] for name in names}
    for answer in everything:
        if groups and groups.get(answer.item):
            members[groups[answer.item]].append(answer)
    yield from members.items()


def majority(values: Sequence[_Value]) -> _Value | None:
    """Return the value that more than half of ``values`` share, or None."""
    for value in dict.fromkeys(values):
        if 2 * values.count(value) > len(values):
            return value
    return None
