from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipeline.voting import consistency_scores, vote


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


class CountingEncoder:
    """Embeds a text as its letter counts, and remembers what it was asked."""

    def __init__(self):
        self.asked = []

    async def encode(self, texts):
        self.asked += texts
        counts = [[text.count(letter) + 1e-3 for letter in "abc"] for text in texts]
        return unit(np.array(counts)).astype(np.float32)


vectors = arrays(
    np.float64, st.tuples(st.integers(2, 8), st.just(6)), elements=st.floats(-1, 1, width=32)
)


@given(vectors)
def test_scores_equal_the_mean_pairwise_similarity_of_the_paper(x):
    assume((np.linalg.norm(x, axis=1) > 0.01).all())
    x = unit(x).astype(np.float32)
    k = len(x)
    exact = unit(x.astype(np.float64))
    pairwise = [
        sum(float(exact[i] @ exact[j]) for j in range(k) if j != i) / (k - 1) for i in range(k)
    ]
    assert consistency_scores(x) == pytest.approx(np.array(pairwise), abs=1e-6)


@given(vectors, st.integers(0, 2**32 - 1))
def test_errors_of_single_precision_change_neither_scores_nor_winner(x, seed):
    assume((np.linalg.norm(x, axis=1) > 0.01).all())
    x = unit(x)
    noise = np.random.default_rng(seed).uniform(-2e-7, 2e-7, x.shape)
    clean, noisy = consistency_scores(x.astype(np.float32)), consistency_scores(x + noise)
    assert noisy == pytest.approx(clean, abs=5e-6)
    winner = clean.argmax()
    assert clean[noisy.argmax()] >= clean[winner] - 5e-6


def test_rows_a_little_off_unit_length_are_scored_as_directions():
    x = unit(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]]))
    scale = np.array([[1.01], [0.99], [1.004]])
    assert consistency_scores(x * scale).tolist() == consistency_scores(x).tolist()


def test_one_candidate_is_refused_by_name():
    with pytest.raises(ValueError, match="at least 2 candidates, got 1"):
        consistency_scores(np.ones((1, 3), np.float32))


@pytest.mark.anyio
async def test_the_odd_one_out_loses_and_repeats_are_embedded_once():
    encoder = CountingEncoder()
    result = await vote(["aab", "ccc", "aab", "aaab"], encoder)
    assert encoder.asked == ["aab", "ccc", "aaab"]
    assert result.winner == 0
    assert min(result.scores) == result.scores[1]


@pytest.mark.anyio
async def test_of_equally_good_candidates_the_first_is_elected():
    assert (await vote(["b", "a", "a", "b"], CountingEncoder())).winner == 0
    assert (await vote(["c", "ab", "ba", "ab"], CountingEncoder())).winner == 1


@pytest.mark.anyio
async def test_a_candidate_without_text_counts_for_nobody():
    encoder = CountingEncoder()
    whole = await vote(["ccc", "aab", "aaab"], CountingEncoder())
    result = await vote([None, "ccc", None, "aab", "aaab"], encoder)
    assert result.scores == (None, whole.scores[0], None, *whole.scores[1:])
    assert result.winner == (3 if whole.winner == 1 else 4)
    assert encoder.asked == ["ccc", "aab", "aaab"]


@pytest.mark.anyio
async def test_fewer_than_two_texts_cannot_vote():
    with pytest.raises(ValueError, match="at least 2 candidates, got 1"):
        await vote([None, "a", None], CountingEncoder())
