"""Names are for their own people alone, and nobody comes back as somebody else by guessing codes."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from tests.quality.review.serving import Served
from tests.quality.review.visitor import Visitor, answer_item, csrf_of


def test_names_are_seen_by_nobody_else(site: Served) -> None:
    ada, expert = Visitor(site.url), Visitor(site.url)
    answer_item(ada, ada.come_in(site.link(), "Adalbertine"))
    expert.come_in(site.link("expert"), "Eve")
    for path in ("/adjudicate", "/adjudicate/1", "/dashboard"):
        assert "Adalbertine" not in expert.get(path)[1].text


def test_a_name_is_one_line_in_the_list_of_people(site: Served) -> None:
    Visitor(site.url).come_in(site.link(), "Ada\nA99\t Grace")
    assert site.service.store.people.known_as("Ada A99 Grace").name == "Ada A99 Grace"


def test_a_name_that_is_taken_needs_its_return_code(site: Served) -> None:
    ada, eve = Visitor(site.url), Visitor(site.url)
    ada.come_in(site.link(), "Ada")
    eve.come_in(site.link(), "  ADA ")
    path, page = eve.get("/next")
    assert path == "/name"
    for code in ("aaaa-bbbb-cccc", "' or 1=1 --"):
        assert eve.post("/name", csrf_of(page.text), name="Ada", code=code).status == 403


def test_guessing_return_codes_keeps_nobody_from_coming_back(site: Served) -> None:
    ada, eve, again = Visitor(site.url), Visitor(site.url), Visitor(site.url)
    parts = urlsplit(site.link())
    ada.get(f"{parts.path}?{parts.query}")
    ada.post("/consent", csrf_of(ada.get("/consent")[1].text), agree="yes")
    shown = ada.post("/name", csrf_of(ada.get("/name")[1].text), name="Ada").text
    code = re.search(r"[a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}", shown)
    assert code is not None
    for visitor in (eve, again):
        parts = urlsplit(site.link())
        visitor.get(f"{parts.path}?{parts.query}")
        visitor.post("/consent", csrf_of(visitor.get("/consent")[1].text), agree="yes")
    token = csrf_of(eve.get("/name")[1].text)
    for i in range(9):
        last = eve.post("/name", token, name="Ada", code=f"aaaa-{i}").status
    assert last == 429
    token = csrf_of(again.get("/name")[1].text)
    assert again.post("/name", token, name="Ada", code=code[0]).status == 303


def test_guessing_return_codes_ends_soon(site: Served) -> None:
    ada, eve = Visitor(site.url), Visitor(site.url)
    ada.come_in(site.link(), "Ada")
    eve.come_in(site.link(), "Ada")
    token = csrf_of(eve.get("/name")[1].text)
    codes = [eve.post("/name", token, name="Ada", code=f"aaaa-{i}").status for i in range(9)]
    assert codes[0] == 403
    assert codes[-1] == 429


def test_handing_over_gives_no_further_guesses(site: Served) -> None:
    Visitor(site.url).come_in(site.link(), "Ada")
    eve = Visitor(site.url)
    token = eve.agree(site.link())
    found = []
    for number in range(12):
        found.append(eve.post("/name", token, name="Ada", code=f"aaaa-{number}").status)
        assert eve.post("/handover", token).status == 303
        token = eve.agree(f"{site.url}/consent")
    assert found == [403] * 8 + [429] * 4
    assert eve.post("/name", token, name="Eve").status == 200
