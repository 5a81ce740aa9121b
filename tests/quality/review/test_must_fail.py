"""What strangers, other annotators and other pages must not be able to do."""

from __future__ import annotations

import asyncio
import socket
import sqlite3
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from benchmarks.machine import free_port
from pipeline.store.reviews import ReviewStore
from quality.review.passwords import hashed
from quality.review.scenario_reports import scenario_reports
from quality.web.server import Address
from quality.web.sessions import form_token
from scenarios.errors import UsageError
from scenarios.reviews import Sheet
from tests.quality.review.serving import (
    Served,
    generated_run,
    proxied,
    served,
)
from tests.quality.review.visitor import (
    BY_PROXY,
    Visitor,
    answer_item,
    csrf_of,
    first_choices,
    log_in,
)

PAGES = (
    "/",
    "/next",
    "/item/1",
    "/finish",
    "/filter",
    "/adjudicate",
    "/adjudicate/1",
    "/dashboard",
)


def sheets_of(site: Served) -> list[Sheet]:
    return list(site.service.store.sheets.sheets(site.service.study))


@pytest.mark.parametrize("path", PAGES)
def test_without_a_link_nothing_is_shown(site: Served, path: str) -> None:
    _, answer = Visitor(site.url).get(path)
    assert answer.status == 401
    assert "responder" not in answer.text


@pytest.mark.parametrize("token", ["", "x", "0" * 43])
def test_a_guessed_link_lets_nobody_in(site: Served, token: str) -> None:
    visitor = Visitor(site.url)
    _, answer = visitor.get(f"/enter?token={token}")
    assert answer.status == 401
    assert visitor.cookies == {}


def test_a_link_works_once_and_a_fresh_one_is_announced(site: Served) -> None:
    link = site.link()
    path = link.removeprefix(site.url)
    assert Visitor(site.url).get(path)[1].status == 200
    assert Visitor(site.url).get(path)[1].status == 401
    assert [role for role, _ in site.links] == ["annotator"]


def test_an_item_of_somebody_else_does_not_exist(site: Served) -> None:
    ada, eve = Visitor(site.url), Visitor(site.url)
    theirs = ada.come_in(site.link(), "Ada")
    eve.come_in(site.link(), "Eve")
    answer_item(ada, theirs, note="Ada's own words")
    _, shown = eve.get(theirs)
    assert shown.status == 404
    assert "own words" not in shown.text
    (token,) = eve.cookies.values()
    body = urlencode({"csrf": form_token(token), "stage": "labels", "note": "taken over"})
    for path in (theirs, f"{theirs}/draft", f"{theirs}/give-back"):
        assert eve.submit(path, body).status == 404
    (sheet,) = sheets_of(site)
    assert sheet.annotator == "A01"
    assert sheet.opinion is not None
    assert sheet.opinion.note == "Ada's own words"


def test_answers_of_others_cannot_be_guessed_by_url(site: Served) -> None:
    ada, eve = Visitor(site.url), Visitor(site.url)
    ada.come_in(site.link(), "Ada")
    for _ in range(3):
        answer_item(ada, ada.get("/next")[0], note="a secret note")
    own = eve.come_in(site.link(), "Eve")
    for number in range(1, 40):
        path = f"/item/{number}"
        _, answer = eve.get(path)
        assert answer.status == (200 if path == own else 404)
        assert "a secret note" not in answer.text


def test_an_annotator_is_no_expert(site: Served) -> None:
    visitor = Visitor(site.url)
    visitor.come_in(site.link(), "Ada")
    for path in ("/adjudicate", "/adjudicate/1", "/dashboard"):
        assert visitor.get(path)[1].status == 403
    (token,) = visitor.cookies.values()
    answer = visitor.post("/adjudicate/1", form_token(token), verdict="accepted")
    assert answer.status == 403


@pytest.mark.parametrize("csrf", ["", "0" * 64])
def test_a_form_without_our_token_is_refused(site: Served, csrf: str) -> None:
    visitor = Visitor(site.url)
    item = visitor.come_in(site.link(), "Ada")
    choices = first_choices(visitor.get(item)[1].text)
    body = urlencode({"csrf": csrf, "stage": "labels", **choices})
    assert visitor.submit(item, body).status == 403
    assert visitor.post("/finish", csrf).status == 403
    assert sheets_of(site) == []


def test_the_token_of_one_person_is_no_good_for_another(site: Served) -> None:
    ada, eve = Visitor(site.url), Visitor(site.url)
    ada.come_in(site.link(), "Ada")
    item = eve.come_in(site.link(), "Eve")
    stolen = csrf_of(ada.get("/next")[1].text)
    assert eve.submit(item, urlencode({"csrf": stolen})).status == 403


@pytest.mark.parametrize("origin", ["https://elsewhere.example", "null", "http://127.0.0.1:1"])
def test_a_form_from_another_page_is_refused(site: Served, origin: str) -> None:
    visitor = Visitor(site.url)
    item = visitor.come_in(site.link(), "Ada")
    _, page = visitor.get(item)
    fields = {"csrf": csrf_of(page.text), "stage": "labels", **first_choices(page.text)}
    assert visitor.submit(item, urlencode(fields), Origin=origin).status == 403
    assert sheets_of(site) == []


def test_another_name_for_this_machine_is_refused(site: Served) -> None:
    answer = Visitor(site.url).send("GET", "/consent", headers={"Host": "rebound.example"})
    assert answer.status == 421


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/%2e%2e/records.py",
        "/static//etc/passwd",
        "/static/..%5capp.py",
        "/../../run.sqlite",
        "/run.sqlite",
    ],
)
def test_no_path_leads_to_a_file(site: Served, path: str) -> None:
    answer = Visitor(site.url).send("GET", path)
    assert answer.status == 404
    assert "import" not in answer.text
    assert "SQLite" not in answer.text


def test_a_form_of_ten_megabytes_is_refused_unread(site: Served) -> None:
    visitor = Visitor(site.url)
    item = visitor.come_in(site.link(), "Ada")
    parts = urlsplit(site.url)
    cookie = "; ".join(f"{k}={v}" for k, v in visitor.cookies.items())
    head = (
        f"POST {item} HTTP/1.1\r\nHost: {parts.netloc}\r\nCookie: {cookie}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 10485760\r\n\r\n"
    )
    with socket.create_connection((parts.hostname, parts.port), timeout=10) as connection:
        connection.sendall(head.encode())
        assert connection.recv(64).startswith(b"HTTP/1.1 413")


def test_a_form_that_hides_its_size_is_cut_off(site: Served) -> None:
    visitor = Visitor(site.url)
    item = visitor.come_in(site.link(), "Ada")
    parts = urlsplit(site.url)
    cookie = "; ".join(f"{k}={v}" for k, v in visitor.cookies.items())
    head = (
        f"POST {item} HTTP/1.1\r\nHost: {parts.netloc}\r\nCookie: {cookie}\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection((parts.hostname, parts.port), timeout=10) as connection:
        connection.sendall(head.encode())
        chunk = b"4000\r\n" + b"x" * 0x4000 + b"\r\n"
        for _ in range(5):
            connection.sendall(chunk)
        assert connection.recv(64).startswith(b"HTTP/1.1 413")


def test_more_fields_than_any_form_has_are_refused(site: Served) -> None:
    visitor = Visitor(site.url)
    item = visitor.come_in(site.link(), "Ada")
    assert visitor.submit(item, "&".join(f"a{i}=1" for i in range(3000))).status == 400


def test_labels_that_are_not_on_offer_are_refused(site: Served) -> None:
    visitor = Visitor(site.url)
    item = visitor.come_in(site.link(), "Ada")
    _, page = visitor.get(item)
    choices = first_choices(page.text)
    field = next(name for name in choices if name.endswith(".veracity"))
    for value in ("None", "<script>", "Quality, Quantity"):
        fields = {"csrf": csrf_of(page.text), "stage": "labels", **choices, field: value}
        assert visitor.submit(item, urlencode(fields)).status == 422
    assert sheets_of(site) == []


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>{{ 7*7 }}"


def test_text_is_never_markup(tmp_path: Path) -> None:
    folder = generated_run(tmp_path / "run", n=1, turns=[1])
    with ReviewStore.open(folder) as store:
        for table, column in (("turns", "text"), ("annotations", "rationale")):
            store._writer.run(
                lambda connection, t=table, c=column: connection.execute(
                    f"update {t} set {c} = ?", (HOSTILE,)
                )
            )
    with served(folder, everything=True, per_item=1) as site:
        visitor, expert = Visitor(site.url), Visitor(site.url)
        item = visitor.come_in(site.link(), HOSTILE)
        pages = [visitor.get(item)[1].text]
        answer_item(visitor, item)
        pages.append(visitor.get(item)[1].text)
        answer_item(visitor, item, note=HOSTILE, scenario_wrong="yes", scenario_problem=HOSTILE)
        pages.append(visitor.get(item)[1].text)
        expert.come_in(site.link("expert"), "Eve")
        pages += [expert.get(path)[1].text for path in ("/adjudicate/1", "/dashboard")]
        headers = visitor.send("GET", item).headers
        (report,) = scenario_reports(
            site.service.store, site.service.store.sheets.sheets(site.service.study)
        )
    assert (report.problem, report.annotator) == (HOSTILE, "A01")
    assert all("<script>alert" not in page and "<img" not in page for page in pages)
    assert all("&lt;script&gt;alert(1)" in page for page in pages)
    assert all("{{ 7*7 }}" in page for page in pages)
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["cache-control"] == "no-store"


def test_a_run_that_cannot_be_read_is_told_without_where_it_lies(tmp_path: Path) -> None:
    folder = generated_run(tmp_path / "run", n=1, turns=[1])
    with served(folder, everything=True, per_item=1) as site:
        visitor = Visitor(site.url)
        item = visitor.come_in(site.link(), "Ada")
        site.service.store._writer.run(
            lambda connection: connection.execute("update review_items set reasons = '['")
        )
        page = visitor.get(item)[1]
        with pytest.raises(UsageError, match="an item cannot be read"):
            site.service.store.sheets.items(site.service.study)
    assert page.status == 503
    assert "the run cannot be read" in page.text
    assert str(folder) not in page.text


def test_an_answer_that_cannot_be_saved_is_told_without_where_the_run_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room() -> None:
        raise sqlite3.OperationalError("database or disk is full")

    folder = generated_run(tmp_path / "run", n=1, turns=[1])
    with served(folder, everything=True, per_item=1) as site:
        visitor = Visitor(site.url)
        item = visitor.come_in(site.link(), "Ada")
        with monkeypatch.context() as full:
            full.setattr(site.service.store._writer, "_begin", no_room)
            page = answer_item(visitor, item)
        assert answer_item(visitor, item).status == 303
    assert page.status == 503
    assert "Nothing was saved." in page.text
    assert str(folder) not in page.text


def test_a_quiz_is_not_filtered_by_what_flags_tell_of_the_labels(verified_run: Path) -> None:
    with served(verified_run, mode="quiz", everything=True, per_item=2) as site:
        ada = Visitor(site.url)
        ada.come_in(site.link(), "Ada")
        (session,) = ada.cookies.values()
        store = site.service.store
        items = [item for item, _ in store.sheets.items(site.service.study)]
        code = next(code for item in items for code in item.reasons)
        assert not all(code in item.reasons for item in items)
        assert ada.post("/filter", form_token(session), category="", reason=code).status == 422
        for _ in ("nothing was stored", "something was, in a review of the run"):
            _, page = ada.get("/finish")
            assert f"{len(items)} are left for you" in page.text
            asyncio.run(store.people.update_session(session, reason=code))


@pytest.mark.parametrize("field", ["category", "reason"])
def test_items_are_filtered_by_what_is_on_offer_alone(verified_run: Path, field: str) -> None:
    with served(verified_run, per_item=2) as site:
        ada = Visitor(site.url)
        ada.come_in(site.link(), "Ada")
        token = form_token(*ada.cookies.values())
        item, _ = site.service.store.sheets.items(site.service.study)[0]
        offered = {"category": item.category, "reason": item.reasons[0]}
        for value, status in (("made up", 422), (offered[field], 303), ("", 303)):
            assert ada.post("/filter", token, **{field: value}).status == status


def test_a_proxy_that_is_not_the_named_one_is_refused(run: Path) -> None:
    with ReviewStore.open(run) as store:
        store.people.add_account("Ada", "annotator", "x")
    address = Address(
        port=free_port(), trusted_proxies=("10.9.8.7",), public_urls=("https://review.test",)
    )
    with served(run, address, mode="quiz") as site:
        forged = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "10.9.8.7"}
        assert Visitor(site.url).send("GET", "/login", headers=forged).status == 403


def test_behind_a_proxy_the_cookie_is_secure_and_a_password_is_needed(run: Path) -> None:
    with ReviewStore.open(run) as store:
        store.people.add_account("Ada", "annotator", hashed("correct horse battery"))
    with served(run, proxied(), mode="quiz") as site:
        assert Visitor(site.url).send("GET", "/login").status == 403
        visitor = Visitor(site.url, **BY_PROXY)
        assert log_in(visitor, "Ada", "wrong").status == 403
        answer = log_in(visitor, "Ada", "correct horse battery")
        assert answer.status == 303
        cookie = answer.headers["set-cookie"].lower()
        assert cookie.startswith("__host-")
        assert all(part in cookie for part in ("secure", "httponly", "samesite=lax"))
        assert visitor.send("GET", "/consent").status == 200
        token = site.service.links.mint("expert")
        assert visitor.send("GET", f"/enter?token={token}").status == 404
