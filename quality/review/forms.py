"""The annotation form derived from a scheme, and reading what was sent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import orjson

from scenarios.reviews import GivenLabel
from scenarios.schemes.model import Dimension, Scheme
from scenarios.schemes.vocabulary import NONE_OF_THEM, label_list, takes_none
from scenarios.terms import RESPONDER, LabelValue, RoleKey

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
    beside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """On offer only where these fields, by name, have one of these values; empty: always."""
    is_alone: bool = False
    """Of several answers: whether it takes no other one beside it."""

    @property
    def condition(self) -> str:
        """Where it is on offer, as JSON for the script of the page; empty: always."""
        return _json(self.beside)


@dataclass(frozen=True, slots=True)
class FormField:
    """One question, asked of one turn or of the whole dialogue."""

    name: str
    dimension: Dimension
    turn: int | None
    kind: Literal["one", "many", "number"]
    choices: tuple[FormChoice, ...]
    when: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Asked only where these fields, by name, have one of these values; empty: always."""

    @property
    def only_where(self) -> str:
        """In words where it is asked; empty: always."""
        parts = [
            f"{name.partition('.')[2]} is {_either(values)}" for name, values in self.when.items()
        ]
        return f"Only where {' and '.join(parts)}." if parts else ""

    @property
    def condition(self) -> str:
        """Where it is asked, as JSON for the script of the page; empty: always."""
        return _json(self.when)

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

    A scheme that assigns nothing has no such quiz: all of its labels are on offer.

    Source: HIPO, appendix E and figure 10 (the human baseline is asked without them).
    """
    return {
        d.id: hidden
        for d in scheme.declared
        if scheme.assigned
        if (hidden := tuple(v for v in d.values if v.casefold() in QUIZ_HIDES))
    }


def sections(
    scheme: Scheme,
    turns: Sequence[int],
    hidden: Mapping[str, Sequence[str]],
    *,
    whole: bool = True,
    roles: Mapping[int, RoleKey] | None = None,
) -> tuple[FormSection, ...]:
    """Return the questions about a dialogue: turn by turn, then once about the whole of it.

    Args:
        scheme: the dimensions.
        turns: numbers of the turns to label.
        hidden: labels that are not offered, by dimension.
        whole: whether the dialogue as a whole is asked about.
        roles: who says each turn; the responder where it is not told.
    """
    by_turn = []
    for turn in turns:
        role = (roles or {}).get(turn, RESPONDER)
        asked = [d for d in scheme.people_dimensions("utterance") if d.concerns(role)]
        limited = [d.limited_to(role) for d in asked]
        by_turn.append(FormSection(f"t{turn}", turn, _fields(f"t{turn}", limited, turn, hidden)))
    if not whole:
        return tuple(by_turn)
    of_all = scheme.people_dimensions("dialogue")
    return (*by_turn, FormSection("d", None, _fields("d", of_all, None, hidden)))


def read_form(asked: Sequence[FormSection], data: Fields) -> Filled:
    """Read a complete form; what is missing or was not on offer is a problem of its field.

    What is sent for a question that is not asked beside the other answers is passed over.
    """
    labels: list[GivenLabel] = []
    problems: dict[str, str] = {}
    for section in asked:
        sent: dict[str, list[str]] = {}
        for question in section.fields:
            if not _holds(question.when, sent):
                continue  # a page without script shows the question all the same
            name = question.name
            given = [value for value in data.get(name, ()) if value]
            sent[name] = given
            value = _value(question, given)
            if value is None:
                problems[name] = "not answered" if not given else "not an answer on offer"
            elif not all(_holds(c.beside, sent) for c in question.choices if c.value in given):
                problems[name] = "does not go with the other answers"
            else:
                labels.append(GivenLabel(question.turn, question.dimension.id, value))
    return Filled(tuple(labels), problems)


def form_values(asked: Sequence[FormSection], labels: Sequence[GivenLabel]) -> dict[str, list[str]]:
    """Return what a form sends that holds these labels; the reverse of :func:`read_form`."""
    given = {(label.turn, label.dimension): label.value for label in labels}
    return {
        question.name: _sent(given[question.turn, question.dimension.id])
        for section in asked
        for question in section.fields
        if (question.turn, question.dimension.id) in given
    }


def shown_value(dimension: Dimension, value: LabelValue | None) -> str:
    """Return an answer as people read it: the name of a point rather than its number."""
    if value is None:
        return "not given"
    if isinstance(value, tuple):
        return " + ".join(value) or NONE_OF_THEM
    if isinstance(value, str):
        return value
    for point, anchor in zip(dimension.point_values, dimension.anchors, strict=False):
        if math.isclose(point, value, abs_tol=1e-9):
            return f"{anchor} ({_number(value)})"
    return _number(value)


def _fields(
    prefix: str,
    dimensions: Sequence[Dimension],
    turn: int | None,
    hidden: Mapping[str, Sequence[str]],
) -> tuple[FormField, ...]:
    """Return the questions about one thing; they depend on each other by the names of fields."""
    here = {dimension.id for dimension in dimensions}

    def named(conditions: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        # What else is not asked here cannot decide anything here.
        return {f"{prefix}.{name}": tuple(v) for name, v in conditions.items() if name in here}

    fields = []
    for dimension in dimensions:
        plain = _field(prefix, dimension, turn, hidden)
        beside = {label.id: named(label.applies) for label in dimension.labels}
        choices = tuple(replace(c, beside=beside.get(c.value, {})) for c in plain.choices)
        fields.append(replace(plain, choices=choices, when=named(dimension.when)))
    return tuple(fields)


def _holds(conditions: Mapping[str, tuple[str, ...]], sent: Mapping[str, Sequence[str]]) -> bool:
    """Whether every field of a condition has one of its values."""
    return all(
        not set(sent.get(name, ())).isdisjoint(values) for name, values in conditions.items()
    )


def _json(conditions: Mapping[str, tuple[str, ...]]) -> str:
    return orjson.dumps(dict(conditions)).decode() if conditions else ""


def _either(values: Sequence[str]) -> str:
    *others, last = values
    return f"{', '.join(others)} or {last}" if others else last


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
    if dimension.measurement != "multi":
        return FormField(name, dimension, turn, "one", choices)
    if takes_none(dimension):
        choices += (FormChoice(_key(len(choices)), NONE_OF_THEM, NONE_OF_THEM, is_alone=True),)
    return FormField(name, dimension, turn, "many", choices)


def _key(position: int) -> str:
    return KEYS[position] if position < len(KEYS) else ""


def _anchor(dimension: Dimension, position: int, point: float) -> str:
    return dimension.anchors[position] if dimension.anchors else _number(point)


def _number(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _value(question: FormField, given: Sequence[str]) -> LabelValue | None:
    """Return the value of a field; None where it is missing or was not on offer."""
    offered = {choice.value for choice in question.choices}
    if question.kind == "many":
        if given and list(given) == [c.value for c in question.choices if c.is_alone]:
            return ()
        chosen = tuple(c.value for c in question.choices if c.value in given and not c.is_alone)
        return chosen if chosen and set(chosen) == set(given) else None
    if len(given) != 1:
        return None
    (text,) = given
    if question.kind == "one":
        if text not in offered:
            return None
        return float(text) if question.dimension.measurement == "interval" else text
    return _within(question.dimension, text)


def _within(dimension: Dimension, text: str) -> float | None:
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return None
    low, high = dimension.range or (-math.inf, math.inf)
    return value if low <= value <= high else None


def _sent(value: LabelValue) -> list[str]:
    if isinstance(value, tuple):
        return label_list(value)
    return [value] if isinstance(value, str) else [repr(float(value))]
