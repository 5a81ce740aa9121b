from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipeline.voting import consistency_scores, scores_on_device, vote
from tests.letter_encoder import LetterEncoder


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


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


@given(st.integers(1, 5), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_many_votes_are_scored_in_one_expression_as_one_by_one_here_and_on_a_device(n, k, seed):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(seed)
    rows = unit(rng.normal(size=(9, 6))).astype(np.float32)
    votes = rng.integers(0, 9, (n, k))
    single = [consistency_scores(rows[one]).tolist() for one in votes]
    assert consistency_scores(rows[votes]).tolist() == single
    on_device = scores_on_device(torch.from_numpy(rows), votes)
    assert on_device == pytest.approx(np.array(single), abs=1.1e-6)
    assert (on_device.argmax(axis=1) == np.array(single).argmax(axis=1)).all()


@pytest.mark.anyio
async def test_the_odd_one_out_loses_and_repeats_count_as_often_as_they_were_said():
    result = await vote(["aab", "ccc", "aab", "aaab"], LetterEncoder())
    assert result.winner == 0
    assert min(result.scores) == result.scores[1]


@pytest.mark.anyio
async def test_of_equally_good_candidates_the_first_is_elected():
    assert (await vote(["b", "a", "a", "b"], LetterEncoder())).winner == 0
    assert (await vote(["c", "ab", "ba", "ab"], LetterEncoder())).winner == 1


@pytest.mark.anyio
async def test_a_candidate_without_text_counts_for_nobody():
    encoder = LetterEncoder()
    whole = await vote(["ccc", "aab", "aaab"], LetterEncoder())
    result = await vote([None, "ccc", None, "aab", "aaab"], encoder)
    assert result.scores == (None, whole.scores[0], None, *whole.scores[1:])
    assert result.winner == (3 if whole.winner == 1 else 4)
    assert encoder.asked == ["ccc", "aab", "aaab"]


@pytest.mark.anyio
async def test_fewer_than_two_texts_cannot_vote():
    with pytest.raises(ValueError, match="at least 2 candidates, got 1"):
        await vote([None, "a", None], LetterEncoder())
