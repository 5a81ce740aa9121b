"""What the pages of the viewer show, to whom, and that they change nothing."""

from __future__ import annotations

import asyncio
import hashlib
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from pipeline.store.call_rows import CallReport
from pipeline.store.queries.browsing import BrowsingReader
from pipeline.store.run_store import RunStore
from pipeline.store.sqlite import DATABASE, connect_readonly
from pipeline.store.texts import parted
from quality.viewer.label_table import in_order
from scenarios.dialogue import (
    Attempt,
    Candidate,
    Critique,
    Dialogue,
    Draft,
    Trace,
)
from scenarios.errors import UsageError
from scenarios.verdicts import Assessment, Decision, Flag, Judgement, JudgeRun
from tests.factories import (
    ARM,
    make_arm,
    make_case,
    make_choice_row,
    make_dialogue,
    make_request_row,
    make_run,
    make_scenario,
    make_tactic,
)
from tests.flows import make_flow_case, make_hearing
from tests.quality.review.visitor import Visitor
from tests.quality.viewer.viewing import ViewedPage, viewed

OTHER = "arm-b"
HOSTILE = "<script>alert('x')</script><b onmouseover=alert(1)>&amp; \x1b[31m"
LIE = make_tactic("since it was hit", veracity="Quality", intention="Convince")
ARMS = {ARM: make_arm(), OTHER: make_arm("consistency")}
CASE = make_case()
PATHS = (
    "/",
    "/1/dialogues",
    f"/1/dialogue/{CASE.id}/{ARM}",
    f"/1/prompts/{CASE.id}/{ARM}",
    f"/1/compare/{CASE.id}",
    "/1/scenarios",
    "/1/scenarios?by=fact",
    "/1/labels",
    "/1/progress",
    "/1/progress?part=now",
)


def trace() -> Trace:
    drafts = [Draft(text, "deception", LIE) for text in ("Never been hit.", "A careful owner's.")]
    return Trace(
        "consistency",
        candidates=(
            Candidate(0, drafts[0], 0.91),
            Candidate(1, drafts[1], 0.72),
            Candidate(2, None, None, "no JSON"),
        ),
    )


def reflective() -> Trace:
    draft = Draft("Hit? No.", "deception", LIE)
    critique = Critique("veracity", carried=False, reason="nothing false is said")
    return Trace("reflective", attempts=(Attempt(draft, (critique,)), Attempt(draft)), chosen=1)


async def judge(store: RunStore, one: Dialogue, number: int) -> None:
    """Record calls, opinions, flags and a verdict of the first dialogue."""
    if number:
        return
    key = (one.case.id, one.arm)
    said = Judgement(*key, 3, "external", "m/judge", "veracity", "Relevance", False, "he evades")
    await store.judgements.record(JudgeRun(*key, "external", "m/judge", "c", 0, True), [said])
    flags = (Flag(*key, 3, "external_veracity", "one of one says Relevance", 1.0),)
    decision = Decision(*key, "pending", "policy:review", "flagged")
    await store.judgements.assess(Assessment(*key, "c", flags), decision)
    messages = (("system", "You sell a car."), ("user", "Was it ever hit?"))
    await store.calls.record(
        CallReport(
            b"f",
            parted(messages),
            [make_request_row(case=one.case.id)],
            [make_choice_row(text="{no}")],
        )
    )


def made(folder: Path, text: str = "Never been hit.") -> Path:
    """Write a run with two arms, a failure, opinions and prompts."""
    dialogues = [
        make_dialogue("Was it hit?", text, case=CASE, tactics=[LIE], trace=trace()),
        make_dialogue(
            "Was it hit?", "Hit? No.", case=CASE, arm=OTHER, tactics=[LIE], trace=reflective()
        ),
    ]
    lost = make_case(repetition=3)
    return make_run(folder, dialogues, arms=ARMS, failed=[(lost, ARM)], each=judge)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[ViewedPage]:
    with viewed(made(tmp_path / "run")) as site:
        yield site


def words(html: str) -> str:
    """Return what people read of a page."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


@pytest.mark.parametrize("path", PATHS)
def test_without_a_link_nothing_is_shown(site: ViewedPage, path: str) -> None:
    answer = Visitor(site.url).get(path)[1]
    assert answer.status == 401
    assert "hit" not in answer.text


def test_a_link_lets_one_browser_in_and_a_guess_none(site: ViewedPage) -> None:
    link = site.link().removeprefix(site.url)
    first, second = Visitor(site.url), Visitor(site.url)
    assert first.get(link)[1].status == 200
    assert first.get(link)[1].status == 200, "whoever is in goes on"
    assert second.get(link)[1].status == 401
    assert second.get("/enter?token=guess")[1].status == 401
    assert second.get("/enter")[1].status == 401


@pytest.mark.parametrize("path", PATHS)
def test_every_page_is_strict_and_nothing_can_be_sent(site: ViewedPage, path: str) -> None:
    owner = site.owner()
    answer = owner.get(path)[1]
    assert answer.status == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"
    assert not re.search(r"<script(?! src=\"/static/)|\sstyle=|\son\w+=|https?://", answer.text)
    assert owner.submit(path, "a=b").status == 405
    other = owner.send("GET", path, headers={"Host": "evil.test"})
    assert other.status == 421


def test_a_run_is_not_changed_by_looking_at_it(tmp_path: Path) -> None:
    folder = made(tmp_path / "run")
    before = hashlib.sha256((folder / DATABASE).read_bytes()).digest()
    with viewed(folder) as site:
        for path in PATHS:
            site.text(path)
        site.text("/1/dialogues?text=hit")
    assert hashlib.sha256((folder / DATABASE).read_bytes()).digest() == before


def spoilt(folder: Path, statement: str) -> Path:
    """Return a run whose cells a stranger has changed."""
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        connection.execute("pragma ignore_check_constraints = on")
        connection.execute(statement)
        connection.commit()
    return folder


@pytest.mark.parametrize(
    "statement",
    [
        "update decisions set verdict = 'x'",
        "update decisions set dialogue = 99",
        "update annotations set dimension = 99",
        "update annotations set value = -1",
        "update annotations set turn = 1000000000000000",
        "update annotations set turn = 9223372036854775807",
        "update dialogues set finished_at = -9e999",
    ],
)
def test_a_run_whose_cells_cannot_be_is_refused_in_words(tmp_path: Path, statement: str) -> None:
    folder = spoilt(made(tmp_path / "run"), statement)
    with pytest.raises(UsageError, match="the list of dialogues cannot be read"), viewed(folder):
        pass


def test_numbers_far_apart_are_read_as_quickly_as_others(tmp_path: Path) -> None:
    folder = spoilt(made(tmp_path / "run"), "update assessments set seq = 9223372036854775807")
    with viewed(folder) as site:
        assert CASE.id in site.text("/1/dialogues")


def test_a_call_without_its_prompt_is_told_on_its_page(tmp_path: Path) -> None:
    folder = spoilt(made(tmp_path / "run"), "update requests set prompt = 99")
    with viewed(folder) as site:
        answer = site.owner().get(f"/1/prompts/{CASE.id}/{ARM}")[1]
        assert answer.status == 503
        assert "the prompt of a call cannot be read" in answer.text


def test_a_run_that_does_not_say_when_it_was_begun_is_refused_in_words(tmp_path: Path) -> None:
    folder = spoilt(made(tmp_path / "run"), "delete from meta where key = 'created'")
    with (
        closing(connect_readonly(folder / DATABASE)) as connection,
        pytest.raises(UsageError, match="when the run was begun cannot be read"),
    ):
        BrowsingReader(connection).created()


def test_a_dialogue_comes_with_everything_that_is_known_about_it(site: ViewedPage) -> None:
    text = words(site.text(f"/1/dialogue/{CASE.id}/{ARM}"))
    for part in (
        "pending", "flagged", "one of one says Relevance", "judge m/judge", "he evades",
        "since it was hit", "Never been hit.", "0.9100", "A careful owner's.", "left out: no JSON",
        make_scenario().facts[0].text, make_scenario().background, CASE.id,
    ):  # fmt: skip
        assert part in text, part
    # Notes count candidates from 0, and so does hipo show.
    assert '<ol start="0">' in site.text(f"/1/dialogue/{CASE.id}/{ARM}")
    revised = words(site.text(f"/1/dialogue/{CASE.id}/{OTHER}"))
    assert "veracity fails : nothing false is said" in revised
    prompts = words(site.text(f"/1/prompts/{CASE.id}/{ARM}"))
    assert all(part in prompts for part in ("You sell a car.", "Was it ever hit?", "{no}"))


def test_what_models_wrote_is_text_on_every_page(tmp_path: Path) -> None:
    with viewed(made(tmp_path / "run", HOSTILE)) as site:
        for path in (*PATHS, "/1/dialogues?text=%3Cscript%3Ealert"):
            html = site.text(path)
            assert "<script>alert" not in html, path
            assert "<b onmouseover" not in html, path
        assert "&lt;script&gt;alert" in site.text("/1/dialogues")
        wish = "/1/dialogues?text=%22%3E%3Cscript%3E&label.%22%3E%3Cscript%3E=1&flag=%3Cscript%3E"
        assert "<script>" not in site.text(wish)


@pytest.mark.parametrize(
    ("query", "n"),
    [
        ("", 3),
        ("verdict=failed", 1),
        ("verdict=pending&flag=external_veracity", 1),
        ("strategy=consistency", 1),
        ("label.veracity=Quality&model=compatible/m", 2),
        ("text=careful", 0),
        ("text=hit&strategy=direct", 1),
        ("scenario=used_car&goal=deception&language=en", 3),
        ("page=99", 3),
        ("page=x&page=-1", 3),
    ],
)
def test_a_filter_stands_in_the_address(site: ViewedPage, query: str, n: int) -> None:
    html = site.text(f"/1/dialogues?{query}")
    assert f"<h1>{n} dialogue" in html
    assert html.count('<li><a href="/1/dialogue/') == n


def test_a_failed_case_says_why(site: ViewedPage) -> None:
    html = site.text("/1/dialogues?verdict=failed")
    path = re.findall(r'href="(/1/dialogue/[^"?]+)', html)[0]
    assert "no answer" in site.text(path)


def test_the_beginning_of_an_id_leads_to_its_dialogue(site: ViewedPage) -> None:
    path, answer = site.owner().get(f"/1/dialogues?text={CASE.id[:8]}/{ARM}")
    assert answer.status == 200
    assert path.startswith("/1/dialogues"), "no id has such an arm: a word"
    lost = site.text("/1/dialogues?verdict=failed")
    known = re.findall(r'href="/1/dialogue/([0-9a-f]+)/', lost)[0]
    path, answer = site.owner().get(f"/1/dialogues?text={known[:10]}")
    assert path == f"/1/dialogue/{known}/{ARM}"
    assert answer.status == 200


def test_the_beginning_of_a_case_of_several_arms_lists_its_dialogues(site: ViewedPage) -> None:
    html = site.text(f"/1/dialogues?text={CASE.id[:8]}")
    assert "<h1>2 dialogues" in html
    listed = re.findall(r'<li><a href="/1/dialogue/([^"?]+)', html)
    assert sorted(listed) == sorted(f"{CASE.id}/{arm}" for arm in (ARM, OTHER))


@pytest.mark.parametrize(
    "path",
    ["/2/dialogues", "/0/dialogues", "/x/dialogues", "/1/dialogue/no/such", "/1/compare/none",
     "/1/prompts/no/such", "/1/labels?down=none", "/1", "/static/none.css"],
)  # fmt: skip
def test_what_is_not_there_is_said_to_be_missing(site: ViewedPage, path: str) -> None:
    assert site.owner().get(path)[1].status == 404


def test_two_arms_of_a_case_stand_side_by_side(site: ViewedPage) -> None:
    text = words(site.text(f"/1/compare/{CASE.id}"))
    assert "direct compatible/m" in text
    assert "consistency compatible/m" in text
    assert text.index("Never been hit.") < text.index("Hit? No.")
    swapped = f"/1/compare/{CASE.id}?left=1:{CASE.id}/{OTHER}&right=1:{CASE.id}/{ARM}"
    text = words(site.text(swapped))
    assert text.index("Hit? No.") < text.index("Never been hit.")


def test_two_runs_of_a_case_stand_side_by_side_whatever_their_seed(tmp_path: Path) -> None:
    first = made(tmp_path / "first")
    again = make_run(
        tmp_path / "again", [make_dialogue("Was it hit?", "Once.", case=make_case(seed=8))]
    )
    with viewed(first, again) as site:
        assert "first" in words(site.text("/"))
        assert "again" in words(site.text("/"))
        text = words(site.text(f"/1/compare/{CASE.id}"))
        assert "again: direct" in text
        other = re.findall(r'value="(2:[^"]+)"', site.text(f"/1/compare/{CASE.id}"))[0]
        text = words(site.text(f"/1/compare/{CASE.id}?right={other}"))
        assert "Never been hit." in text
        assert "Once." in text
        assert "differ in seed" in text


def test_a_flow_of_any_roles_without_goal_and_labels_is_shown(tmp_path: Path) -> None:
    hearing = make_hearing()
    case = make_flow_case(hearing)
    roles = list(hearing.roles)
    plain = make_dialogue("Who?", "Me.", case=replace(case, scenario="lost_scenario"), opening=())
    turns = tuple(
        replace(turn, role=roles[turn.index % len(roles)], labelled=True, declared_goal=None)
        for turn in plain.turns
    )
    folder = make_run(tmp_path / "run", [Dialogue(plain.case, ARM, turns)])
    with viewed(folder) as site:
        assert "Me." in site.text(f"/1/dialogue/{plain.case.id}/{ARM}")
        assert "No utterance of this run declares a label." in site.text("/1/labels")
        assert "No dialogue is about a single fact." in site.text("/1/scenarios?by=fact")
        assert "lost scenario" in site.text("/1/scenarios")
        assert "goal" not in re.findall(r'<select id="f-([^"]+)"', site.text("/1/dialogues"))


def test_a_run_that_is_being_played_is_shown_as_it_goes(tmp_path: Path) -> None:
    folder = made(tmp_path / "run")
    with RunStore.open(folder) as store:
        store.set_state("running", planned=10)
        asyncio.run(store.calls.reserve(0.02, 100))
        asyncio.run(store.calls.reserve(0.02, 100))
        with viewed(folder) as site:
            html = site.text("/1/progress?part=now")
            assert 'data-live="yes"' in html
            assert "Calls in flight 2" in words(html)
            assert "30.0 %: 3 of 10" in words(html)
            late = make_case(repetition=9)
            asyncio.run(store.add_cases([late]))
            asyncio.run(store.finish(make_dialogue("Why?", "Zebras.", case=late), 0))
            (run,) = site.viewing.runs
            while run.words.until < 4:
                run._over.wait(0.05)
            assert "<h1>1 dialogue<" in site.text("/1/dialogues?text=zebras")
            assert "40.0 %: 4 of 10" in words(site.text("/1/progress"))


def test_a_run_in_an_empty_state_is_shown(tmp_path: Path) -> None:
    with viewed(make_run(tmp_path / "run", [])) as site:
        assert "Nothing has been generated yet" in words(site.text("/1/dialogues"))
        assert "Nothing fits" in site.text("/1/scenarios")
        site.text("/1/progress")


def test_labels_stand_in_the_order_of_the_scheme_and_numbers_by_their_size(tmp_path: Path) -> None:
    tactics = [
        make_tactic("x", veracity="Manner", intention="Convince"),
        make_tactic("x", veracity="Quantity", intention="Inform"),
    ]
    said = [
        make_dialogue("Was it hit?", "No.", case=make_case(seed=seed), tactics=[tactic])
        for seed, tactic in enumerate(tactics)
    ]
    with viewed(make_run(tmp_path / "run", said)) as site:
        page = site.text("/1/labels?down=veracity&across=intention")
        filters = site.text("/1/dialogues")
    assert re.findall(r'<th scope="col">(\w+)', page) == ["Inform", "Convince", "all"]
    assert filters.index('value="Quantity"') < filters.index('value="Manner"')
    assert in_order(["10", "b", "2", "a"], ()) == ["2", "10", "a", "b"]
