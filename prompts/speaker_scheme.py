"""A scheme as a speaker of a flow is told of it: what it declares, and under which conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from prompts.scheme_text import (
    DimensionText,
    LabelText,
    SchemeText,
    dimension_text,
    either,
    scheme_rules,
)
from scenarios.schemes.dimension import ROLE
from scenarios.schemes.model import Dimension, Scheme
from scenarios.schemes.spoken import spoken_dimensions
from scenarios.terms import RoleKey

NOT_APPLICABLE: Final = "does not apply"
"""The answer for a dimension whose condition does not hold."""


def speaker_scheme(scheme: Scheme, role: RoleKey) -> SchemeText:
    """Return what a role is told of a scheme."""
    dimensions = spoken_dimensions(scheme, role)
    return SchemeText(
        goal=dimension_text(scheme.goal) if scheme.assigned else None,
        dimensions=tuple(map(_told, dimensions)),
        rules=scheme_rules(scheme, subject="you say in the conversation"),
        terms=tuple(scheme.terms.items()),
        conventions=scheme.conventions,
    )


def _told(dimension: Dimension) -> DimensionText:
    """Return a dimension with its conditions in words."""
    # Readers answer with nothing where a condition does not hold; who speaks says so in words.
    bare = [label.model_copy(update={"applies": {}}) for label in dimension.labels]
    text = dimension_text(dimension.model_copy(update={"when": {}, "labels": tuple(bare)}))
    question = text.question
    if dimension.when:
        question += f' Only where {_condition(dimension.when)}; else answer "{NOT_APPLICABLE}".'
    labels = tuple(
        _limited(told, {k: v for k, v in label.applies.items() if k != ROLE})
        for told, label in zip(text.labels, dimension.labels, strict=True)
    )
    return replace(text, question=question, labels=labels)


def _limited(label: LabelText, condition: Mapping[str, tuple[str, ...]]) -> LabelText:
    if not condition:
        return label
    return replace(label, definition=f"{label.definition} (Only where {_condition(condition)}.)")


def _condition(condition: Mapping[str, tuple[str, ...]]) -> str:
    return " and ".join(f"{name} is {either(labels)}" for name, labels in condition.items())
