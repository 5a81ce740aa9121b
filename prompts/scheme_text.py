"""A scheme as plain data for templates: its dimensions, and its rules as sentences.

Templates may be the user's own, so they get tuples and strings, and no model with methods.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from typing import Final

from scenarios.schemes.dimension import ROLE
from scenarios.schemes.model import Dimension, Label, Scheme
from scenarios.schemes.vocabulary import label_list, takes_none
from scenarios.terms import LabelValue


@dataclass(frozen=True, slots=True)
class LabelText:
    """One label as it is explained to a model."""

    id: str
    definition: str
    example: str


@dataclass(frozen=True, slots=True)
class ContrastText:
    """A line that is easily mislabelled, as it is explained to a reader."""

    text: str
    label: str
    rival: str
    because: str


@dataclass(frozen=True, slots=True)
class DimensionText:
    """One dimension as it is explained to a model."""

    id: str
    title: str
    question: str
    form: str
    """How it is answered: one label, a number in a range, several labels."""
    labels: tuple[LabelText, ...]
    look_at: str
    """Which part of what was said the steps are about."""
    steps: tuple[tuple[str, str], ...]
    """(what has to hold, the label it leads to), in order."""
    contrast: tuple[ContrastText, ...]


@dataclass(frozen=True, slots=True)
class SchemeText:
    """What prompts say about a scheme."""

    goal: DimensionText | None
    """The assigned dimension; None of a speaker where nothing is assigned."""
    dimensions: tuple[DimensionText, ...]
    """The utterance dimensions, or those that a speaker declares, in the scheme's order."""
    rules: tuple[str, ...]
    """One sentence per contradiction and requirement, each followed by its reason."""
    terms: tuple[tuple[str, str], ...]
    """(word, what it means in the steps)."""
    conventions: tuple[str, ...]
    """Rules for whoever speaks or labels."""


def scheme_text(scheme: Scheme) -> SchemeText:
    """Return the plain text of a scheme."""
    return SchemeText(
        goal=dimension_text(scheme.goal),
        dimensions=tuple(map(dimension_text, scheme.utterance_dimensions)),
        rules=scheme_rules(scheme),
        terms=tuple(scheme.terms.items()),
        conventions=scheme.conventions,
    )


def reader_text(scheme: Scheme, dimensions: Iterable[Dimension]) -> dict[str, object]:
    """Return what templates tell a reader of the dimensions it is asked about, in the words they use."""
    asked = tuple(map(dimension_text, dimensions))
    return {
        "dimensions": asked,
        "terms": _terms_in(scheme, "\n".join(_texts((*map(astuple, asked), scheme.conventions)))),
        "conventions": scheme.conventions,
    }


def _texts(told: object) -> Iterator[str]:
    """Yield every text in tuples of tuples."""
    if isinstance(told, str):
        yield told
    elif isinstance(told, tuple):
        for part in told:
            yield from _texts(part)


def _terms_in(scheme: Scheme, told: str) -> tuple[tuple[str, str], ...]:
    """Return the terms that a text uses, or that the meaning of one of these uses.

    A term may be inflected where it is used: each of its words is looked for without its last letters.
    """
    used: dict[str, str] = {}
    while found := {
        term: meaning
        for term, meaning in scheme.terms.items()
        if term not in used
        and all(w[: max(4, len(w) - 2)] in told.casefold() for w in term.casefold().split())
    }:
        used |= found
        told = " ".join(found.values())
    return tuple((term, meaning) for term, meaning in scheme.terms.items() if term in used)


def dimension_text(dimension: Dimension) -> DimensionText:
    """Return the plain text of one dimension."""
    return DimensionText(
        id=dimension.id,
        title=dimension.title or dimension.id,
        question=dimension.question,
        form=f"{_only_where(dimension.when)}{_form(dimension)}",
        labels=tuple(
            LabelText(label.id, f"{label.definition}{_goes_with(label)}", label.example)
            for label in dimension.labels
        ),
        look_at=dimension.look_at,
        steps=tuple((step.when, step.label) for step in dimension.steps),
        contrast=tuple(
            ContrastText(line.text, line.label, line.rival, line.because)
            for line in dimension.contrast
        ),
    )


def scheme_rules(
    scheme: Scheme, subject: str = "the RESPONDER says after the opening"
) -> tuple[str, ...]:
    """Return one sentence per contradiction and requirement, each with its reason.

    Args:
        scheme: the labels.
        subject: whose words a requirement is about, to follow "one thing".
    """
    never = [
        f"Never in one utterance: {_together(c.labels)}. {c.reason}" for c in scheme.contradictions
    ]
    must = [
        f"Under {_together(r.when)}, at least one thing {subject} has "
        f"{_together(r.some_turn)}. {r.reason}"
        for r in scheme.requirements
    ]
    return (*never, *must)


BAR: Final = " | "
"""Between several labels at once."""


def label_text(value: LabelValue) -> str:
    """Return a label as prompts write it: several are joined by a bar, numbers are short."""
    if isinstance(value, tuple):
        return BAR.join(label_list(value))
    return value if isinstance(value, str) else f"{value:g}"


def _form(dimension: Dimension) -> str:
    if dimension.measurement == "interval" and dimension.range is not None:
        low, high = dimension.range
        named = zip(dimension.point_values, dimension.anchors, strict=False)
        points = ", ".join(f"{round(point, 2):g} {anchor}" for point, anchor in named)
        return f"A number from {low:g} to {high:g}{f': {points}' if points else ''}."
    of_none = "; an empty list where none does" if takes_none(dimension) else ""
    return {
        "ordinal": "One of these, from the lowest to the highest:",
        "multi": f"As many of these as apply, in one list{of_none}:",
    }.get(dimension.measurement, "One of these:")


def _only_where(conditions: Mapping[str, tuple[str, ...]]) -> str:
    """Return where a dimension is asked, as the beginning of its form; nothing where always."""
    if not conditions:
        return ""
    return f"Only where there is {_together(conditions)}; otherwise the answer is null. "


def _goes_with(label: Label) -> str:
    """Return beside which other labels one can be chosen; nothing where beside all."""
    beside = {name: values for name, values in label.applies.items() if name != ROLE}
    return f" Only with {_together(beside)}." if beside else ""


def _together(labels: Mapping[str, tuple[str, ...]]) -> str:
    """Return ``goal "A" together with veracity "B", "C" or "D"``."""
    return " together with ".join(
        f"{dimension} {either(values)}" for dimension, values in labels.items()
    )


def either(labels: tuple[str, ...]) -> str:
    """Return ``"A", "B" or "C"``."""
    *others, last = [f'"{label}"' for label in labels]
    return f"{', '.join(others)} or {last}" if others else last
