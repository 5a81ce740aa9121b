from hypothesis import given
from hypothesis import strategies as st

from quality.disagreement.confusions import (
    ConfusedPair,
    confused_pairs,
    label_pairs,
)
from quality.disagreement.wheel import AdjacencyRow, adjacency, are_neighbours
from tests.quality.disagreement.tables import FEELING, said
from tests.quality.stats_tables import dimension

ANSWERS = said({"one": "sad cross sad", "two": "glad sad sad", "three": "sad sad sad"})


def test_pairs_of_different_labels_are_counted_over_pairs_of_annotators():
    assert confused_pairs(FEELING, ANSWERS) == [
        ConfusedPair("", "sad", "cross", 2, True),
        ConfusedPair("", "glad", "sad", 2, False),
    ]


def test_pairs_are_counted_within_groups_too():
    found = confused_pairs(FEELING, ANSWERS, groups={"two": "late"})
    assert found[-1] == ConfusedPair("late", "glad", "sad", 2, False)


def test_the_wheel_closes_where_the_list_of_labels_ends():
    assert are_neighbours(FEELING, "glad", "cross")
    assert are_neighbours(FEELING, "startled", "glad")
    assert are_neighbours(FEELING, "glad", "sad") is False


def test_labels_without_a_wheel_have_no_neighbours():
    plain = dimension("nominal")
    assert adjacency(plain, ANSWERS) == []
    assert confused_pairs(plain, said({"x": "a b"}, name="d"))[0].neighbours is None


def test_adjacency_counts_disagreements_and_what_chance_would_give():
    whole, late = adjacency(FEELING, ANSWERS, groups={"three": "late"})
    assert whole == AdjacencyRow("", 4, 2, 2 / 3)
    assert whole.share == 0.5
    assert late.share is None


@given(
    st.dictionaries(
        st.sampled_from("uvwxyz"),
        st.lists(st.sampled_from([*FEELING.values, "-"]), min_size=1, max_size=3).map(" ".join),
    )
)
def test_every_pair_of_answers_is_either_agreement_or_one_confused_pair(rows):
    answers = said(rows)
    pairs = list(label_pairs(FEELING, answers))
    confused = sum(pair.count for pair in confused_pairs(FEELING, answers))
    assert confused == sum(one != other for one, other in pairs)
    (row,) = adjacency(FEELING, answers)
    assert row.pairs == confused >= row.neighbours
