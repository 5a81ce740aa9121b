"""The review page in Chinese: nothing of its own is left in English, and blanks agree."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args

import pytest

from pipeline.store.reviews import ReviewStore
from quality.agreement.annotations import RawAnswer, Timing
from quality.annotation_qc.findings import FindingCode
from quality.annotation_qc.qc import annotation_qc
from quality.gates.registry import GATES
from quality.review.exhibits import ReviewDialogue, exhibit
from quality.review.scenario_reports import ScenarioReport
from quality.review.translations import LANGUAGES, page_languages
from quality.verification.flags import judge_codes
from quality.web.page_language import PageLanguage, accepted, read_page_language
from scenarios.schemes.registry import load_scheme, scheme_names
from tests.quality.review.serving import served
from tests.quality.review.visitor import Visitor, answer_item, csrf_of

BLANK = re.compile(r"\{\w+\}")
WORD = re.compile(r"[A-Za-z]{2,}")
ALLOWED = {"hipo", "Enter", "Esc", "xxxx"}
CHINESE = {"Accept_Language": "zh-CN,zh;q=0.9,en;q=0.5"}
A_FEW_TEXTS = PageLanguage(
    "zh",
    "中文",
    {"Yes": "是", "Mr {name} said": "{name} 说", "{a} out of {b} ({c})": "{b}有{a}共{c}"},
)
READ_ALOUD = ("aria-label", "title", "placeholder", "data-submit", "data-label")


class OwnWords(HTMLParser):
    """Collects what a page says itself: no data, nothing in a language of its own, no keys."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self.language = ""
        self._data: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "html":
            self.language = given.get("lang") or ""
        elif self._data:
            self._data += [tag] if tag == self._data[0] else []
        elif "lang" in given or given.get("translate") == "no" or tag in ("kbd", "code", "style"):
            self._data = [tag]
        else:
            self.said += [given[name] or "" for name in READ_ALOUD if name in given]

    def handle_endtag(self, tag: str) -> None:
        if self._data and tag == self._data[0]:
            self._data.pop()

    def handle_data(self, data: str) -> None:
        if not self._data:
            self.said.append(data)


def left_in_english(html: str, data: set[str]) -> list[str]:
    """Return what a page says itself in English, apart from words of the scenario."""
    reader = OwnWords()
    reader.feed(html)
    assert reader.language == "zh"
    said = [re.sub(r"[\w-]*\d[\w-]*", "", text) for text in reader.said]
    return [t.strip() for t in said if set(WORD.findall(unescape(t))) - ALLOWED - data]


def test_no_page_of_a_review_is_left_in_english(verified_run: Path) -> None:
    with served(verified_run, per_item=1, everything=True) as site:
        data = {word for role in ("buyer", "seller") for word in WORD.findall(role)}
        dialogue_words = _scenario_words(site.service)
        guest = Visitor(site.url, **CHINESE)
        assert left_in_english(guest.get("/next")[1].text, data) == []
        link = site.link()
        _, page = guest.get(link[len(site.url) :])
        assert left_in_english(page.text, data) == []
        guest.post("/consent", csrf_of(page.text), agree="yes")
        _, page = guest.get("/name")
        assert left_in_english(page.text, data) == []
        page = guest.post("/name", csrf_of(page.text), name="Lin")
        assert left_in_english(page.text, data | {"Lin"}) == []
        path, page = guest.get("/")
        known = data | dialogue_words
        assert left_in_english(page.text, known) == []
        for shown in ("欺骗", "质准则", "承诺类", "告知"):
            assert shown in page.text
        answer_item(guest, path)
        _, page = guest.get(path)
        assert left_in_english(page.text, known) == []
        answer_item(guest, path)
        for name in ("/language", "/filter", "/finish", "/item/999"):
            assert left_in_english(guest.get(name)[1].text, known) == [], name


@pytest.mark.parametrize("name", ["adjudicate", "adjudicate_list", "dashboard"])
def test_no_text_of_the_pages_of_the_expert_is_left_in_english(name: str) -> None:
    page = (LANGUAGES.parent / "pages" / f"{name}.html.j2").read_text(encoding="utf-8")
    shown = re.sub(r"\{% block layout %\}\w*", "", re.sub(r"\{\{.*?\}\}", "7", page))
    texts = re.split(r"\{%.*?%\}|<[^>]*>", shown)
    quoted = re.findall(r'aria-label="([A-Z][^"{]+)"', page)
    chinese = page_languages(load_scheme("hipo"))["zh"]
    said = [text for text in (*texts, *quoted) if WORD.search(text)]
    assert len(said) > 5
    assert [t for t in said if set(WORD.findall(chinese.of(t.strip()))) - ALLOWED] == []


@pytest.mark.parametrize("name", scheme_names())
def test_what_a_dialogue_is_flagged_for_is_told_in_chinese(name: str) -> None:
    scheme = load_scheme(name)
    chinese = page_languages(scheme)["zh"]
    for code in (*GATES.names(), *judge_codes(scheme)):
        told = chinese.of(f"As flagged: {code.replace('_', ' ')}")
        assert not WORD.search(told), told


def test_what_quality_control_finds_is_told_in_chinese() -> None:
    chinese = page_languages(load_scheme("hipo"))["zh"]
    for code in get_args(FindingCode):
        told = chinese.of(f"3 {code.replace('_', ' ')}")
        assert not WORD.search(told), told
    scheme = load_scheme("hipo")
    hasty = [Timing(f"i{n}", "A01", 2.0 + 700 * (n == 7), 1 + n % 2) for n in range(8)]
    raw = [
        RawAnswer(f"i{n}", "veracity", who, ("Quality", "Manner", "None")[0 if who == "A01" else k])
        for n in range(12)
        for k, who in enumerate(("A01", "A02", "A03"))
    ]
    found = annotation_qc(scheme, raw, hasty).findings
    codes = {finding.code for finding in found}
    assert codes >= {"missing", "straight_lining", "split", "too_fast", "too_slow"}
    labels = {"Quality", "Manner", "None"}
    for finding in found:
        told = re.sub(r"\bA\d+", "", chinese.of(finding.reason))
        assert set(WORD.findall(told)) <= labels, told


def _scenario_words(service: object) -> set[str]:
    exhibits = [
        service.exhibits.of(item)  # type: ignore[attr-defined]
        for item, _ in service.store.sheets.items(service.study)  # type: ignore[attr-defined]
    ]
    names = [u.speaker for one in exhibits for u in one.utterances]
    return {word for name in names for word in WORD.findall(name)}


def test_words_of_people_and_scenarios_are_shown_as_they_are(
    verified_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def named_like_a_text_of_the_page(*given: object) -> ReviewDialogue:
        shown = exhibit(*given)  # type: ignore[arg-type]
        return replace(
            shown,
            title="Nothing.",
            facts=tuple(replace(fact, knowers=("Nothing.",)) for fact in shown.facts),
            utterances=tuple(replace(line, speaker="Nothing.") for line in shown.utterances),
        )

    monkeypatch.setattr("quality.review.exhibits.exhibit", named_like_a_text_of_the_page)
    with ReviewStore.open(verified_run) as store:
        store._writer.run(
            lambda connection: connection.execute("update flags set reason = 'None.'")
        )
    with served(verified_run, everything=True, per_item=1) as site:
        guest, expert = Visitor(site.url, **CHINESE), Visitor(site.url, **CHINESE)
        item = guest.come_in(site.link(), "Lin")
        pages = [guest.get(item)[1].text]
        answer_item(guest, item)
        pages.append(guest.get(item)[1].text)
        answer_item(guest, item, note="None.", scenario_wrong="yes", scenario_problem="Nothing.")
        listing = expert.get(expert.come_in(site.link("expert"), "Eve"))[1].text
        (answered,) = re.findall(r'href="(/adjudicate/\d+)"', listing)
        pages += [listing, expert.get(answered)[1].text]
    assert [page.count("没有。") for page in pages] == [0] * 4
    assert [page.count("只有") for page in pages] == [1, 1, 0, 1]
    assert all("Nothing." in page for page in pages)
    assert pages[3].count("None.") > 1
    assert '情境</span> <span translate="no">Nothing.</span>' in pages[3]


def test_what_is_reported_of_a_scenario_is_shown_as_it_was_written(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = ScenarioReport("None.", "None.", "case/arm", "A01", "None.")
    monkeypatch.setattr("quality.review.expert_pages.scenario_reports", lambda *_: [report])
    with served(run, everything=True) as site:
        expert = Visitor(site.url, **CHINESE)
        expert.come_in(site.link("expert"), "Eve")
        _, _, shown = expert.get("/dashboard")[1].text.partition("<main")
        assert shown.count("None.") == 3


def test_a_filter_that_is_chosen_in_chinese_is_one_that_is_on_offer(verified_run: Path) -> None:
    with served(verified_run, per_item=1) as site:
        guest = Visitor(site.url, **CHINESE)
        guest.come_in(site.link(), "Lin")
        _, page = guest.get("/filter")
        offered = re.findall(r'<option value="([^"]+)"', page.text.partition('name="reason"')[0])
        items = site.service.store.sheets.items(site.service.study)
        assert set(offered) == {item.category for item, _ in items}
        answer = guest.post("/filter", csrf_of(page.text), category=offered[0], reason="")
        assert answer.location == "/next"


def test_who_chooses_english_reads_english_whatever_the_browser_asks_for(run: Path) -> None:
    with served(run, mode="quiz") as site:
        guest = Visitor(site.url, **CHINESE)
        _, page = guest.get(site.link()[len(site.url) :])
        assert '<html lang="zh">' in page.text
        guest.post("/language", csrf_of(page.text), language="original")
        _, page = guest.get("/consent")
        assert '<html lang="en">' in page.text
        assert "Before you begin" in page.text


def test_an_english_browser_reads_english_and_can_choose_chinese(run: Path) -> None:
    with served(run, mode="quiz") as site:
        guest = Visitor(site.url, Accept_Language="en-GB,zh;q=0.5")
        _, page = guest.get(site.link()[len(site.url) :])
        assert "Before you begin" in page.text
        guest.post("/language", csrf_of(page.text), language="zh")
        assert "开始之前" in guest.get("/consent")[1].text


def test_both_sides_of_every_text_have_the_same_blanks() -> None:
    for text, into in read_page_language(LANGUAGES / "zh.yaml").texts.items():
        assert set(BLANK.findall(text)) == set(BLANK.findall(into)), text
        assert into.strip(), text


def test_what_the_script_says_is_translated() -> None:
    script = (LANGUAGES.parent / "static" / "review.js").read_text()
    texts = read_page_language(LANGUAGES / "zh.yaml").texts
    said = re.findall(r'told\(\s*"([^"]+)"', script)
    assert len(said) > 8
    assert [text for text in said if text not in texts] == []


def test_the_steps_of_the_newest_scheme_are_told_in_chinese() -> None:
    scheme = load_scheme("hipo")
    chinese = page_languages(scheme)["zh"]
    for dimension in scheme.dimensions:
        for step in dimension.steps:
            assert not WORD.search(chinese.of(f"{step.when}:")), step.when
        looked_at = f"Look at {dimension.look_at or 'what is labelled'}."
        told = chinese.of(f"{looked_at} The first step that holds gives the label.")
        assert not WORD.search(told), told


def test_labels_of_the_scheme_are_named_as_its_translation_names_them() -> None:
    chinese = page_languages(load_scheme("hipo"))["zh"]
    assert chinese.of("Quality") == "质准则"
    assert "真实性策略" in chinese.of("Turn 2: Veracity strategy (how)")


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<p>Yes</p>", "<p>是</p>"),
        ('<p translate="no">Yes <b>Yes</b></p><i>Yes</i>', '<p translate="no">Yes <b>Yes</b></p><i>是</i>'),
        ('<p lang="de">Yes</p>', '<p lang="de">Yes</p>'),
        ('<input value="Yes" title="Yes">', '<input value="Yes" title="是">'),
        ("<p>Mr &lt;b&gt; said</p>", "<p>&lt;b&gt; 说</p>"),
        ("<textarea>Yes</textarea>", "<textarea>Yes</textarea>"),
        ("<p>Mr  said</p>", "<p>Mr  said</p>"),
        ("<p>Mr A said B said</p>", "<p>A said B 说</p>"),
        ("<p>2 out of 3 out of 4 (5)</p>", "<p>3 out of 4有2共5</p>"),
        ("<p>2 out of (5)</p>", "<p>2 out of (5)</p>"),
    ],
)  # fmt: skip
def test_texts_are_translated_and_data_is_left_alone(html: str, shown: str) -> None:
    assert A_FEW_TEXTS.page(html) == shown


def test_a_text_that_repeats_what_is_fixed_takes_no_long_time() -> None:
    chinese = page_languages(load_scheme("hipo"))["zh"]
    of, items = " of x" * 105, " attention items (x" * 24
    hostile = f"failed x{of}{items}{of}" + " questions right; guessing gets x" * 18
    began = time.perf_counter()
    assert chinese.of(hostile) == hostile
    assert time.perf_counter() - began < 2


def test_the_first_language_of_a_browser_that_is_known_counts() -> None:
    assert accepted("fr, zh-TW;q=0.8", ["zh"]) == "zh"
    assert accepted("en, zh", ["zh"]) is None
    assert accepted("", ["zh"]) is None
