"""Whatever strangers and people of the study send, the page answers; it never breaks."""

from __future__ import annotations

import re
import shutil
import string
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.routing import Route

from pipeline.store.reviews import ReviewStore
from quality.review.app import build_app
from quality.web.sessions import form_token
from scenarios.reviews import PersonRole
from tests.quality.review.serving import Served, proxied, served
from tests.quality.review.visitor import BY_PROXY, Visitor, csrf_of, first_choices

ODD_NUMBERS = (
    "0", "-1", "9223372036854775807", "9223372036854775808", "99999999999999999999999999",
    "9" * 5000, "1e3", "1.0", "²", "٣", "\uff11", "0x1", "+1", " 1", "1%00", "NaN", "%ff", "1/", "..",
)  # fmt: skip
ODD_VALUES = ("", "²", "٣", "-1", "1e9", "9" * 60, "\0", "\ud800", "é" * 3000, "None", "[]", "%")
FIELDS = (
    "edits", "lead_ms", "stage", "note", "issue", "verdict", "name", "code", "language", "category",
    "reason", "agree", "scenario_wrong", "scenario_problem", "password", "csrf", "t1.veracity",
)  # fmt: skip


@pytest.fixture(scope="module")
def site(_ten_dialogues: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = shutil.copytree(_ten_dialogues, tmp_path_factory.mktemp("odd") / "run")
    with served(Path(folder), everything=True, per_item=2) as site:
        yield site


@pytest.fixture(scope="module")
def people(site: Served) -> dict[str, Visitor]:
    """Return a stranger, and an annotator and an expert who are seated."""
    found = {"stranger": Visitor(site.url)}
    for role in ("annotator", "expert"):
        visitor = found[role] = Visitor(site.url)
        visitor.come_in(site.link(role), f"The {role}")
    return found


@pytest.fixture(scope="module")
def routes(site: Served) -> list[tuple[str, str]]:
    """Return every method and path there is."""
    app = build_app(site.service)
    found = [
        (method, route.path)
        for route in walk(app.routes)
        for method in sorted(route.methods or ())
        if method in ("GET", "POST") and route.path != "/leave"
    ]
    assert len(found) >= 24
    return found


def walk(entries: object) -> Iterator[Route]:
    """Yield the routes of an application and of the routers in it."""
    for entry in entries:  # type: ignore[attr-defined]
        if isinstance(entry, Route):
            yield entry
        else:
            yield from walk(getattr(getattr(entry, "original_router", entry), "routes", ()))


def filled(path: str, value: str) -> str:
    return re.sub(r"\{\w+\}", value, path)


def token_of(visitor: Visitor) -> str:
    return form_token(next(iter(visitor.cookies.values()), ""))


def test_no_number_in_a_path_breaks_a_page(
    routes: list[tuple[str, str]], people: dict[str, Visitor]
) -> None:
    numbered = [(method, path) for method, path in routes if "{" in path]
    assert len(numbered) >= 6
    for who, visitor in people.items():
        for method, path in numbered:
            for number in ODD_NUMBERS:
                odd = filled(path, quote(number, safe="%/+"))
                body = urlencode({"csrf": token_of(visitor)}) if method == "POST" else None
                answer = visitor.send(method, odd, body)
                assert answer.status < 500, (who, method, odd[:80], answer.status)


def test_numbers_beyond_what_is_stored_are_not_here(people: dict[str, Visitor]) -> None:
    annotator, expert = people["annotator"], people["expert"]
    for number in ("9223372036854775808", "99999999999999999999999999"):
        assert annotator.send("GET", f"/item/{number}").status == 404
        assert expert.send("GET", f"/adjudicate/{number}").status == 404
        assert expert.post(f"/adjudicate/{number}", token_of(expert)).status == 404


@pytest.mark.parametrize("field", ["edits", "lead_ms"])
@pytest.mark.parametrize("value", ["²", "٣", "-1", "1.5", "9" * 13])
def test_counts_of_a_form_that_are_no_numbers_are_refused(
    people: dict[str, Visitor], field: str, value: str
) -> None:
    visitor = people["annotator"]
    item, page = visitor.get("/next")
    fields = {"csrf": csrf_of(page.text), "stage": "labels", **first_choices(page.text)}
    assert visitor.submit(f"{item}/draft", urlencode({**fields, field: value})).status == 422


def test_every_route_takes_odd_fields(
    routes: list[tuple[str, str]], people: dict[str, Visitor]
) -> None:
    for who, visitor in people.items():
        for method, path in routes:
            place = filled(path, "1")
            for value in ODD_VALUES:
                odd = [(name, value) for name in FIELDS if name != "csrf"]
                sent = urlencode([("csrf", token_of(visitor)), *odd], errors="surrogatepass")
                # What was sent as a query has to be as harmless as what was sent as a form.
                answers = (
                    [visitor.submit(place, sent)]
                    if method == "POST"
                    else [
                        visitor.send("GET", f"{place}?token={quote(value[:50], errors='replace')}")
                    ]
                )
                for answer in answers:
                    assert answer.status < 500, (who, method, place, value[:20], answer.text[:200])


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_nothing_that_can_be_sent_breaks_a_page(
    routes: list[tuple[str, str]], people: dict[str, Visitor], data: st.DataObject
) -> None:
    method, path = data.draw(st.sampled_from(routes))
    visitor = people[data.draw(st.sampled_from(sorted(people)))]
    number = data.draw(
        st.integers(-(2**70), 2**70).map(str) | st.text(st.characters(codec="utf-8"), max_size=8)
    )
    names = st.sampled_from(FIELDS) | st.text(string.printable, max_size=6)
    fields = data.draw(st.lists(st.tuples(names, st.text(max_size=20)), max_size=6))
    body: bytes | None = None
    if method == "POST":
        form = [("csrf", token_of(visitor)), *fields]
        body = data.draw(
            st.just(urlencode(form, errors="surrogatepass").encode()) | st.binary(max_size=200)
        )
    accept = data.draw(st.sampled_from(["*/*", "application/json"]))
    answer = visitor.send(method, filled(path, quote(number, safe="")), body, {"Accept": accept})
    assert answer.status < 500


@pytest.mark.parametrize(
    "host", ["evil.example", "review.test.evil.example", "review.test:81", "127.0.0.1", ""]
)
def test_with_accounts_only_the_names_that_were_told_are_answered(run: Path, host: str) -> None:
    with ReviewStore.open(run) as store:
        store.people.add_account("Ada", "annotator", "x")
    with served(run, proxied(), mode="quiz") as site:
        for path in ("/next/", "/login", "/"):
            answer = Visitor(site.url, **BY_PROXY).send("GET", path, headers={"Host": host})
            assert answer.status == 421
            assert answer.location == ""
        told = Visitor(site.url, **BY_PROXY).send("GET", "/login", headers={"Host": "Review.TEST"})
        assert told.status == 200
        slash = Visitor(site.url, **BY_PROXY).send("GET", "/next/")
        assert (slash.status, slash.location) == (404, "")


@pytest.mark.parametrize("role", ["annotator", "expert"])
def test_those_who_were_sent_odd_things_still_see_their_pages(
    people: dict[str, Visitor], role: PersonRole
) -> None:
    assert people[role].get("/")[1].status == 200
