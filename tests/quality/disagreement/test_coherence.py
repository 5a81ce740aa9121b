import pytest

from quality.disagreement.coherence import (
    LabelMean,
    PolarityMatch,
    PolarityRow,
    interval_by_label,
    polarity_match,
    pole,
    split_polarity,
)
from tests.quality.disagreement.tables import FEELING, VALENCE, said

LABELS = {
    "all below": "sad cross startled",
    "all above": "glad sad cross",
    "on both sides": "glad sad cross",
    "in the middle": "glad sad cross",
    "not rated": "glad sad cross",
    "agreed": "sad sad glad",
}
RATINGS = {
    "all below": "-1 -0.33 -0.67",
    "all above": "0.67 0.33 1",
    "on both sides": "0.67 -0.33 1",
    "in the middle": "0 0 0",
    "not rated": "0.67 - 1",
    "agreed": "-1 -1 0",
}
ANSWERS = said(LABELS, RATINGS)


def test_the_middle_of_a_scale_is_not_always_zero():
    scale = VALENCE.model_copy(update={"range": (1.0, 7.0)})
    assert [pole(scale, value) for value in (1, 4, 4.5)] == ["negative", "neutral", "positive"]


def test_splits_are_counted_by_the_side_on_which_all_rated():
    (row,) = split_polarity(FEELING, VALENCE, ANSWERS)
    assert row == PolarityRow("", 5, 1, 1, 1, 1, 1)
    assert row.share == 0.75


def test_without_splits_there_is_no_share():
    (row,) = split_polarity(FEELING, VALENCE, said({"x": "sad sad sad"}))
    assert (row.splits, row.share) == (0, None)


def test_ratings_stand_beside_the_label_of_who_gave_them():
    rows = interval_by_label(FEELING, VALENCE, said({"x": "sad glad", "y": "sad -"},
                                                    {"x": "-1 1", "y": "-0.5 0.5"}))  # fmt: skip
    assert rows == [
        LabelMean("", "glad", "valence", 1, 1.0, None),
        LabelMean("", "sad", "valence", 2, -0.75, pytest.approx(0.125**0.5)),
    ]


def test_ratings_stand_beside_the_gold_label_where_gold_is_given():
    answers = said({"x": "sad glad", "y": "sad"}, {"x": "-1 1", "y": "-0.5"})
    rows = interval_by_label(FEELING, VALENCE, answers, gold={"x": "cross"})
    assert [(row.label, row.answers, row.mean) for row in rows] == [("cross", 2, 0.0)]


def test_a_label_with_a_polarity_is_matched_with_the_side_of_its_rating():
    answers = said(
        {"x": "sad glad startled", "y": "cross cross glad"}, {"x": "-1 -1 1", "y": "0 -1 -"}
    )
    assert polarity_match(FEELING, VALENCE, answers) == [PolarityMatch("", 4, 2, 1, 1)]


def test_groups_come_after_all_items():
    rows = polarity_match(FEELING, VALENCE, ANSWERS, groups={"agreed": "easy"})
    assert rows[1] == PolarityMatch("easy", 3, 2, 1, 0)
    assert rows[0].answers > 3
