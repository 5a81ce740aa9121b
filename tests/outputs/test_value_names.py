"""Numbers are counted by ranges, labels by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outputs.value_names import RANGES, names_of, value_names
from scenarios.schemes.model import Dimension, Label


def interval(low, high):
    return Dimension(
        id="scale", level="utterance", measurement="interval", question="?", range=(low, high)
    )


@given(st.integers(-50, 50), st.integers(1, 100), st.floats(0, 1))
def test_a_number_counts_in_the_range_that_holds_it(low, width, part):
    scale = interval(low, low + width)
    value = low + part * width
    (name,) = names_of(scale, value)
    assert name in value_names(scale)
    least, most = (float(edge) for edge in name.split(" to "))
    assert least - 1e-4 * width <= value <= most + 1e-4 * width


def test_ranges_are_distinct_and_in_order():
    names = value_names(interval(-1, 1))
    assert len(set(names)) == len(names) == RANGES
    assert (names[0], names[-1]) == ("-1 to -0.8", "0.8 to 1")


@pytest.mark.parametrize(("value", "place"), [(-7.0, 0), (-1.0, 0), (0.0, 5), (1.0, -1), (9.0, -1)])
def test_ends_and_what_lies_beyond_them_count_at_the_ends(value, place):
    scale = interval(-1, 1)
    assert names_of(scale, value) == (value_names(scale)[place],)


def test_several_labels_at_once_count_each():
    labels = tuple(Label(id=name, definition=name) for name in ("a", "b", "c"))
    several = Dimension(
        id="several", level="utterance", measurement="multi", question="?", labels=labels
    )
    assert value_names(several) == ("a", "b", "c")
    assert names_of(several, ("a", "c")) == ("a", "c")
    assert names_of(several, "b") == ("b",)
