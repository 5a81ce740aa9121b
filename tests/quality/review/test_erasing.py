"""Taking a person out of a run: from the tables, and from the bytes of its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.store.people import erase_person
from pipeline.store.reviews import ReviewStore
from scenarios.reviews import FormDraft, GivenLabel, Opinion
from tests.quality.review.test_assigning import study_in

NAME = "Adalbertine Unmistakable"
NOTE = "my dentist said the same"


async def answer_one(folder: Path) -> int:
    with ReviewStore.open(folder) as store:
        study = study_in(store, per_item=1)
        ada = store.people.known_as(NAME).seq
        for _ in range(2):
            number = await store.take(study, ada, lease_s=600)
            assert number is not None
            await store.submit(
                study, number, ada, [GivenLabel(3, "veracity", "Quality")], Opinion(note=NOTE),
                lease_s=600,
            )  # fmt: skip
        number = await store.take(study, ada, lease_s=600)
        assert number is not None
        await store.save_draft(
            study, number, ada, FormDraft('{"note": ["half"]}', 1, 0), lease_s=600
        )
        await store.people.open_session("token", "annotator", 1e12, ada)
    return ada


def everything_in(folder: Path) -> bytes:
    return b"".join(p.read_bytes() for p in folder.iterdir() if ".sqlite" in p.name)


@pytest.mark.anyio
async def test_the_name_goes_and_the_labels_stay_under_the_code(run: Path) -> None:
    ada = await answer_one(run)
    assert NAME.encode() in everything_in(run)
    erase_person(run, ada, answers=False)
    left = everything_in(run)
    for trace in (NAME, NAME.casefold(), NOTE, '"half"'):
        assert trace.encode() not in left
    with ReviewStore.open(run) as store:
        sheets = list(store.sheets.sheets(store.studies.get("s")))
        (person,) = store.people.everybody()
        assert store.people.visit("token") is None
    assert [sheet.annotator for sheet in sheets] == ["A01", "A01"]
    assert all(sheet.labels and sheet.opinion and sheet.opinion.note == "" for sheet in sheets)
    assert (person.name, person.erased_at is not None) == (None, True)


@pytest.mark.anyio
async def test_with_the_answers_gone_their_items_are_given_out_again(run: Path) -> None:
    ada = await answer_one(run)
    erase_person(run, ada, answers=True)
    with ReviewStore.open(run) as store:
        study = store.studies.get("s")
        assert list(store.sheets.sheets(study)) == []
        bea = store.people.known_as("Bea").seq
        assert store.progress(study, bea) == (0, 10)


@pytest.mark.anyio
async def test_somebody_erased_cannot_come_back_and_their_name_is_free(run: Path) -> None:
    ada = await answer_one(run)
    erase_person(run, ada, answers=False)
    with ReviewStore.open(run) as store:
        assert store.people.secret_of(NAME) is None
        assert store.people.known_as(NAME).code == "A02"
