"""Items are given out so that none has too many annotators, whatever people do."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from pipeline.store.queries.annotations import open_annotations
from pipeline.store.reviews import ReviewStore
from scenarios.reviews import AnswerRefused, FormDraft, GivenLabel, Opinion, ReviewStudy
from tests.quality.review.serving import served
from tests.quality.review.visitor import Visitor, answer_item

LABELS = [GivenLabel(3, "veracity", "Quality"), GivenLabel(None, "goal", "deception")]


def study_in(store: ReviewStore, *, per_item: int = 2, mode: str = "quiz") -> ReviewStudy:
    study = store.studies.begin("s", mode, per_item=per_item, seed=1, hidden={})
    store.studies.add_items(study, [(c, "any") for c in store.studies.candidates(study, "all")])
    return study


def people(store: ReviewStore, count: int) -> list[int]:
    return [store.people.known_as(f"Person {i}").seq for i in range(count)]


async def take(
    store: ReviewStore, study: ReviewStudy, who: int, lease_s: float = 600
) -> int | None:
    return await store.take(study, who, lease_s=lease_s)


async def send(store: ReviewStore, study: ReviewStudy, number: int, who: int) -> bool:
    return await store.submit(study, number, who, LABELS, Opinion(lead_s=1), lease_s=600)


async def work_through(store: ReviewStore, study: ReviewStudy, who: int) -> list[str]:
    seen = []
    while (number := await take(store, study, who)) is not None:
        found = store.assignment(study, number, who)
        assert found is not None
        seen.append(found.item.id)
        await send(store, study, number, who)
    return seen


@pytest.mark.anyio
async def test_many_at_once_give_every_item_exactly_its_answers(run: Path) -> None:
    with ReviewStore.open(run) as store:
        study = study_in(store, per_item=3)
        seen = await asyncio.gather(*(work_through(store, study, who) for who in people(store, 7)))
        answers = Counter(sheet.item.id for sheet in store.sheets.sheets(study))
    assert set(answers.values()) == {3}
    assert len(answers) == 10
    assert all(len(items) == len(set(items)) for items in seen)


@pytest.mark.anyio
async def test_everybody_has_an_order_of_their_own_and_keeps_it(run: Path) -> None:
    with ReviewStore.open(run) as store:
        study = study_in(store, per_item=3)
        ada, bea, cleo = people(store, 3)
        orders = [await work_through(store, study, who) for who in (ada, bea, cleo)]
    assert len({tuple(order) for order in orders}) == 3
    assert len({frozenset(order) for order in orders}) == 1


@pytest.mark.anyio
async def test_a_reviewer_comes_back_to_the_item_they_had(run: Path) -> None:
    with ReviewStore.open(run) as store:
        study = study_in(store)
        (ada,) = people(store, 1)
        first = await take(store, study, ada)
        assert await take(store, study, ada) == first


@pytest.mark.anyio
async def test_an_item_somebody_left_goes_to_others_and_their_late_answer_is_refused(
    run: Path,
) -> None:
    with ReviewStore.open(run) as store:
        study = study_in(store, per_item=1)
        ada, bea = people(store, 2)
        left = await take(store, study, ada, lease_s=-1)
        assert left is not None
        seen = await work_through(store, study, bea)
        assert len(seen) == 10
        with pytest.raises(AnswerRefused, match="given to somebody else"):
            await send(store, study, left, ada)
        assert Counter(s.item.id for s in store.sheets.sheets(study)) == Counter(seen)


@pytest.mark.anyio
async def test_a_late_answer_counts_where_nobody_took_the_item(run: Path) -> None:
    with ReviewStore.open(run) as store:
        study = study_in(store, per_item=1)
        (ada,) = people(store, 1)
        late = await take(store, study, ada, lease_s=-1)
        assert late is not None
        assert await send(store, study, late, ada)


@pytest.mark.anyio
async def test_an_item_that_was_given_back_never_returns_to_the_same_person(run: Path) -> None:
    with ReviewStore.open(run) as store:
        study = study_in(store, per_item=1)
        ada, bea = people(store, 2)
        number = await take(store, study, ada)
        assert number is not None
        await store.give_back(study, number, ada)
        found = store.assignment(study, number, ada)
        assert found is not None
        assert found.item.id not in await work_through(store, study, ada)
        assert await work_through(store, study, bea) == [found.item.id]


@pytest.mark.anyio
async def test_the_same_answer_again_stores_nothing_and_another_one_a_revision(run: Path) -> None:
    with ReviewStore.open(run) as store:
        study = study_in(store)
        (ada,) = people(store, 1)
        number = await take(store, study, ada)
        assert number is not None
        assert await send(store, study, number, ada)
        assert not await send(store, study, number, ada)
        changed = [GivenLabel(3, "veracity", "Manner"), LABELS[1]]
        await store.submit(study, number, ada, changed, Opinion(), lease_s=600)
        (sheet,) = store.sheets.sheets(study)
        revisions = store._reader.execute("select count(*) from reviews").fetchone()
    assert set(sheet.labels) == set(changed)
    assert revisions == (2,)


@pytest.mark.anyio
async def test_labels_are_locked_once_the_declared_ones_may_be_seen(run: Path) -> None:
    with ReviewStore.open(run) as store:
        study = study_in(store, mode="review")
        (ada,) = people(store, 1)
        number = await take(store, study, ada)
        assert number is not None
        await store.lock_labels(study, number, ada, LABELS, lease_s=600)
        await store.lock_labels(study, number, ada, LABELS, lease_s=600)
        with pytest.raises(AnswerRefused, match="locked"):
            await store.lock_labels(study, number, ada, LABELS[:1], lease_s=600)
        assert set(store.labels_of(number)) == set(LABELS)


@pytest.mark.anyio
async def test_locked_labels_count_for_nobody_before_the_answer_is_sent(run: Path) -> None:
    def read() -> tuple[int, list[str]]:
        with open_annotations(run) as reader:
            given = list(reader.annotations(["human"]))
            return len(given), [one.kind for one in reader.sources() if one.kind == "human"]

    with ReviewStore.open(run) as store:
        study = study_in(store, mode="review")
        (ada,) = people(store, 1)
        number = await take(store, study, ada)
        assert number is not None
        await store.lock_labels(study, number, ada, LABELS, lease_s=600)
        assert read() == (0, [])
        assert list(store.sheets.sheets(study)) == []
        await store.submit(study, number, ada, None, Opinion(), lease_s=600)
        assert read() == (len(LABELS), ["human"])
        assert len(list(store.sheets.sheets(study))) == 1


@pytest.mark.anyio
async def test_answers_are_closed_after_the_end_and_after_the_expert(run: Path) -> None:
    with ReviewStore.open(run) as store:
        study = study_in(store)
        (ada,) = people(store, 1)
        number = await take(store, study, ada)
        assert number is not None
        await send(store, study, number, ada)
        await store.finish(study, ada)
        with pytest.raises(AnswerRefused, match="closed"):
            await store.submit(study, number, ada, LABELS[:1], Opinion(), lease_s=600)


def test_the_database_itself_refuses_one_answer_too_many(run: Path) -> None:
    with ReviewStore.open(run) as store:
        study = study_in(store, per_item=1)
        ada, bea = people(store, 2)
        rows = [(1, ada, "done"), (1, bea, "done")]
        insert = (
            "insert into assignments (item, annotator, state, leased_until, opened_at, origin)"
            " values (?, ?, ?, 0, 0, 'test')"
        )
        with pytest.raises(sqlite3.IntegrityError, match="has all its annotators"):
            store._writer.run(lambda connection: connection.executemany(insert, rows))
        assert list(store.sheets.sheets(study)) == []


@pytest.mark.anyio
async def test_an_older_draft_never_replaces_a_newer_one(run: Path) -> None:
    with ReviewStore.open(run) as store:
        study = study_in(store)
        (ada,) = people(store, 1)
        number = await take(store, study, ada)
        assert number is not None
        for edits, newest in ((1, True), (5, True), (3, False), (5, True)):
            draft = FormDraft(f'{{"note": ["{edits}"]}}', edits, 0.0)
            assert await store.save_draft(study, number, ada, draft, lease_s=600) is newest
        kept = store.draft_of(number)
    assert kept is not None
    assert kept.edits == 5


def test_a_study_is_not_continued_under_other_rules(run: Path) -> None:
    with ReviewStore.open(run) as store:
        study_in(store, per_item=2)
        with pytest.raises(Exception, match="was begun as quiz by 2 each"):
            study_in(store, per_item=3)


@pytest.mark.anyio
async def test_lead_times_are_of_one_person_or_of_all_who_annotate(run: Path) -> None:
    with ReviewStore.open(run) as store:
        study = study_in(store)
        ada, bea = people(store, 2)
        for who, seconds in ((ada, 7.0), (bea, 20.0), (ada, 5.0)):
            number = await take(store, study, who)
            assert number is not None
            opinion = Opinion(lead_s=seconds)
            await store.submit(study, number, who, LABELS, opinion, lease_s=600)
        await take(store, study, bea)
        sheets = store.sheets
        assert sorted(sheets.lead_times(study, annotator=ada)) == [5.0, 7.0]
        assert sorted(sheets.lead_times(study)) == [5.0, 7.0, 20.0]
        tallies = [(one.done, one.open, one.seconds) for one in sheets.annotator_tallies(study)]
        assert tallies == [(2, 0, (7.0, 5.0)), (1, 1, (20.0,))]


def test_a_page_does_not_go_through_the_answers_of_the_others(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(run, mode="quiz", per_item=2) as site:
        sheets, ada = site.service.store.sheets, Visitor(site.url)
        path = ada.come_in(site.link(), "Ada")
        for _ in range(3):
            path, _ = ada.get(answer_item(ada, path).location)
        (tally,) = sheets.annotator_tallies(site.service.study)
        own = {1: list(tally.seconds)}
        monkeypatch.setattr(sheets, "lead_times", lambda _, *, annotator: own[annotator])
        monkeypatch.setattr(sheets, "annotator_tallies", None)
        _, page = ada.get(path)
    assert tally.done == 3
    assert "about 1 min left" in page.text
