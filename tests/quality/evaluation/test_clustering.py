"""Figures of many groups of answers at once, and what computing them holds."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from quality.evaluation.clustering import Clusters, resampled
from quality.statistics.bootstrap import Resampling

ANSWERS, GROUPS, FEATURES = 2_000, 40, 20
QUICK = Resampling(resamples=20)


def sample():
    rng = np.random.default_rng(0)
    features = rng.random((ANSWERS, FEATURES))
    groups = rng.random((ANSWERS, GROUPS)) < 0.5
    cases = np.arange(ANSWERS) // 20
    return features, groups, Clusters(np.arange(ANSWERS), cases, cases // 10)


def all_sums(sums):
    return sums.reshape(len(sums), -1)


def test_each_group_has_the_sums_of_its_own_answers():
    features, groups, clusters = sample()
    found = resampled(features, all_sums, clusters, groups=groups, how=QUICK)
    sums = np.einsum("ag,af->gf", groups, features)
    assert found.values == pytest.approx(sums.ravel())
    alone = resampled(features * groups[:, 3:4], all_sums, clusters, how=QUICK)
    mine = slice(3 * FEATURES, 4 * FEATURES)
    assert found.by_case[:, mine] == pytest.approx(alone.by_case)
    assert found.by_scenario[:, mine] == pytest.approx(alone.by_scenario)


def test_features_of_every_answer_in_every_group_are_never_there_at_once():
    features, groups, clusters = sample()
    tracemalloc.start()
    resampled(features, all_sums, clusters, groups=groups, how=QUICK)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < features.nbytes * GROUPS / 2
