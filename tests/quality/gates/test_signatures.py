"""Signatures of sets of texts: what they say of likeness, and which of them an index finds."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from quality.gates.signatures import (
    MOST_ALIKE,
    PERMUTATIONS,
    Signature,
    SignatureIndex,
    signature_of,
    signature_of_runs,
)
from scenarios.wording import stem

BANDS, ROWS = 16, 4


def made(texts: frozenset[str]) -> Signature:
    signature = signature_of(texts)
    assert signature is not None
    return signature


def test_a_signature_is_the_same_in_every_version_so_that_flags_stay():
    assert made(frozenset({"the old wing", "old wing was"}))[:4].tolist() == [
        2199298476,
        1500735108,
        2413414538,
        2170433720,
    ]


def test_a_set_of_nothing_has_no_signature():
    assert signature_of([]) is None


def made_of_runs(words: list[str], size: int = 3) -> Signature:
    signature = signature_of_runs(words, size)
    assert signature is not None
    return signature


def test_a_signature_of_runs_is_the_same_in_every_version_so_that_flags_stay():
    assert made_of_runs(["the", "old", "wing", "was", "repaired"])[:4].tolist() == [
        259317714,
        120426498,
        41799928,
        779947611,
    ]


@given(
    st.lists(
        st.sampled_from(("repair", "repaired", "wing", "was", "old")), min_size=1, max_size=12
    ),
    st.lists(
        st.sampled_from(("repair", "repaired", "wing", "was", "old")), min_size=1, max_size=12
    ),
    st.integers(1, 4),
)
def test_texts_have_one_signature_if_and_only_if_they_have_the_same_runs_of_stems(one, other, size):
    def runs(words: list[str]) -> frozenset[tuple[str, ...]]:
        stems, length = [stem(word) for word in words], min(size, len(words))
        return frozenset(tuple(stems[i : i + length]) for i in range(len(words) - length + 1))

    same = made_of_runs(one, size).tolist() == made_of_runs(other, size).tolist()
    assert same == (runs(one) == runs(other))


def test_the_order_within_a_run_counts():
    assert likeness(made_of_runs(["a1", "b1", "c1"]), made_of_runs(["c1", "b1", "a1"])) < 0.2


def test_no_words_have_no_signature_of_runs():
    assert signature_of_runs([], 3) is None


def test_of_many_that_are_alike_the_latest_are_compared_whatever_the_window_drops():
    index = SignatureIndex(BANDS, ROWS, 2 * MOST_ALIKE)
    repeated = made(frozenset({"the same again"}))
    for number in range(5 * MOST_ALIKE):
        index.add(repeated if number % 4 else made(frozenset({f"new {number}"})))
        found = [one for one, _ in index.alike(repeated, 1.0)]
        there = [one for one in range(index.oldest, number + 1) if one % 4]
        assert found == there[-MOST_ALIKE:]


def likeness(one: Signature, other: Signature) -> float:
    return sum(map(int.__eq__, one.tolist(), other.tolist())) / PERMUTATIONS


def test_likeness_is_near_the_share_of_texts_that_two_sets_have_in_common():
    numbers = [str(i) for i in range(3_000)]
    off = [
        abs(likeness(made(frozenset(numbers[:2_000])), made(frozenset(numbers[start:]))) - share)
        for start, share in ((0, 2 / 3), (1_000, 1 / 3), (2_000, 0.0))
    ]
    assert max(off) < 3 * (0.25 / PERMUTATIONS) ** 0.5


@settings(max_examples=30)
@given(
    st.lists(st.frozensets(st.integers(0, 30).map(str), min_size=1), min_size=1, max_size=20),
    st.integers(1, 20),
    st.sampled_from((0.0, 0.3, 1.0)),
)
def test_an_index_finds_what_shares_a_whole_band_among_the_latest_the_likeliest_first(
    sets, window, least
):
    index = SignatureIndex(BANDS, ROWS, window)
    signatures = [made(texts) for texts in sets]
    for signature in signatures:
        index.add(signature)
    assert index.oldest == max(0, len(sets) - window)
    wanted = signatures[-1].reshape(BANDS, ROWS)
    expected = [
        (number, likeness(signature, signatures[-1]))
        for number, signature in enumerate(signatures)
        if number >= index.oldest and (signature.reshape(BANDS, ROWS) == wanted).all(axis=1).any()
    ]
    expected.sort(key=lambda found: -found[1])
    assert list(index.alike(signatures[-1], least)) == [f for f in expected if f[1] >= least]
