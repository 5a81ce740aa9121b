from dataclasses import replace

import pytest

from quality.evaluation.flips import flip_rate
from quality.evaluation.swaps import line_of, swap_score, two_sided
from tests.quality.evaluation.scripted import KEY, QUICK, answered


def asked(*times):
    return [
        answer
        for repeat, given in enumerate(times)
        for answer in answered([("a", label) for label in given], repeat=repeat)
    ]


def test_items_that_got_more_than_one_answer_are_flipped():
    found = flip_rate(KEY, asked("aabb", "aabc", "abbb"), QUICK)
    assert (found.items, found.times, found.flipped.value) == (4, 3, 0.5)


def test_no_label_is_an_answer_too_and_an_item_that_failed_once_is_left_out():
    found = flip_rate(KEY, asked(["a", None, None, "a"], ["a", None, "a", "!failed"]), QUICK)
    assert (found.items, found.times) == (3, 2)
    assert found.flipped.value == pytest.approx(1 / 3)


def test_a_model_that_was_asked_once_has_no_flip_rate():
    assert flip_rate(KEY, asked("aa"), QUICK) is None
    assert flip_rate(KEY, [], QUICK) is None


def lie(number, own, other, none=""):
    """One line under its three facts, with what was answered to each; ``""``: not asked."""
    shown = [("own", "Quality", own), ("other/f2", "not Quality", other), ("none", "", none)]
    return [
        replace(
            answered([(reference, said)])[0],
            item=f"case{number}/arm/1/{name}",
            case=f"case{number}",
            scenario=f"scenario{number % 3}",
        )
        for name, reference, said in shown
        if said != ""
    ]


def test_swap_items_have_exactly_the_scores_known_by_hand():
    answers = [
        *lie(0, "Quality", "Manner", "Quality"),
        *lie(1, "Quality", "Quality", "None"),
        *lie(2, "None", "None", ""),
        *lie(3, "Quality", "!failed", ""),
        *lie(4, None, None, ""),
    ]
    found = swap_score(KEY, answers, QUICK)
    assert found.lie == "Quality"
    assert (found.n_own, found.own.value) == (5, pytest.approx(3 / 5))
    # An answer that could not be read is wrong with the other fact, too.
    assert (found.n_other, found.other.value) == (4, pytest.approx(2 / 4))
    assert found.mean.value == pytest.approx((3 / 5 + 2 / 4) / 2)
    assert (found.pairs, found.both.value) == (4, pytest.approx(1 / 4))
    assert (found.n_none, found.named_without_fact.value) == (2, 0.5)


def test_whoever_calls_everything_a_lie_is_right_in_one_half_and_on_no_line():
    answers = [answer for i in range(20) for answer in lie(i, "Quality", "Quality")]
    found = swap_score(KEY, answers, QUICK)
    assert (found.own.value, found.other.value, found.mean.value) == (1.0, 0.0, 0.5)
    assert found.both.value == 0.0
    assert found.named_without_fact.value is None
    assert found.own.by_case.low == pytest.approx(0.025 ** (1 / 20))


def test_lines_asked_after_several_draws_of_examples_count_at_each_draw():
    right, wrong = lie(0, "Quality", "Manner"), lie(0, "Manner", "Manner")
    answers = [replace(one, draw=draw) for draw in range(3) for one in (wrong if draw else right)]
    found = swap_score(KEY, answers, QUICK)
    assert (found.n_own, found.pairs, found.both.value) == (3, 3, pytest.approx(1 / 3))


def test_as_one_table_swap_items_have_two_labels_a_lie_and_none():
    answers, labels = two_sided([*lie(0, "Quality", "Manner", "Quality"), *lie(1, None, "Quality")])
    assert labels == ("Quality", "not Quality")
    assert [(a.reference, a.answer, a.right) for a in answers] == [
        ("Quality", "Quality", True),
        ("not Quality", "not Quality", True),
        ("Quality", None, False),
        ("not Quality", "Quality", False),
    ]


@pytest.mark.parametrize("ending", ["own", "other/fact-2", "none"])
def test_the_line_of_an_item_is_its_id_without_what_is_shown(ending):
    assert line_of(f"case/arm/3/{ending}") == "case/arm/3"
