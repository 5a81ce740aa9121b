"""Answers beside the shares of people, by small examples that are worked out by hand."""

from math import log, log2

import numpy as np
import pytest

from quality.agreement.annotations import Answer
from quality.evaluation.soft_labels import EVENLY, POOLED, divergence, soft_scores
from tests.quality.evaluation.scripted import QUICK
from tests.quality.evaluation.test_scoring_results import row

LABELS = {"veracity": ("Quality", "Manner", "None")}


def said(number, *labels):
    return [
        Answer(f"c{number}/a#3", "veracity", f"P{n}", label) for n, label in enumerate(labels, 1)
    ]


def scored(rows, people, hidden=None):
    rows = [one.model_copy(update={"arm": "a"}) for one in rows]
    found = soft_scores(rows, people, LABELS, hidden=hidden or {}, how=QUICK)
    return {one.model: one for one in found}


def test_one_answer_is_held_against_the_shares_of_three_people():
    people = said(0, "Quality", "Quality", "Manner")
    found = scored([row(0, "Quality", "Quality")], people)
    model = found["m/one"]
    assert (model.items, model.people, model.answers) == (1, 3, 1)
    assert model.shared.value == pytest.approx(2 / 3)
    # Middle: 5/6 and 1/6.
    apart = (2 / 3 * log2(4 / 5) + 1 / 3 * log2(2)) / 2 + log2(6 / 5) / 2
    assert model.divergence.value == pytest.approx(apart)
    # With one of each of three labels added: 2/4, 1/4, 1/4.
    assert model.cross_entropy.value == pytest.approx(-(2 / 3 * log(1 / 2) + 1 / 3 * log(1 / 4)))
    even = found[EVENLY]
    assert (even.shared.value, even.cross_entropy.value) == (
        pytest.approx(1 / 3),
        pytest.approx(log(3)),
    )
    assert even.answers is None
    assert found[POOLED].divergence.value == pytest.approx(0)


def test_answers_of_all_repeats_and_draws_are_a_distribution():
    people = said(0, "Quality", "Quality", "Manner")
    answers = [("Quality", 0), ("Quality", 1), ("Manner", 2)]
    rows = [row(0, "Quality", label, repeat=repeat) for label, repeat in answers]
    model = scored(rows, people)["m/one"]
    assert model.answers == 3
    assert model.shared.value == pytest.approx(4 / 9 + 1 / 9)
    assert model.divergence.value == pytest.approx(0)
    assert model.cross_entropy.value == pytest.approx(-(2 / 3 * log(3 / 6) + 1 / 3 * log(2 / 6)))


def test_people_are_held_against_the_others_and_items_count_alike():
    people = said(0, "Quality", "Quality", "Manner") + said(1, "Manner", "Manner")
    rows = [row(i, "Quality", "Quality") for i in (0, 1)]
    alone = scored(rows, people)["people"]
    # Two of three pairs differ in the first item, and the only pair of the second agrees.
    assert (alone.items, alone.people) == (2, pytest.approx(1.5))
    assert alone.shared.value == pytest.approx((1 / 3 + 1) / 2)


def test_an_answer_without_a_label_is_nobodys():
    people = said(0, "Quality", "Manner")
    unread = row(
        0, "Quality", None, status="unreadable", labels={}, faults={"veracity": "unreadable"}
    )
    model = scored([unread], people)["m/one"]
    assert (model.shared.value, model.divergence.value) == (0, pytest.approx(1))
    assert model.cross_entropy.value == pytest.approx(log(4))


def test_what_failed_or_one_person_alone_labelled_is_left_out():
    failed = row(0, "Quality", None, status="failed", labels={})
    rows = [failed, row(1, "Quality", "Quality"), row(2, "Quality", "Quality")]
    people = said(0, "Quality", "Quality") + said(1, "Quality") + said(2, "Quality", "Manner")
    assert scored(rows, people)["m/one"].items == 1
    assert scored(rows[:2], people) == {}


def test_labels_that_people_were_not_offered_have_no_even_share():
    people = said(0, "Quality", "Manner")
    found = scored([row(0, "Quality", "None")], people, hidden={"veracity": ("None",)})
    assert found[EVENLY].divergence.value == pytest.approx(0)
    assert found["m/one"].shared.value == 0


def test_the_divergence_is_that_of_shannon():
    shares = np.array([[0.5, 0.5], [1.0, 0.0], [0.5, 0.5]])
    others = np.array([[0.5, 0.5], [0.0, 1.0], [1.0, 0.0]])
    # Of the third: middle 3/4 and 1/4; entropy 0.8113 less half a bit.
    assert divergence(shares, others) == pytest.approx([0, 1, 0.311278], abs=1e-6)
