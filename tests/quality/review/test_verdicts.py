"""Most of the people who see a dialogue decide about it."""

from __future__ import annotations

import pytest

from quality.review.verdicts import verdict
from scenarios.reviews import Item, Opinion, ReviewStudy, Sheet

ITEM = Item(1, "c", "a", "", ())


def outcome(opinions: str, per_item: int = 3) -> str | None:
    """Decide over opinions written as y (confirms) and n (rejects)."""
    study = ReviewStudy(1, "s", "review", per_item, 0, {})
    sheets = [
        Sheet(i, ITEM, f"A{i}", "done", (), Opinion(issue=o == "y", issue_reason="goal"), "")
        for i, o in enumerate(opinions)
    ]
    decision = verdict(ITEM, study, sheets)
    return None if decision is None else decision.verdict


@pytest.mark.parametrize(
    ("opinions", "expected"),
    [
        ("", None),
        ("y", None),
        ("n", None),
        ("yn", None),
        ("yy", "discarded"),
        ("nn", "accepted"),
        ("yny", "discarded"),
        ("nny", "accepted"),
        ("yyy", "discarded"),
    ],
)
def test_two_of_three_decide(opinions: str, expected: str | None) -> None:
    assert outcome(opinions) == expected


def test_one_of_one_decides() -> None:
    assert outcome("y", 1) == "discarded"


def test_an_even_split_goes_to_the_expert() -> None:
    assert outcome("yn", 2) == "pending"


@pytest.mark.parametrize(
    ("opinions", "expected"),
    [("yn", "pending"), ("yyn", "discarded"), ("nny", "accepted"), ("yynn", "pending")],
)
def test_more_answers_than_were_asked_for_all_count(opinions: str, expected: str) -> None:
    assert outcome(opinions, 1) == expected


def test_the_reason_says_who_many_confirm_and_why() -> None:
    study = ReviewStudy(1, "s", "review", 3, 0, {})
    opinions = [Opinion(issue=True, issue_reason="goal"), Opinion(issue=True, issue_reason="goal")]
    sheets = [Sheet(i, ITEM, f"A{i}", "done", (), o, "") for i, o in enumerate(opinions)]
    decision = verdict(ITEM, study, sheets)
    assert decision is not None
    assert decision.reason == "2 of 2 confirm an issue: goal (2)"
