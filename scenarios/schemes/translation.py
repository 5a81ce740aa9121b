"""A scheme in another language: what labels are called and what they mean, for people to read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field

from scenarios.errors import InputError
from scenarios.plural import plural
from scenarios.schemes.dimension import Dimension, Identifier
from scenarios.schemes.model import Scheme
from scenarios.strict import Strict
from scenarios.yaml_source import read_yaml, validate_model

SHIPPED = Path(__file__).parent / "languages"
Words = Annotated[str, Field(min_length=1)]


class TranslatedTerm(Strict):
    """A word of the procedures, and what it means."""

    term: Words
    meaning: Words


class TranslatedLabel(Strict):
    """A label as people of another language read it; in data it keeps its id."""

    name: Words
    definition: Words
    example: str = ""
    aliases: tuple[Words, ...] = ()
    """Other names that are understood where answers are read."""


class TranslatedContrast(Strict):
    """A line that is easily mislabelled, and what decides."""

    text: Words
    because: Words


class TranslatedDimension(Strict):
    """One question; steps, lines and anchors stand in the order of the scheme."""

    title: Words
    question: Words
    look_at: str = ""
    labels: dict[str, TranslatedLabel] = Field(default_factory=dict)
    steps: tuple[Words, ...] = ()
    contrast: tuple[TranslatedContrast, ...] = ()
    anchors: tuple[Words, ...] = ()


class SchemeTranslation(Strict):
    """All texts of one version of a scheme in another language."""

    scheme: Identifier
    version: int
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]+)*$")]
    """BCP 47, e.g. ``zh``."""
    title: Words
    description: str = ""
    terms: dict[str, TranslatedTerm] = Field(default_factory=dict)
    conventions: tuple[Words, ...] = ()
    dimensions: dict[Identifier, TranslatedDimension]
    reasons: tuple[Words, ...] = ()
    """Of contradictions, then of requirements, then of what one person hardly says at once."""
    ties: tuple[Words, ...] = ()

    def label(self, dimension_id: str, label_id: str) -> str:
        """Return what a label is called; empty where it is not translated."""
        dimension = self.dimensions.get(dimension_id)
        found = None if dimension is None else dimension.labels.get(label_id)
        return "" if found is None else found.name


def read_translation(path: Path, scheme: Scheme) -> SchemeTranslation:
    """Read the translation of a scheme from a YAML file.

    Raises:
        InputError: the file is none, or it is of another scheme or version, or its parts are not
            those of the scheme: all that is missing or too much is named.
    """
    source = read_yaml(path)
    translation = validate_model(SchemeTranslation, source)
    if (translation.scheme, translation.version) != (scheme.id, scheme.version):
        found = f"{translation.scheme}@{translation.version}"
        raise InputError([source.problem(("scheme",), found=found, expected=scheme.name)])
    problems = [
        source.problem(where, found=found, expected=expected)
        for where, found, expected in _differences(scheme, translation)
    ]
    if problems:
        raise InputError(problems)
    return translation


@cache
def shipped_translations() -> tuple[SchemeTranslation, ...]:
    """Return the translations that ship, sorted by language and scheme."""
    paths = sorted(SHIPPED.glob("*/*.yaml"))
    return tuple(validate_model(SchemeTranslation, read_yaml(path)) for path in paths)


def shipped_translation(scheme: Scheme, language: str) -> SchemeTranslation | None:
    """Return the translation of a scheme that ships, if there is one and its parts are the same."""
    for one in shipped_translations():
        if (one.scheme, one.version, one.language) == (scheme.id, scheme.version, language):
            return None if next(_differences(scheme, one), None) else one
    return None


def text_pairs(scheme: Scheme, translation: SchemeTranslation) -> dict[str, str]:
    """Return every text of a scheme, apart from the names of labels, with its translation."""
    pairs = {scheme.title: translation.title, scheme.description: translation.description}
    for term, meaning in scheme.terms.items():
        pairs |= {term: translation.terms[term].term, meaning: translation.terms[term].meaning}
    pairs |= dict(zip(scheme.conventions, translation.conventions, strict=True))
    pairs |= dict(zip(_reasons(scheme), translation.reasons, strict=True))
    pairs |= dict(zip(scheme.ties, translation.ties, strict=True))
    for dimension in scheme.dimensions:
        pairs |= _dimension_pairs(dimension, translation.dimensions[dimension.id])
    return {text: into for text, into in pairs.items() if text and into}


def label_names(dimension: Dimension) -> Mapping[str, tuple[str, ...]]:
    """Return what the labels of a dimension are called in any language that ships, by label.

    A dimension is known by its id and its labels, whichever scheme it is part of.
    """
    names: defaultdict[str, list[str]] = defaultdict(list)
    for translation in shipped_translations():
        translated = translation.dimensions.get(dimension.id)
        if translated is None or not translated.labels.keys() >= set(dimension.values):
            continue
        for value in dimension.values:
            label = translated.labels[value]
            names[value] += [n for n in (label.name, *label.aliases) if n not in names[value]]
    return {value: tuple(found) for value, found in names.items()}


def _dimension_pairs(dimension: Dimension, into: TranslatedDimension) -> dict[str, str]:
    pairs = {dimension.title: into.title, dimension.question: into.question}
    pairs[dimension.look_at] = into.look_at
    for label in dimension.labels:
        translated = into.labels[label.id]
        pairs |= {label.definition: translated.definition, label.example: translated.example}
    pairs |= {step.when: text for step, text in zip(dimension.steps, into.steps, strict=True)}
    for line, other in zip(dimension.contrast, into.contrast, strict=True):
        pairs |= {line.text: other.text, line.because: other.because}
    return pairs | dict(zip(dimension.anchors, into.anchors, strict=True))


def _reasons(scheme: Scheme) -> list[str]:
    found = [rule.reason for rule in scheme.contradictions]
    found += [rule.reason for rule in scheme.requirements]
    return found + [rule.reason for rule in scheme.self_contradictions]


_Difference = tuple[tuple[str, ...], str, str]
"""Where in the file, what was found there, what was expected."""


def _differences(scheme: Scheme, translation: SchemeTranslation) -> Iterator[_Difference]:
    """Yield what the parts of a translation do not share with those of the scheme."""
    yield from _keys((), "terms", scheme.terms, translation.terms)
    for name, texts, into in (
        ("conventions", scheme.conventions, translation.conventions),
        ("reasons", _reasons(scheme), translation.reasons),
        ("ties", scheme.ties, translation.ties),
    ):
        yield from _counts((name,), len(texts), len(into))
    known = {dimension.id: dimension for dimension in scheme.dimensions}
    yield from _keys((), "dimensions", known, translation.dimensions)
    for name, dimension in known.items():
        translated = translation.dimensions.get(name)
        if translated is not None:
            yield from _dimension_differences(dimension, translated)


def _dimension_differences(
    dimension: Dimension, translated: TranslatedDimension
) -> Iterator[_Difference]:
    at = ("dimensions", dimension.id)
    labels = {label.id: label for label in dimension.labels}
    yield from _keys(at, "labels", labels, translated.labels)
    if bool(dimension.look_at) != bool(translated.look_at):
        yield (*at, "look_at"), repr(translated.look_at), f"a translation of {dimension.look_at!r}"
    for label, into in translated.labels.items():
        if label in labels and bool(labels[label].example) != bool(into.example):
            expected = f"a translation of {labels[label].example!r}"
            yield (*at, "labels", label, "example"), repr(into.example), expected
    for name, count, found in (
        ("steps", len(dimension.steps), len(translated.steps)),
        ("contrast", len(dimension.contrast), len(translated.contrast)),
        ("anchors", len(dimension.anchors), len(translated.anchors)),
    ):
        yield from _counts((*at, name), count, found)


def _keys(
    at: tuple[str, ...], field: str, expected: Mapping[str, object], found: Mapping[str, object]
) -> Iterator[_Difference]:
    for name in expected:
        if name not in found:
            yield (*at, field), f"nothing for {name!r}", "a translation of each"
    for name in found:
        if name not in expected:
            yield (*at, field, name), repr(name), f"one of {', '.join(expected) or 'none'}"


def _counts(at: tuple[str, ...], expected: int, found: int) -> Iterator[_Difference]:
    if expected != found:
        yield at, plural(found, "text"), f"{expected}, in the order of the scheme"
