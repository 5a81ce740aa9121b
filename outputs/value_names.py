"""The countable values of a dimension: labels by name, numbers by equal ranges."""

from __future__ import annotations

from functools import lru_cache

from quality.tables.header import SEPARATOR
from scenarios.schemes.model import Dimension
from scenarios.schemes.vocabulary import label_list
from scenarios.terms import LabelValue

RANGES = 10
"""Into how many equal ranges the numbers of an interval dimension fall."""


def value_names(dimension: Dimension) -> tuple[str, ...]:
    """Return what the values of a dimension are counted under, in its order, lowest first."""
    return dimension.values or ranges(dimension.range)


def names_of(dimension: Dimension, value: LabelValue) -> tuple[str, ...]:
    """Return what one value counts under: several labels at once count each, a number its range.

    The top range holds its end; a number outside the dimension's range counts at the nearer end.
    """
    if isinstance(value, str):
        return (value,)
    if isinstance(value, tuple):
        return value
    if dimension.range is None:
        return ()
    low, high = dimension.range
    place = int((value - low) / (high - low) * RANGES)
    return (ranges(dimension.range)[min(max(place, 0), RANGES - 1)],)


def label_text(value: LabelValue | None) -> str | None:
    """Return a value as one text, several labels joined, numbers without needless digits."""
    if isinstance(value, tuple):
        return SEPARATOR.join(label_list(value))
    return value if value is None or isinstance(value, str) else f"{value:g}"


@lru_cache(maxsize=64)
def ranges(of: tuple[float, float] | None) -> tuple[str, ...]:
    """Return the names of the ``RANGES`` equal parts of a range; none of none."""
    if of is None:
        return ()
    low, high = of
    edges = [low + (high - low) * i / RANGES for i in range(RANGES + 1)]
    return tuple(f"{edges[i]:g} to {edges[i + 1]:g}" for i in range(RANGES))
