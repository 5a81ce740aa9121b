"""Small tables of answers, and strategies that draw them."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from quality.agreement.annotations import Answer
from scenarios.schemes.model import Dimension, Label
from scenarios.terms import LabelValue

LABELS = ("a", "b", "c", "d")


def dimension(measurement: str, name: str = "d") -> Dimension:
    """Return a dimension of the given measurement with four labels, or a scale from -1 to 1."""
    if measurement == "interval":
        return Dimension(
            id=name, level="utterance", measurement="interval", question="How much?", range=(-1, 1)
        )
    return Dimension(
        id=name,
        level="utterance",
        measurement=measurement,
        question="Which?",
        labels=tuple(Label(id=label, definition="A label.") for label in LABELS),
    )


def table(rows: Sequence[Sequence[LabelValue | None]], name: str = "d") -> list[Answer]:
    """Turn rows (items) of cells (annotators) into answers; None is missing."""
    return [
        Answer(f"item {i:03}", name, f"annotator {j}", value)
        for i, row in enumerate(rows)
        for j, value in enumerate(row)
        if value is not None
    ]


@st.composite
def tables(draw: st.DrawFn, measurement: str, *, gaps: bool = True, fewest: int = 2):
    """Draw 2-8 items answered by 2-4 annotators, some answers missing."""
    annotators = draw(st.integers(2, 4))
    if measurement == "interval":
        value = st.integers(-3, 3).map(lambda i: i / 3)
    elif measurement == "multi":
        value = st.lists(st.sampled_from(LABELS), unique=True, min_size=1, max_size=3).map(tuple)
    else:
        value = st.sampled_from(LABELS)
    cell = st.none() | value if gaps else value
    row = st.lists(cell, min_size=annotators, max_size=annotators)
    return draw(st.lists(row, min_size=fewest, max_size=8))
