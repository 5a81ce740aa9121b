"""The annotation form derived from a scheme, and reading what was sent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from scenarios.reviews import GivenLabel
from scenarios.schemes.model import Dimension, LabelValue, Scheme

KEYS = "1234567890"
"""Keys that choose, in order; a tenth choice is 0, later ones have no key."""
QUIZ_HIDES = ("none", "declarations")
"""Labels that the quiz does not offer: one says that there is nothing to see, and no line of the
paper's corpus has the other."""

Fields = Mapping[str, Sequence[str]]
"""A form as a browser sends it."""


@dataclass(frozen=True, slots=True)
class FormChoice:
    """One answer that can be chosen."""

    key: str
    """The key on the keyboard; empty where there is none."""
    value: str
    """What the form sends."""
    title: str
    definition: str = ""
    example: str = ""


@dataclass(frozen=True, slots=True)
class FormField:
    """One question, asked of one turn or of the whole dialogue."""

    name: str
    dimension: Dimension
    turn: int | None
    kind: Literal["one", "many", "number"]
    choices: tuple[FormChoice, ...]

    @property
    def title(self) -> str:
        """What the question is about."""
        return self.dimension.title or self.dimension.id


@dataclass(frozen=True, slots=True)
class FormSection:
    """The questions of one turn, or those of the whole dialogue."""

    id: str
    turn: int | None
    fields: tuple[FormField, ...]


@dataclass(frozen=True, slots=True)
class Filled:
    """A form read back."""

    labels: tuple[GivenLabel, ...]
    problems: Mapping[str, str]
    """Field name -> what is wrong with it."""


def quiz_hides(scheme: Scheme) -> dict[str, tuple[str, ...]]:
    """Return the labels that the quiz leaves out, by dimension: those called None or Declarations.

    Source: HIPO, appendix E and figure 10 (the human baseline is asked without them).
    """
    return {
        d.id: hidden
        for d in scheme.declared
        if (hidden := tuple(v for v in d.values if v.casefold() in QUIZ_HIDES))
    }


def sections(
    scheme: Scheme,
    turns: Sequence[int],
    hidden: Mapping[str, Sequence[str]],
    *,
    whole: bool = True,
) -> tuple[FormSection, ...]:
    """Return the questions about a dialogue: turn by turn, then once about the whole of it.

    Args:
        scheme: the dimensions.
        turns: numbers of the turns to label.
        hidden: labels that are not offered, by dimension.
        whole: whether the dialogue as a whole is asked about.
    """
    by_turn = [
        FormSection(
            f"t{turn}",
            turn,
            tuple(_field(f"t{turn}", d, turn, hidden) for d in scheme.utterance_dimensions),
        )
        for turn in turns
    ]
    if not whole:
        return tuple(by_turn)
    asked = tuple(_field("d", d, None, hidden) for d in scheme.declared if d.level == "dialogue")
    return (*by_turn, FormSection("d", None, asked))


def read_form(asked: Sequence[FormSection], data: Fields) -> Filled:
    """Read a complete form; what is missing or was not on offer is a problem of its field."""
    labels: list[GivenLabel] = []
    problems: dict[str, str] = {}
    for section in asked:
        for field in section.fields:
            given = [value for value in data.get(field.name, ()) if value]
            value = _value(field, given)
            if value is None:
                problems[field.name] = "not answered" if not given else "not an answer on offer"
            else:
                labels.append(GivenLabel(field.turn, field.dimension.id, value))
    return Filled(tuple(labels), problems)


def form_values(asked: Sequence[FormSection], labels: Sequence[GivenLabel]) -> dict[str, list[str]]:
    """Return what a form sends that holds these labels; the reverse of :func:`read_form`."""
    given = {(label.turn, label.dimension): label.value for label in labels}
    return {
        field.name: _sent(given[field.turn, field.dimension.id])
        for section in asked
        for field in section.fields
        if (field.turn, field.dimension.id) in given
    }


def shown_value(dimension: Dimension, value: LabelValue | None) -> str:
    """Return an answer as people read it: the name of a point rather than its number."""
    if value is None:
        return "not given"
    if isinstance(value, tuple):
        return " + ".join(value) or "none of them"
    if isinstance(value, str):
        return value
    for point, anchor in zip(dimension.point_values, dimension.anchors, strict=False):
        if math.isclose(point, value, abs_tol=1e-9):
            return f"{anchor} ({_number(value)})"
    return _number(value)


def _field(
    prefix: str, dimension: Dimension, turn: int | None, hidden: Mapping[str, Sequence[str]]
) -> FormField:
    name = f"{prefix}.{dimension.id}"
    if dimension.measurement == "interval":
        points = dimension.point_values
        choices = tuple(
            FormChoice(_key(i), repr(point), _anchor(dimension, i, point))
            for i, point in enumerate(points)
        )
        return FormField(name, dimension, turn, "one" if points else "number", choices)
    offered = [v for v in dimension.labels if v.id not in hidden.get(dimension.id, ())]
    choices = tuple(
        FormChoice(_key(i), label.id, label.id, label.definition, label.example)
        for i, label in enumerate(offered)
    )
    kind: Literal["one", "many"] = "many" if dimension.measurement == "multi" else "one"
    return FormField(name, dimension, turn, kind, choices)


def _key(position: int) -> str:
    return KEYS[position] if position < len(KEYS) else ""


def _anchor(dimension: Dimension, position: int, point: float) -> str:
    return dimension.anchors[position] if dimension.anchors else _number(point)


def _number(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _value(field: FormField, given: Sequence[str]) -> LabelValue | None:
    """Return the value of a field; None where it is missing or was not on offer."""
    offered = {choice.value for choice in field.choices}
    if field.kind == "many":
        chosen = tuple(c.value for c in field.choices if c.value in given)
        return chosen if chosen and offered.issuperset(given) else None
    if len(given) != 1:
        return None
    (text,) = given
    if field.kind == "one":
        if text not in offered:
            return None
        return float(text) if field.dimension.measurement == "interval" else text
    return _within(field.dimension, text)


def _within(dimension: Dimension, text: str) -> float | None:
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return None
    low, high = dimension.range or (-math.inf, math.inf)
    return value if low <= value <= high else None


def _sent(value: LabelValue) -> list[str]:
    if isinstance(value, tuple):
        return list(value)
    return [value] if isinstance(value, str) else [repr(float(value))]
