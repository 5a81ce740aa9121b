"""The planted defects: each kind finds dialogues to stand in, and what is counted over clean ones."""

from __future__ import annotations

from random import Random

import pytest

from benchmarks.defects import KINDS, Garden, plant
from benchmarks.planted_defects import MOST_FLAGGED, clean_dialogues, flagged_rows
from scenarios.catalogue import Catalogue
from scenarios.schemes.registry import load_scheme


@pytest.fixture(scope="module")
def clean():
    return clean_dialogues(124)


@pytest.mark.parametrize("kind", KINDS)
def test_a_defect_of_every_kind_can_be_planted_into_dialogues_of_any_length(clean, kind):
    garden = Garden(load_scheme("hipo"), Catalogue.load().scenarios, clean, Random(5))
    assert len(plant(garden, kind, 3)) == 3


def test_the_offline_judge_leaves_most_clean_dialogues_of_the_rules_alone(clean):
    flagged = flagged_rows("free", clean)[0]
    assert flagged.value <= MOST_FLAGGED
