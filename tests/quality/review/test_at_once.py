"""What two browsers, or two clicks, send at the same moment: one of them wins, and both are told."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from pipeline.store.people_database import PEOPLE
from pipeline.store.reviews import ReviewStore
from quality.review import service
from tests.quality.review.serving import served
from tests.quality.review.visitor import Answer, Visitor, answer_item, csrf_of

CODE = re.compile(r"[a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}")


def slowly(real: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Return a coroutine that takes so long that requests of one moment meet in it."""

    async def slow(*args: Any, **named: Any) -> Any:
        await asyncio.sleep(0.5)
        return await real(*args, **named)

    return slow


def all_at_once(path: str, forms: Sequence[tuple[Visitor, str]]) -> list[Answer]:
    with ThreadPoolExecutor(len(forms)) as pool:
        return list(pool.map(lambda form: form[0].submit(path, form[1]), forms))


def last_word(visitor: Visitor, path: str, verdict: str) -> str:
    """Return the form of an item with the first answer to every question."""
    _, page = visitor.get(path)
    chosen = {
        name: next(filter(None, re.findall(r'<option value="([^"]*)"', options)))
        for name, options in re.findall(
            r'<select name="([^"]+)"(.*?)</select>', page.text, re.DOTALL
        )
    }
    (settled,) = re.findall(r'name="settled" value="([^"]*)"', page.text)
    extra = {"csrf": csrf_of(page.text), "settled": settled, "verdict": verdict, "note": verdict}
    return urlencode({**chosen, **extra})


def test_of_two_experts_at_once_one_is_told_of_the_other(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(run, everything=True, per_item=1) as site:
        ada, eve, exi = (Visitor(site.url) for _ in range(3))
        item = ada.come_in(site.link(), "Ada")
        answer_item(ada, item)
        answer_item(ada, item)
        for name, expert in (("Eve", eve), ("Exi", exi)):
            expert.come_in(site.link("expert"), name)
        store, study = site.service.store, site.service.study
        (path,) = re.findall(r'href="(/adjudicate/\d+)"', eve.get("/adjudicate")[1].text)
        forms = [
            (eve, last_word(eve, path, "accepted")),
            (exi, last_word(exi, path, "discarded")),
        ]
        monkeypatch.setattr(store._file, "add_note", slowly(store._file.add_note))
        answers = all_at_once(path, forms)
        assert sorted(answer.status for answer in answers) == [303, 409]
        (told,) = [answer.text for answer in answers if answer.status == 409]
        assert "Somebody settled this item while it was open here" in told
        ((_, final),) = store.sheets.adjudications(study).items()
        winner = "accepted" if answers[0].status == 303 else "discarded"
        assert (final.verdict, final.note) == (winner, winner)
        (found,) = [one for one, _ in store.sheets.items(study) if one.seq == final.item]
        (decisions,) = store.judgements.decisions([(found.case, found.arm)]).values()
        assert [one.verdict for one in decisions if one.by == "expert"] == [winner]
        loser = exi if winner == "accepted" else eve
        again = loser.submit(path, last_word(loser, path, "discarded"))
        assert again.status == 303
    with closing(sqlite3.connect(run / PEOPLE)) as people:
        notes = people.execute("select note from notes where note <> ''").fetchall()
    assert sorted(notes) == sorted([(winner,), ("discarded",)])


def test_an_expert_who_clicks_twice_has_settled_an_item_once(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(run, mode="quiz", per_item=1) as site:
        ada, eve = Visitor(site.url), Visitor(site.url)
        answer_item(ada, ada.come_in(site.link(), "Ada"))
        eve.come_in(site.link("expert"), "Eve")
        (path,) = re.findall(r'href="(/adjudicate/\d+)"', eve.get("/adjudicate")[1].text)
        form = last_word(eve, path, "accepted")
        store = site.service.store
        with monkeypatch.context() as patched:
            patched.setattr(store._file, "add_note", slowly(store._file.add_note))
            answers = all_at_once(path, [(eve, form)] * 2)
        answers.append(eve.submit(path, form))
        assert [answer.status for answer in answers] == [303] * 3
        assert store._reader.execute("select count(*) from adjudications").fetchone() == (1,)
        assert eve.submit(path, form.replace("note=accepted", "note=changed")).status == 409


def test_what_an_expert_says_and_what_it_decides_are_stored_together_or_not_at_all(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*_: object) -> None:
        raise sqlite3.OperationalError("the power is cut")

    with served(run, everything=True, per_item=1) as site:
        ada, eve = Visitor(site.url), Visitor(site.url)
        item = ada.come_in(site.link(), "Ada")
        answer_item(ada, item)
        answer_item(ada, item)
        eve.come_in(site.link("expert"), "Eve")
        store, study = site.service.store, site.service.study
        (path,) = re.findall(r'href="(/adjudicate/\d+)"', eve.get("/adjudicate")[1].text)
        form = last_word(eve, path, "discarded")
        with monkeypatch.context() as patched:
            patched.setattr("pipeline.store.judgements.store_decision", cut)
            patched.setattr("pipeline.store.review_sheets.store_decision", cut)
            assert eve.submit(path, form).status >= 500
        assert store.sheets.adjudications(study) == {}
        assert eve.submit(path, form).status == 303
        (final,) = store.sheets.adjudications(study).values()
        assert final.verdict == "discarded"


def test_one_session_is_one_person_however_many_names_are_sent_at_once(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(run, mode="quiz") as site:
        ada = Visitor(site.url)
        token = ada.agree(site.link())
        monkeypatch.setattr(
            site.service.passwords, "hash_of", slowly(site.service.passwords.hash_of)
        )
        forms = [(ada, urlencode({"csrf": token, "name": name})) for name in "ABCD"]
        answers = all_at_once("/name", forms)
        assert sorted(answer.status for answer in answers) == [200, 303, 303, 303]
        (person,) = site.service.store.people.everybody()
        (name,) = [n for n, answer in zip("ABCD", answers, strict=True) if answer.status == 200]
        assert person.name == name
        assert {answer.location for answer in answers if answer.status == 303} == {"/"}


def test_a_double_click_shows_the_return_code_that_counts(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(run, mode="quiz") as site:
        ada, again = Visitor(site.url), Visitor(site.url)
        token = ada.agree(site.link())
        passwords = site.service.passwords
        with monkeypatch.context() as patched:
            patched.setattr(passwords, "hash_of", slowly(passwords.hash_of))
            form = urlencode({"csrf": token, "name": "Ada"})
            answers = all_at_once("/name", [(ada, form)] * 2)
        assert [answer.status for answer in answers] == [200, 200]
        (code,) = {code for answer in answers for code in CODE.findall(answer.text)}
        assert len(site.service.store.people.everybody()) == 1
        assert site.service.introductions == {}
        token = again.agree(site.link())
        assert again.post("/name", token, name="Ada", code=code).status == 303


@pytest.mark.anyio
async def test_a_session_keeps_the_person_it_has(run: Path) -> None:
    with ReviewStore.open(run) as store:
        people = store.people
        bea = people.known_as("Bea").seq
        await people.open_session("token", "annotator", 1e12)
        ada = await people.introduce("token", "Ada", "secret")
        assert ada is not None
        assert await people.introduce("token", "Adalbertine", "secret") is None
        assert await people.introduce("of nobody", "Cleo", "secret") is None
        await people.come_back("token", bea)
        visit = people.visit("token")
        assert visit is not None
        assert visit.annotator is not None
        assert visit.annotator.seq == ada.seq
        assert [person.name for person in people.everybody()] == ["Bea", "Ada"]


def test_items_are_given_out_while_new_dialogues_are_looked_for(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, answered = threading.Event(), threading.Event()

    def fill_slowly(store: ReviewStore, *rest: object) -> int:
        rows = store.dialogues._reader.execute("select seq from dialogues")
        assert rows.fetchone() is not None  # a query of this connection goes on meanwhile
        begun.set()
        answered.wait(20)
        return len(rows.fetchall())

    with served(run, mode="quiz", per_item=2) as site, ThreadPoolExecutor(1) as pool:
        ada, bea = Visitor(site.url), Visitor(site.url)
        ada.come_in(site.link(), "Ada")
        first = bea.come_in(site.link(), "Bea")
        monkeypatch.setattr(service, "fill", fill_slowly)
        site.service._filled_at = float("-inf")
        waiting = pool.submit(ada.get, "/next")
        assert begun.wait(20)
        try:
            answer_item(bea, first)
            path, page = bea.get("/next")
        finally:
            answered.set()
        assert waiting.result()[1].status == 200
    assert (page.status, path != first) == (200, True)


def test_the_list_of_answered_items_is_made_without_reading_their_dialogues(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(run, everything=True, per_item=1) as site:
        ada, eve = Visitor(site.url), Visitor(site.url)
        item = ada.come_in(site.link(), "Ada")
        answer_item(ada, item)
        answer_item(ada, item)
        eve.come_in(site.link("expert"), "Eve")
        read: list[str] = []
        monkeypatch.setattr(site.service.exhibits, "_kept", read.append)
        _, listing = eve.get("/adjudicate")
    assert "Settled: 0 of 1 with answers." in listing.text
    assert read == []
