"""Collect garbage rarely while a great many short-lived objects come and go."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG_OBJECTS = 50_000
"""New objects between two collections of the young; Python's default is some hundreds."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Leave out of collections what is there already, and collect the rest rarely.

    A run's calls make few cycles and many objects: with Python's defaults about a tenth of the
    processor time went into looking for garbage. Settings are put back at the end.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
