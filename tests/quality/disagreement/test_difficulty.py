import pytest

from quality.disagreement.difficulty import DifficultyRow, difficulty_by_item, difficulty_table
from scenarios.errors import UsageError
from tests.quality.disagreement.tables import FEELING, said

ANSWERS = said(
    {
        "one": "sad sad sad",
        "two": "sad glad sad",
        "three": "sad glad cross",
        "four": "sad glad -",
        "five": "sad - -",
    }
)


def test_items_are_unanimous_by_majority_or_split_and_one_answer_says_nothing():
    assert difficulty_by_item(FEELING, ANSWERS) == {
        "one": "unanimous", "two": "majority", "three": "split", "four": "split",
    }  # fmt: skip


def test_the_table_counts_all_items_first_and_then_each_group():
    groups = {"one": "b", "two": "b", "three": "a", "five": "c"}
    assert difficulty_table(FEELING, ANSWERS, groups=groups) == [
        DifficultyRow("", 4, 1, 1, 2),
        DifficultyRow("a", 1, 0, 0, 1),
        DifficultyRow("b", 2, 1, 1, 0),
        DifficultyRow("c", 0, 0, 0, 0),
    ]


def test_two_of_four_are_no_majority():
    assert difficulty_by_item(FEELING, [*said({"x": "sad sad glad"}), *_fourth("glad")]) == {
        "x": "split"
    }


def test_an_answer_given_twice_is_refused():
    with pytest.raises(UsageError, match="'Ada' answered item 'x' twice"):
        difficulty_table(FEELING, [*said({"x": "sad"}), *said({"x": "glad"})])


def _fourth(label):
    return [type(ANSWERS[0])("x", "feeling", "Dee", label)]
