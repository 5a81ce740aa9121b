"""Krippendorff's alpha: his own worked examples, and another implementation of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quality.agreement.agreement import STATISTICS_BY_MEASUREMENT
from quality.agreement.coefficients import krippendorff_alpha
from quality.agreement.ratings import Ratings, ratings
from scenarios.schemes.model import Dimension, Label
from tests.quality.stats_tables import dimension, table, tables

FOUR_OBSERVERS = """
    1 2 3 3 2 1 4 1 2 . . .
    1 2 3 3 2 2 4 1 2 5 . 3
    . 3 3 3 2 3 4 2 2 5 1 .
    1 2 3 3 2 4 4 1 2 5 1 .
"""
"""Krippendorff 2011, "Computing Krippendorff's alpha-reliability", section C: 4 observers, 12 units."""
TWO_OBSERVERS = """
    a a b b d c c c e d d a
    b a b b b c c c e d d d
"""
"""The same paper, section B: two observers, nominal data."""


def rated(text: str, measurement: str) -> Ratings:
    """Return a table of the paper, whose rows are observers and where a dot is a missing answer."""
    rows = list(zip(*(line.split() for line in text.strip().splitlines()), strict=True))
    if measurement == "interval":
        scale = dimension("interval").model_copy(update={"range": (0.0, 9.0)})
        return ratings(
            scale, table([[None if cell == "." else float(cell) for cell in row] for row in rows])
        )
    names = sorted({cell for row in rows for cell in row} - {"."})
    labels = tuple(Label(id=name, definition="A label.") for name in names)
    asked: Dimension = dimension(measurement).model_copy(update={"labels": labels})
    return ratings(asked, table([[None if cell == "." else cell for cell in row] for row in rows]))


@pytest.mark.parametrize(
    ("text", "measurement", "published"),
    [
        (TWO_OBSERVERS, "nominal", 0.692),
        (FOUR_OBSERVERS, "nominal", 0.743),
        (FOUR_OBSERVERS, "ordinal", 0.815),
        (FOUR_OBSERVERS, "interval", 0.849),
    ],
)
def test_alpha_is_what_krippendorff_published(
    text: str, measurement: str, published: float
) -> None:
    found = krippendorff_alpha(rated(text, measurement))
    assert found is not None
    assert round(found, 3) == published


@pytest.mark.slow
@pytest.mark.parametrize("measurement", STATISTICS_BY_MEASUREMENT)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_alpha_equals_another_implementation_for_any_answers(
    measurement: str, data: st.DataObject
) -> None:
    import krippendorff  # noqa: PLC0415 - of the full environment alone

    found = ratings(dimension(measurement), table(data.draw(tables(measurement))))
    codes = found.codes[found.answered >= 2]
    if len(np.unique(codes[np.isfinite(codes)])) < 2:
        assert krippendorff_alpha(found) is None
        return
    level = "nominal" if measurement == "multi" else measurement
    expected = krippendorff.alpha(reliability_data=codes.T, level_of_measurement=level)
    assert krippendorff_alpha(found) == pytest.approx(expected, abs=1e-9)
