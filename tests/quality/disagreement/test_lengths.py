import pytest

from quality.disagreement.lengths import LengthEffect, length_effects
from quality.disagreement.report import disagreement_report
from tests.quality.disagreement.tables import FEELING, SCHEME, said

ANSWERS = said(
    {
        "one": "sad sad sad",
        "two": "sad glad sad",
        "three": "sad glad cross",
        "four": "sad glad -",
        "five": "sad - -",
    }
)
WORDS = {
    "said": {"one": 3, "two": 5, "three": 9, "four": 7, "five": 1},
    "situation": dict.fromkeys(("one", "two", "three"), 40),
}


def test_agreement_is_the_share_of_the_commonest_label_and_falls_with_length_here():
    said_, situation = length_effects(FEELING, ANSWERS, WORDS)
    # Shares 1, 2/3, 1/3 and 1/2 of 3, 5, 9 and 7 words: the orders are opposite.
    assert (said_.text, said_.items, said_.rho) == ("said", 4, pytest.approx(-1))
    assert said_.p == pytest.approx(0)
    assert situation == LengthEffect("", "situation", 3, None, None)


def test_groups_follow_and_texts_that_are_not_known_have_no_row():
    groups = {"one": "a", "two": "a", "four": "b"}
    report = disagreement_report(
        SCHEME, FEELING, ANSWERS, groups=groups, words={"said": {"one": 3, "two": 5}}
    )
    assert [(row.group, row.items) for row in report.lengths] == [("", 2), ("a", 2)]
    assert disagreement_report(SCHEME, FEELING, ANSWERS).lengths == ()
