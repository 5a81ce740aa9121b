"""Garbage is collected rarely while a run goes on, and as before when it is over."""

from __future__ import annotations

import gc

import pytest

from pipeline.executors.garbage import YOUNG_OBJECTS, rare_collections


def test_collections_are_rare_inside_and_as_before_outside():
    before = gc.get_threshold()
    with rare_collections():
        assert gc.get_threshold() == (YOUNG_OBJECTS, *before[1:])
        assert gc.get_freeze_count() > 0
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def test_an_error_inside_leaves_the_settings_as_they_were():
    before = gc.get_threshold()
    with pytest.raises(ZeroDivisionError), rare_collections():
        raise ZeroDivisionError
    assert gc.get_threshold() == before
