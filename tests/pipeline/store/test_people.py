"""What is personal lies beside the run, and an answer is whole whatever happens in between."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.store.migrations import MIGRATIONS, migrate
from pipeline.store.people import PeopleFile, erase_person
from pipeline.store.people_database import PEOPLE
from pipeline.store.reviews import ReviewStore
from pipeline.store.run_store import RunStore
from pipeline.store.sqlite import DATABASE, connect
from pipeline.store.writer import StoreFailed, Writer
from scenarios.errors import UsageError
from scenarios.reviews import FormDraft, GivenLabel, Opinion
from tests.forked import ROOT, forked
from tests.pipeline.store.samples import begun, case, dialogue

RUN = Path(__file__).parents[2] / "fixtures" / "runs_0_1_0" / "judged"
NAME, NOTE = "Adalbertine Unmistakable", "my dentist said the same"
LABELS = [GivenLabel(3, "veracity", "Quality")]
OLD_PEOPLE = "select code, name, account, language, consented_at from annotators order by seq"
OLD_NOTES = """
    select s.seq, v.scenario_problem, v.note from newest_reviews v
        join assignments s on s.seq = v.assignment where s.state = 'done' order by 1"""
OLD_DECIDED = "select item, note from newest_adjudications order by item"
OLD_DRAFTS = "select assignment, content, edits, lead_s from drafts"


@pytest.fixture
def old(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    shutil.copy(RUN / DATABASE, folder)
    return folder


def files(folder, name=DATABASE):
    return b"".join(path.read_bytes() for path in folder.glob(f"{name}*"))


def test_what_was_personal_in_an_older_run_lies_beside_it_now(old):
    with closing(sqlite3.connect(old / DATABASE)) as connection:
        people, notes, decided, drafts, sessions, (progress,) = (
            connection.execute(query).fetchall()
            for query in (OLD_PEOPLE, OLD_NOTES, OLD_DECIDED, OLD_DRAFTS,
                          "select count(*) from review_sessions",
                          "select count(*), sum(state = 'done') from assignments")
        )  # fmt: skip
    texts = [text for row in notes for text in row[1:] if text] + [n for _, n in decided if n]
    names = [row[1] for row in people if row[1]]
    assert texts
    assert names
    with ReviewStore.open(old) as store:
        sheets = [s for study in store.studies.all() for s in store.sheets.sheets(study)]
        experts = [
            (a.item, a.note)
            for study in store.studies.all()
            for a in store.sheets.adjudications(study).values()
        ]
        assert [
            (p.code, p.name, int(p.account), p.language, p.consented_at)
            for p in store.people.everybody()
        ] == people
        assert [
            (s.assignment, s.opinion.scenario_problem, s.opinion.note)
            for s in sorted(sheets, key=lambda sheet: sheet.assignment)
        ] == notes
        assert sorted(experts) == decided
        assert [(n, store.draft_of(n)) for n, *_ in drafts] == [
            (n, FormDraft(content, edits, lead)) for n, content, edits, lead in drafts
        ]
    for backup in old.glob("*.backup*"):
        backup.unlink()
    left = files(old)
    assert all(text.encode() not in left for text in texts + names)
    with closing(sqlite3.connect(old / DATABASE)) as connection:
        assert connection.execute("pragma foreign_key_check").fetchall() == []
        assert (
            connection.execute("select count(*), sum(state = 'done') from assignments").fetchone()
            == progress
        )
    with closing(sqlite3.connect(old / PEOPLE)) as connection:
        assert connection.execute("select count(*) from sessions").fetchall() == sessions
    assert (old / PEOPLE).stat().st_mode & 0o077 == 0


def test_a_move_that_fails_leaves_everybody_in_the_run_and_succeeds_next_time(old):
    path = old / DATABASE
    with closing(connect(path)) as connection:
        before = list(connection.iterdump())

        def breaks(_: sqlite3.Connection) -> None:
            raise RuntimeError("power cut")

        with pytest.raises(RuntimeError, match="power cut"):
            migrate(connection, path, (*MIGRATIONS, breaks))
        assert list(connection.iterdump()) == before
        people = connection.execute(OLD_PEOPLE).fetchall()
    with ReviewStore.open(old) as store:
        assert [(p.code, p.name) for p in store.people.everybody()] == [p[:2] for p in people]


def test_people_whose_answers_came_from_a_file_are_moved_without_sessions_and_drafts(old):
    with closing(sqlite3.connect(old / DATABASE)) as connection, connection:
        people = connection.execute(OLD_PEOPLE).fetchall()
        connection.execute("delete from review_sessions")
        connection.execute("delete from drafts")
    with ReviewStore.open(old) as store:
        assert [(p.code, p.name) for p in store.people.everybody()] == [p[:2] for p in people]


@pytest.fixture
async def run(tmp_path):
    folder = tmp_path / "run"
    with begun(folder) as store:
        await store.add_cases([case()])
        await store.finish(dialogue(), 0)
    return folder


async def item_of(store):
    """Give the one dialogue to somebody."""
    study = store.studies.begin("s", "quiz", per_item=1, seed=1, hidden={})
    store.studies.add_items(study, [(c, "") for c in store.studies.candidates(study, "all")])
    who = store.people.known_as(NAME).seq
    return study, await store.take(study, who, lease_s=600), who


async def answer(store, study, number, who):
    return await store.submit(study, number, who, LABELS, Opinion(note=NOTE), lease_s=600)


def sheets_of(folder):
    with ReviewStore.open(folder) as store:
        return [
            (sheet.annotator, sheet.labels, sheet.opinion.note)
            for study in store.studies.all()
            for sheet in store.sheets.sheets(study)
        ]


@pytest.mark.anyio
async def test_a_run_without_the_file_shows_codes_and_takes_new_people(run):
    with ReviewStore.open(run) as store:
        await answer(store, *await item_of(store))
    assert NAME.encode() not in files(run)
    assert NOTE.encode() not in files(run)
    (run / PEOPLE).unlink()
    RunStore.open(run, readonly=True).close()
    assert sheets_of(run) == [("A01", tuple(LABELS), "")]
    with ReviewStore.open(run) as store:
        assert [(p.code, p.name) for p in store.people.everybody()] == [("A01", None)]
        assert store.people.known_as("Bea").code == "A02"


@pytest.mark.parametrize("left", [None, 0o644])
def test_nobody_else_on_the_machine_can_read_what_is_personal(tmp_path, left):
    with begun(tmp_path / "run"):
        pass
    file = tmp_path / "run" / PEOPLE
    before = os.umask(0o022)
    try:
        if left is not None:
            file.touch(left)
        with ReviewStore.open(tmp_path / "run") as store:
            store.people.add_account("Ada", "annotator", "secret")
            modes = {path.name: path.stat().st_mode & 0o777 for path in file.parent.glob("people*")}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys((PEOPLE, f"{PEOPLE}-wal", f"{PEOPLE}-shm"), 0o600)


@pytest.mark.anyio
async def test_the_file_of_another_run_is_refused(run, tmp_path):
    begun(tmp_path / "other").close()
    with ReviewStore.open(run) as store:
        store.people.known_as(NAME)
    shutil.copy(run / PEOPLE, tmp_path / "other")
    with pytest.raises(UsageError, match="belongs to another run"):
        ReviewStore.open(tmp_path / "other")


@pytest.mark.anyio
async def test_an_answer_the_run_could_not_store_can_be_sent_again(run, monkeypatch):
    with ReviewStore.open(run) as store:
        study, number, who = await item_of(store)
        await store.save_draft(study, number, who, FormDraft('{"note": []}', 1, 0), lease_s=600)
        real = Writer.post

        def full(self, write):
            if self is store._writer:
                raise StoreFailed("disk full")
            return real(self, write)

        monkeypatch.setattr(Writer, "post", full)
        with pytest.raises(StoreFailed):
            await answer(store, study, number, who)
        monkeypatch.undo()
        assert store.draft_of(number) is not None
        assert list(store.sheets.sheets(study)) == []
        assert await answer(store, study, number, who)
        assert store.draft_of(number) is None
    assert sheets_of(run) == [("A01", tuple(LABELS), NOTE)]
    with closing(sqlite3.connect(run / PEOPLE)) as people:
        assert people.execute("select count(*) from notes").fetchone() == (1,)


def die(arguments):
    """Send in an answer, and die at a moment of it."""
    folder, moment = arguments

    async def answered():
        store = ReviewStore.open(Path(folder))
        study, number, who = await item_of(store)
        await store.save_draft(study, number, who, FormDraft("{}", 1, 0), lease_s=600)
        if moment == "after the note":
            store._writer.post = lambda write: os._exit(9)
        else:
            store._file.drop_draft = lambda assignment: os._exit(9)
        await answer(store, study, number, who)

    asyncio.run(answered())


@pytest.mark.anyio
@pytest.mark.parametrize("moment", ["after the note", "after the answer"])
async def test_a_death_between_the_two_files_loses_and_doubles_nothing(run, moment):
    died = forked(die, [str(run), moment], ROOT, os.environ)
    assert died.returncode == 9
    with ReviewStore.open(run) as store:
        study = store.studies.get("s")
        who = store.people.known_as(NAME).seq
        assert store.draft_of(1) is not None
        assert await answer(store, study, 1, who) == (moment == "after the note")
        assert store.draft_of(1) is None
    assert sheets_of(run) == [("A01", tuple(LABELS), NOTE)]
    with closing(sqlite3.connect(run / DATABASE)) as connection:
        assert connection.execute("select count(*) from reviews").fetchone() == (1,)


@pytest.mark.anyio
async def test_a_name_that_two_want_at_once_is_given_to_one(run, monkeypatch):
    with ReviewStore.open(run) as store:
        for token in ("one", "two"):
            await store.people.open_session(token, "annotator", 1e12)
        monkeypatch.setattr(store.people, "_is_taken", lambda name: False)
        first, second = [
            await store.people.introduce(token, NAME, "secret") for token in ("one", "two")
        ]
        assert first is not None
        assert second is None
        assert [p.code for p in store.people.everybody()] == ["A01"]


@pytest.mark.anyio
async def test_somebody_is_erased_where_the_file_is_gone(run):
    with ReviewStore.open(run) as store:
        await answer(store, *await item_of(store))
    (run / PEOPLE).unlink()
    erase_person(run, 1, answers=True)
    assert sheets_of(run) == []
    with closing(sqlite3.connect(run / DATABASE)) as connection:
        assert connection.execute(
            "select count(*) from labels where kind = 'human'"
        ).fetchone() == (0,)


def test_an_empty_note_needs_no_row(tmp_path):
    file = PeopleFile.open(tmp_path, "mark")
    with closing(file):
        assert file.notes([None]) == {None: file.note(None)}


def test_whoever_only_looks_makes_no_file(tmp_path):
    begun(tmp_path / "run").close()
    with ReviewStore.open(tmp_path / "run") as looking:
        assert looking.people.everybody() == []
        assert looking.attention.given("review") == []
        assert not (tmp_path / "run" / PEOPLE).exists()
        with ReviewStore.open(tmp_path / "run") as other:
            other.people.add_account("Ada", "annotator", "hash")
        assert [one.name for one in looking.people.everybody()] == ["Ada"]
        looking.people.add_account("Bo", "expert", "hash")
        assert [one.name for one in looking.people.everybody()] == ["Ada", "Bo"]
