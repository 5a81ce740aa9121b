from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quality.evaluation.comparing import compare_all, permutation_test
from quality.statistics.bootstrap import Resampling
from tests.quality.evaluation.scripted import KEY, LABELS, QUICK, answered

OTHER = replace(KEY, model="m/two")


def versus(mine, theirs, **options):
    answers = {KEY: mine, OTHER: theirs}
    (found,) = compare_all(answers, dict.fromkeys(answers, LABELS), **{"how": QUICK, **options})
    return found


def test_the_difference_and_its_p_value_are_those_known_by_hand():
    right, wrong = ("a", "a"), ("a", "b")
    found = versus(
        answered([right] * 10 + [wrong] * 2), answered([right] * 5 + [wrong] * 5 + [right] * 2)
    )
    assert found.accuracy.value == pytest.approx(3 / 12)
    # Seven cases differ, five of them for the first: P(5 or more, or 2 or fewer, of 7).
    assert (found.p, found.exact) == (pytest.approx(58 / 128), True)
    assert (found.n, found.cases, found.left_out) == (12, 12, 0)


def test_cases_are_exchanged_whole():
    mine = answered([("a", "a")] * 8, per_case=4)
    theirs = answered([("a", "b")] * 8, per_case=4)
    assert versus(mine, theirs).p == 0.5


def test_only_items_count_that_both_answered():
    mine = answered([("a", "a"), ("a", "a"), ("b", "!failed")])
    theirs = answered([("a", "a"), ("a", "!failed"), ("b", "b")])
    found = versus(mine, theirs)
    assert (found.n, found.left_out) == (1, 2)
    assert found.accuracy.value == 0.0


def test_two_models_without_a_common_item_are_not_compared():
    found = versus(answered([("a", "a")]), answered([("a", "!failed")]))
    assert (found.accuracy.value, found.p) == (None, None)


def test_equal_models_do_not_differ():
    answers = answered([("a", "a"), ("b", "a"), ("c", "c")] * 5)
    found = versus(answers, answers)
    assert (found.accuracy.value, found.macro_f1.value, found.p) == (0.0, 0.0, 1.0)


def test_both_see_the_same_resamples_so_that_what_is_hard_for_both_cancels_out():
    rng = np.random.default_rng(1)
    hard = rng.random(400) < 0.5
    mine = answered([("a", "b" if h else "a") for h in hard])
    theirs = answered([("a", "b" if h or i % 20 == 0 else "a") for i, h in enumerate(hard)])
    bound = versus(mine, theirs, how=Resampling(resamples=2000)).accuracy.by_case
    assert bound.low > 0
    assert bound.high - bound.low < 0.05


def test_a_sampled_p_value_is_near_that_of_the_binomial():
    stats = pytest.importorskip("scipy.stats")
    differences = np.array([1.0] * 30 + [-1.0] * 14)
    p, exact = permutation_test(differences, Resampling(resamples=10_000))
    assert not exact
    assert p == pytest.approx(stats.binomtest(30, 44).pvalue, abs=0.004)


def test_a_p_value_that_is_sampled_is_never_zero():
    p, exact = permutation_test(np.ones(100), Resampling(resamples=99))
    assert (p, exact) == (0.01, False)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-3, 3), max_size=8))
def test_the_exact_p_value_is_that_of_scipy(values):
    stats = pytest.importorskip("scipy.stats")
    found, exact = permutation_test(np.array(values, dtype=float))
    assert exact
    if len(values) > 1:
        theirs = stats.permutation_test(
            (np.array(values, dtype=float),), np.sum, permutation_type="samples", n_resamples=1e5
        )
        assert found == pytest.approx(min(1.0, theirs.pvalue))


@given(st.lists(st.integers(-4, 4), max_size=30), st.randoms())
def test_neither_order_nor_the_names_of_the_models_matter(values, shuffle):
    differences = np.array(values, dtype=float)
    mixed = differences.copy()
    shuffle.shuffle(mixed)
    assert permutation_test(differences, QUICK) == permutation_test(-mixed, QUICK)


def test_p_values_are_corrected_within_reference_task_and_dimension():
    good, poor = answered([("a", "a")] * 12), answered([("a", "b")] * 12)
    models = {"m/one": good, "m/two": poor, "m/three": poor}
    first = {replace(KEY, model=name): found for name, found in models.items()}
    second = {replace(key, dimension="e"): found for key, found in first.items()}
    labels = dict.fromkeys([*first, *second], LABELS)
    found = compare_all(first | second, labels, how=QUICK)
    assert [(c.dimension, c.first, c.second) for c in found] == [
        (d, one, two)
        for d in "de"
        for one, two in (("m/one", "m/two"), ("m/one", "m/three"), ("m/two", "m/three"))
    ]
    smallest = 2 / 2**12
    assert [c.p for c in found[:3]] == [smallest, smallest, 1.0]
    assert [c.p_holm for c in found] == pytest.approx([3 * smallest, 3 * smallest, 1.0] * 2)


def test_modes_of_one_model_are_compared_and_corrected_apart():
    good, poor = answered([("a", "a")] * 12), answered([("a", "b")] * 12)
    keys = [
        replace(KEY, mode=mode, model=model)
        for mode in ("icl", "cot", "zero-shot")
        for model in ("m/one", "m/two")
    ]
    given = {key: good if key.mode == "cot" else poor for key in keys}
    found = compare_all(given, dict.fromkeys(keys, LABELS), how=QUICK)
    of_modes = [c for c in found if c.second_mode]
    assert [(c.first, c.second, c.mode, c.second_mode, c.accuracy.value) for c in of_modes] == [
        (model, model, *modes, points)
        for model in ("m/one", "m/two")
        for *modes, points in (
            ("cot", "zero-shot", 1.0), ("icl", "zero-shot", 0.0), ("icl", "cot", -1.0)
        )
    ]  # fmt: skip
    smallest = 2 / 2**12
    assert [c.p for c in of_modes[:3]] == [smallest, 1.0, smallest]
    # Four of the six pairs of modes differ; the three pairs of models do not count among them.
    assert [c.p_holm for c in of_modes[:3]] == pytest.approx([6 * smallest, 1.0, 6 * smallest])
    assert [(c.first, c.second, c.p_holm) for c in found[:3]] == [("m/one", "m/two", 1.0)] * 3


def test_people_who_answered_once_are_compared_in_no_mode():
    keys = [replace(KEY, mode=mode, model="people/ann") for mode in ("zero-shot", "cot")]
    given = dict.fromkeys(keys, answered([("a", "a")] * 12))
    assert compare_all(given, dict.fromkeys(keys, LABELS), how=QUICK) == ()
