"""Signatures of sets of texts: what they say of likeness, and which of them an index finds."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from quality.gates.signatures import PERMUTATIONS, Signature, SignatureIndex, signature_of

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
