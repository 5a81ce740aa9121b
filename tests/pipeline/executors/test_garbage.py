"""Garbage is collected rarely while a run goes on, and as before when it is over."""

from __future__ import annotations

import gc

import pytest

from pipeline.executors.garbage import rare_collections


def collections_among(objects: int) -> int:
    """Return how often the young are searched for garbage while so many objects come to be."""
    before = gc.get_stats()[0]["collections"]
    kept = [[] for _ in range(objects)]
    assert len(kept) == objects
    return gc.get_stats()[0]["collections"] - before


def test_collections_are_rare_inside_and_as_before_outside() -> None:
    usual = collections_among(20_000)
    assert usual > 5
    with rare_collections():
        assert collections_among(20_000) <= 1
    assert collections_among(20_000) > 5


def test_an_error_inside_leaves_the_settings_as_they_were() -> None:
    before = gc.get_threshold()
    with pytest.raises(ZeroDivisionError), rare_collections():
        raise ZeroDivisionError
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
