"""How often labels are given and gold, and how ratings are spread."""

import pytest

from quality.agreement.annotations import Answer
from quality.disagreement.given import RatingSpread, label_shares, rating_spread
from tests.quality.disagreement.tables import FEELING, VALENCE, said

ANSWERS = said({"x": "sad glad sad", "y": "sad sad sad", "z": "glad cross startled"})


def test_answers_gold_labels_and_pairs_alike_are_counted_by_label():
    rows = label_shares(FEELING, ANSWERS, {"x": "sad", "y": "sad"})
    found = {row.label: (row.answers, row.gold, row.alike) for row in rows}
    assert found == {"glad": (2, 0, 0), "startled": (1, 0, 0), "sad": (5, 2, 4), "cross": (1, 0, 0)}
    assert sum(row.share for row in rows) == pytest.approx(1)
    assert [row.gold_share for row in rows if row.label == "sad"] == [1.0]


def test_each_group_has_shares_of_its_own():
    groups = {"x": "a", "y": "a", "z": "b"}
    rows = label_shares(FEELING, ANSWERS, {"x": "sad"}, groups=groups)
    of_b = {row.label: row for row in rows if row.group == "b"}
    assert (of_b["sad"].answers, of_b["sad"].share, of_b["sad"].gold_share) == (0, 0.0, None)
    assert of_b["glad"].share == pytest.approx(1 / 3)
    assert [row.group for row in rows if row.label == "sad"] == ["", "a", "b"]


def test_an_answer_with_several_labels_counts_under_each():
    answers = [Answer("x", "feeling", "A", ("sad", "cross")), Answer("y", "feeling", "A", ("sad",))]
    rows = label_shares(FEELING, answers, {})
    assert {row.label: row.share for row in rows if row.answers} == {"sad": 1.0, "cross": 0.5}


def test_without_answers_there_are_no_shares():
    rows = label_shares(FEELING, [], {})
    assert {(row.answers, row.share, row.gold_share, row.alike) for row in rows} == {
        (0, None, None, 0)
    }


def test_ratings_have_quartiles_that_are_those_of_their_scale():
    ratings = said({}, {"x": "-1 0 1", "y": "0 1"})
    (row,) = rating_spread(VALENCE, ratings)
    assert (row.answers, row.low, row.median, row.high) == (5, 0.0, 0.0, 1.0)
    assert row.mean == pytest.approx(0.2)
    assert row.sd == pytest.approx(0.7**0.5)
    assert rating_spread(VALENCE, ratings, groups={"x": "a"})[1].answers == 3


def test_a_single_rating_has_a_mean_alone():
    one = [Answer("x", "valence", "A", 0.5)]
    assert rating_spread(VALENCE, one) == [RatingSpread("", "valence", 1, 0.5, *[None] * 4)]
    assert rating_spread(VALENCE, []) == []
