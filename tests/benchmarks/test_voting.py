"""The voting benchmark tells a changed choice from one between candidates that are as good."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.voting import same_choices

CLEAR = [[1.0, 0.0], [1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]
ALIKE = [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]


def vectors(*votes):
    return np.array([row for candidates in votes for row in candidates], np.float32)


def test_the_same_embeddings_elect_the_same():
    assert same_choices(vectors(CLEAR, ALIKE), vectors(CLEAR, ALIKE)) == (1.0, 1.0)


def test_another_winner_counts_as_near_only_where_scores_tie():
    # turned round, the last candidate of either vote is the odd one out or the first of equals
    other = vectors([[0.0, 1.0], [0.8, 0.6], [1.0, 0.0], [1.0, 0.0]], ALIKE)
    same, near = same_choices(vectors(CLEAR, ALIKE), other)
    assert same < 1.0
    tied = vectors([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    assert same_choices(vectors(ALIKE), tied) == (0.0, 1.0)
    assert near == pytest.approx(same)
