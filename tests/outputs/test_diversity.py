from collections import Counter
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from outputs.diversity import (
    CHUNK,
    distinct_n,
    embedding_spread,
    measure,
    repeated_share,
    self_bleu,
)

word = st.sampled_from("abcd")
text = st.lists(word, min_size=1, max_size=9)


def grams(tokens, n):
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def bleu(own, others):
    """BLEU as it is defined: every count is clipped by the largest in any reference."""
    logs = []
    for n in range(1, 5):
        mine = grams(own, n)
        if not mine:
            break
        references = [grams(other, n) for other in others]
        hits = sum(min(c, max(r[g] for r in references)) for g, c in mine.items())
        logs.append(log(max(hits, 0.5) / mine.total()))
    nearest = min((abs(len(o) - len(own)), len(o)) for o in others)[1]
    return exp(min(0.0, 1 - nearest / len(own)) + sum(logs) / len(logs))


@settings(deadline=None)
@given(st.lists(text, min_size=2, max_size=7))
def test_self_bleu_equals_comparing_every_text_with_all_others(texts):
    expected = [bleu(t, texts[:i] + texts[i + 1 :]) for i, t in enumerate(texts)]
    assert self_bleu(texts) == pytest.approx(sum(expected) / len(expected))


def test_self_bleu_is_one_where_all_say_the_same_and_low_where_nobody_does():
    assert self_bleu([["a", "b", "c", "d", "e"]] * 3) == pytest.approx(1.0)
    apart = [[f"{i}-{j}" for j in range(6)] for i in range(4)]
    assert self_bleu(apart) < 0.15


def test_measures_of_too_little_are_undefined():
    assert self_bleu([["a"]]) is None
    assert distinct_n([[]], 1) is None
    assert embedding_spread(np.ones((1, 3), np.float32)) is None
    assert repeated_share([]) is None


def test_distinct_counts_different_n_grams_among_all():
    texts = [["a", "b", "a"], ["a", "b"]]
    assert distinct_n(texts, 1) == 2 / 5
    assert distinct_n(texts, 2) == 2 / 3
    assert repeated_share([["a"], ["a"], ["b"], ["c"]]) == 0.5


@settings(deadline=None)
@given(arrays(np.float64, st.tuples(st.integers(2, 8), st.just(5)), elements=st.floats(0.1, 1)))
def test_spread_is_the_mean_cosine_distance_of_pairs(x):
    x = (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32)
    n = len(x)
    pairs = [1 - float(x[i].astype(float) @ x[j]) for i in range(n) for j in range(n) if i != j]
    assert embedding_spread(x) == pytest.approx(sum(pairs) / len(pairs), abs=1e-5)


class Letters:
    """Embeds a text as what its first letter is."""

    def __init__(self):
        self.sizes = []

    async def encode(self, texts):
        self.sizes.append(len(texts))
        return np.array([[1, 0] if t[0] == "a" else [0, 1] for t in texts], np.float32)


@pytest.mark.anyio
async def test_texts_are_embedded_in_pieces_and_measured_together():
    encoder = Letters()
    found = await measure(["a one", "b two"] * CHUNK, encoder)
    n = 2 * CHUNK
    assert encoder.sizes == [CHUNK, CHUNK]
    assert found.texts == n
    assert found.spread == pytest.approx((n / 2) / (n - 1))
    assert found.repeated == 1.0


@pytest.mark.anyio
async def test_without_an_encoder_everything_else_is_measured():
    found = await measure(["It ran well.", "It never ran."])
    assert found.spread is None
    assert found.distinct[0] == pytest.approx(4 / 6)
    assert found.self_bleu is not None
