"""Most of the people who see a dialogue decide about it."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hipo.app.review.reviewing import ReviewOptions, open_review
from pipeline.store import assignments, review_sheets
from pipeline.store.judgements import JudgementLog
from pipeline.store.sqlite import DATABASE
from quality.review.verdicts import verdict
from quality.web.server import Address, access_at
from scenarios.reviews import Item, Opinion, ReviewStudy, Sheet
from scenarios.verdicts import Decision

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


def test_verdicts_that_were_not_stored_are_stored_together_at_the_start(
    verified_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = open_review(
        verified_run,
        ReviewOptions(per_item=1, everything=True),
        lambda accounts: access_at(Address(port=1), accounts),
        lambda role, token: None,
    )
    stored: list[list[Decision]] = []
    decide = JudgementLog.decide

    async def seen(self: JudgementLog, decisions: list[Decision]) -> None:
        stored.append(decisions)
        await decide(self, decisions)

    monkeypatch.setattr(JudgementLog, "decide", seen)

    async def answer_all() -> None:
        store, study = service.store, service.study
        who = store.people.known_as("Person").seq
        while (number := await store.take(study, who, lease_s=600)) is not None:
            await store.submit(study, number, who, [], Opinion(issue=True), lease_s=600)
        await service.settle_all()

    try:
        asyncio.run(answer_all())
        keys = [(one.case, one.arm) for one in stored[0]]
        kept = service.store.judgements.decisions(keys)
    finally:
        service.store.close()
    assert [len(decisions) for decisions in stored] == [12]
    assert {found[-1].verdict for found in kept.values()} == {"discarded"}


@pytest.mark.parametrize(
    "query",
    [
        review_sheets._PAGE_OF_SHEETS,
        review_sheets._SHEETS_OF_ITEM,
        review_sheets._ADJUDICATED.format("and j.item = ?"),
        assignments._OPEN,
    ],
)
def test_answers_are_found_without_a_look_at_every_item(verified_run: Path, query: str) -> None:
    with closing(sqlite3.connect(verified_run / DATABASE)) as connection:
        plan = connection.execute(f"explain query plan {query}", (1,) * query.count("?")).fetchall()
    assert not [step for *_, step in plan if "(study=?)" in step or step.startswith("SCAN")]
