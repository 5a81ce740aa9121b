"""Garbage collection for code that makes many objects and few cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG_OBJECTS = 50_000
"""New objects between two collections of the young; Python's default is some hundreds."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Leave what exists already out of garbage collections, and collect the rest rarely.

    With Python's defaults about a tenth of the processor time of a run's calls, and a quarter of
    that of an export, went into looking for garbage. The settings are put back at the end; where
    a program has left something out itself, that alone stays out, as nothing can be put back singly.
    """
    before = gc.get_threshold()
    is_ours = gc.get_freeze_count() == 0
    if is_ours:
        gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if is_ours:
            gc.unfreeze()
