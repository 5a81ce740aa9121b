"""A scheme of four feelings in a circle with a rating beside them, and answers on both."""

from __future__ import annotations

from collections.abc import Mapping

from quality.agreement.annotations import Answer
from scenarios.schemes.model import Dimension, Label, Scheme
from scenarios.terms import LabelValue

FEELING = Dimension(
    id="feeling",
    level="utterance",
    question="Which?",
    wheel=True,
    polarity_on="valence",
    labels=(
        Label(id="glad", definition="A.", polarity="positive", aliases=("merry",)),
        Label(id="startled", definition="A.", polarity="neutral"),
        Label(id="sad", definition="A.", polarity="negative"),
        Label(id="cross", definition="A.", polarity="negative"),
    ),
)
VALENCE = Dimension(
    id="valence", level="utterance", measurement="interval", question="How?", range=(-1, 1)
)
SCHEME = Scheme(
    id="feelings",
    title="Feelings",
    assigned="way",
    dimensions=(
        Dimension(
            id="way",
            level="dialogue",
            question="Which?",
            labels=(Label(id="plain", definition="A."), Label(id="crooked", definition="A.")),
        ),
        FEELING,
        VALENCE,
    ),
)


def said(
    labels: Mapping[str, str], ratings: Mapping[str, str] | None = None, *, name: str = "feeling"
) -> list[Answer]:
    """Return answers of Ada, Ben and Cy: item -> their labels (or ratings) with spaces between.

    A dash is no answer.
    """
    answers = [
        Answer(item, name, annotator, value)
        for item, row in labels.items()
        for annotator, value in zip(("Ada", "Ben", "Cy"), row.split(), strict=False)
        if value != "-"
    ]
    for item, row in (ratings or {}).items():
        answers += [
            Answer(item, "valence", annotator, _number(value))
            for annotator, value in zip(("Ada", "Ben", "Cy"), row.split(), strict=False)
            if value != "-"
        ]
    return answers


def _number(text: str) -> LabelValue:
    return float(text)
