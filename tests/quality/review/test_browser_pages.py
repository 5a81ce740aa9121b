"""Every page in both sizes and schemes: contrast, width, and what works without a mouse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from pipeline.store.reviews import ReviewStore
from tests.quality.review.chromium import (
    LONGEST_MS,
    arrive,
    come_in,
    give_name,
    has_focus,
    look_at,
    new_page,
    seated,
    tab_to,
    until,
)
from tests.quality.review.serving import Served, served

pytestmark = pytest.mark.browser
STEP = """JSON.stringify([
  location.href, document.forms.answers?.dataset.stage,
  [...document.querySelectorAll('.section.active')].map(s => s.dataset.section),
])"""


def review_one(page: Page) -> None:
    """Label an item and reject its flags."""
    while page.locator("form[data-stage=labels]").count():
        page.keyboard.press("1")
        if page.evaluate(
            "[...document.querySelectorAll('.section.active fieldset[data-field]')]"
            ".every(q => q.querySelector('input:checked'))"
        ):
            before = page.evaluate(STEP)
            page.keyboard.press("Enter")
            until(page, f"{STEP} !== {json.dumps(before)}")


def test_every_page_is_legible_and_fits_a_phone(
    browser: Browser, verified_run: Path, tmp_path: Path
) -> None:
    pairs = tmp_path / "zh.jsonl"
    pairs.write_text('{"language": "zh", "text": "Inform", "translation": "告知"}\n')
    with served(verified_run, translations=[pairs], per_item=1) as site:
        page = new_page(browser)
        page.goto(f"{site.url}/next")
        look_at(page, "refused")
        page.goto(site.link())
        look_at(page, "consent")
        tab_to(page, "input[name=agree]")
        page.keyboard.press("Space")
        page.keyboard.press("Enter")
        page.wait_for_url("**/name")
        look_at(page, "name")
        give_name(page, "Ada")
        look_at(page, "code")
        page.keyboard.press("Enter")
        page.wait_for_url("**/language")
        look_at(page, "language")
        has_focus(page, "input[name=language]")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        arrive(page, "#answers")
        look_at(page, "item")
        assert "告知" in page.inner_text("#answers")
        review_one(page)
        arrive(page, "form[data-stage=opinion]")
        page.keyboard.press("1")
        look_at(page, "opinion")
        page.goto(f"{site.url}/filter")
        look_at(page, "filter")
        page.goto(f"{site.url}/finish")
        look_at(page, "stop")
        expert_pages(site, new_page(browser))


def expert_pages(site: Served, page: Page) -> None:
    come_in(page, site.link("expert"), "Eve")
    look_at(page, "adjudicate-nothing")
    page.goto(f"{site.url}/dashboard")
    look_at(page, "dashboard-nothing")


def test_a_flagged_dialogue_is_reviewed_blind_first_and_then_confirmed(
    browser: Browser, verified_run: Path
) -> None:
    with served(verified_run, per_item=1) as site:
        page = seated(browser, site.link())
        before = page.content()
        assert "Why it was flagged" not in before
        assert "Only the" in page.inner_text(".fact")
        review_one(page)
        arrive(page, "form[data-stage=opinion]")
        assert "Why it was flagged" in page.content()
        page.keyboard.press("1")
        page.keyboard.press("1")
        page.keyboard.press("n")
        page.keyboard.type("the label is wrong")
        page.keyboard.press("Escape")
        url = page.url
        page.keyboard.press("Enter")
        until(page, f"location.href != {url!r}")
    with ReviewStore.open(verified_run) as store:
        (sheet,) = store.sheets.sheets(store.studies.get("review"))
        key = (sheet.item.case, sheet.item.arm)
        decision = store.judgements.decisions([key])[key][-1]
    assert sheet.opinion is not None
    assert sheet.opinion.issue
    assert sheet.opinion.note == "the label is wrong"
    assert (decision.verdict, decision.by) == ("discarded", "review")


def test_keys_can_be_switched_off(browser: Browser, run: Path) -> None:
    with served(run, mode="quiz") as site:
        page = seated(browser, site.link())
        page.locator(".help summary").click()
        page.locator("#keys-on").uncheck()
        page.locator("h1").click()
        page.keyboard.press("1")
        assert page.locator("#answers input:checked").count() == 0


def test_the_form_works_without_the_script(browser: Browser, run: Path) -> None:
    with served(run, mode="quiz", per_item=1) as site:
        page = new_page(browser, java_script_enabled=False)
        page.goto(site.link())
        page.locator("input[name=agree]").check()
        page.locator("main button").click()
        page.locator("#name").fill("Ada")
        page.locator("main button").click()
        page.locator("#begin").click()
        page.locator("#forward").click()
        assert "not answered" in page.inner_text("main")
        for question in page.locator("fieldset[data-field]").all():
            question.locator("input").first.check()
        page.locator("#forward").click()
        assert page.inner_text("#progress").startswith("2 / ")


def test_a_form_kept_in_the_browser_comes_back_after_the_connection(
    browser: Browser, run: Path
) -> None:
    with served(run, mode="quiz") as site:
        page = seated(browser, site.link())
        page.context.set_offline(True)
        page.keyboard.press("2")
        until(page, "document.getElementById('alarm').textContent.startsWith('Not saved')")
        page.context.set_offline(False)
        page.reload()
        until(page, "document.querySelectorAll('#answers input:checked').length === 1")
        number = int(page.get_attribute("#answers", "data-item") or 0)
        for _ in range(LONGEST_MS // 25):
            if site.service.store.draft_of(number):
                break
            page.wait_for_timeout(25)
        draft = site.service.store.draft_of(number)
    assert draft is not None
    assert "t3.intention" in draft.content


def test_a_form_that_is_half_filled_in_is_kept_for_whoever_leaves(
    browser: Browser, run: Path
) -> None:
    with served(run, mode="quiz") as site:
        page = seated(browser, site.link())
        number = int(page.get_attribute("#answers", "data-item") or 0)
        page.evaluate("document.querySelector('#answers input[type=radio]').click()")
        page.evaluate("document.querySelector('form.leave button').click()")
        page.get_by_role("heading", name="Goodbye").wait_for()
        said = page.inner_text("main")
        draft = site.service.store.draft_of(number)
    assert "An answer that you have begun is kept as a draft." in said
    assert draft is not None
    assert "t3.intention" in draft.content


def test_a_second_window_is_not_told_that_a_form_is_kept_which_is_not(
    browser: Browser, run: Path
) -> None:
    with served(run, mode="quiz") as site:
        page = seated(browser, site.link())
        second = page.context.new_page()
        second.goto(page.url)
        arrive(second, "#answers")
        for key in "123":
            page.keyboard.press(key)
        until(page, "document.getElementById('save-state').textContent.startsWith('Draft saved')")
        second.keyboard.press("3")
        until(second, "document.getElementById('alarm').textContent.includes('another window')")
        assert second.inner_text("#save-state") == ""
        for key in "2312":
            second.keyboard.press(key)
        until(second, "document.getElementById('save-state').textContent.startsWith('Draft saved')")
        assert second.inner_text("#alarm") == ""


def fill_in(page: Page, place: int = 0) -> None:
    """Answer every question of an item of a quiz with the choice at a place, and send it."""
    while page.locator("#answers").count():
        for question in page.locator("fieldset[data-field]:visible").all():
            question.locator("input").nth(place).check()
        before = page.evaluate(STEP)
        page.locator("#forward").click()
        until(page, f"{STEP} !== {json.dumps(before)} || document.querySelector('#alarm a')")
        if page.locator("#alarm a").count():
            return


def test_who_was_away_for_too_long_is_told_so_and_led_on(browser: Browser, run: Path) -> None:
    wishes = {"mode": "quiz", "per_item": 1, "most": 1, "lease_minutes": 0}
    with served(run, **wishes) as site:
        ada, bea = new_page(browser), new_page(browser)
        come_in(ada, site.link(), "Ada")
        arrive(ada, "#answers")
        mine = ada.url
        come_in(bea, site.link(), "Bea")
        arrive(bea, "#answers")
        fill_in(bea)
        assert bea.url.endswith("/finish")
        fill_in(ada)
        assert "given to somebody else" in ada.inner_text("#alarm")
        has_focus(ada, "#alarm a")
        ada.keyboard.press("Enter")
        ada.wait_for_url("**/finish")
        ada.goto(mine)
        assert ada.inner_text("h1") == "Not counted"
        assert not ada.locator("form[data-stage]").count()
        ada.get_by_text("To the start").click()
        ada.wait_for_url("**/finish")


def test_an_expert_finds_what_the_labels_mean_beside_the_answers(
    browser: Browser, run: Path
) -> None:
    with served(run, mode="quiz", per_item=1, most=1) as site:
        ada, eve = new_page(browser), new_page(browser)
        come_in(ada, site.link(), "Ada")
        arrive(ada, "#answers")
        fill_in(ada)
        come_in(eve, site.link("expert"), "Eve")
        eve.goto(f"{site.url}/adjudicate")
        eve.locator("table a").first.click()
        arrive(eve, "#adjudication")
        eve.get_by_text("What the labels mean").click()
        told = eve.inner_text(".meanings")
        for dimension in site.service.scheme.utterance_dimensions:
            hidden = site.service.study.hidden.get(dimension.id, ())
            for label in dimension.labels:
                assert told.count(label.definition) == (label.id not in hidden), label.id
        look_at(eve, "meanings")


def test_an_expert_is_told_before_replacing_what_another_one_settled_meanwhile(
    browser: Browser, run: Path
) -> None:
    with served(run, mode="quiz", per_item=1, most=1) as site:
        ada, eve, fay = (new_page(browser) for _ in range(3))
        come_in(ada, site.link(), "Ada")
        arrive(ada, "#answers")
        fill_in(ada)
        for expert, name in ((eve, "Eve"), (fay, "Fay")):
            come_in(expert, site.link("expert"), name)
            expert.goto(f"{site.url}/adjudicate")
            expert.locator("table a").first.click()
            arrive(expert, "#adjudication")
        eve.locator("#settle").click()
        eve.wait_for_url("**/adjudicate")
        fay.fill("textarea[name=note]", "mine")
        fay.locator("#settle").click()
        until(fay, "document.getElementById('alarm').textContent.includes('while it was open')")
        assert fay.input_value("textarea[name=note]") == "mine"
        (settled,) = site.service.store.sheets.adjudications(site.service.study).values()
        assert settled.note == ""
        fay.locator("#settle").click()
        fay.wait_for_url("**/adjudicate")
        (settled,) = site.service.store.sheets.adjudications(site.service.study).values()
        assert settled.note == "mine"


def answer_one(page: Page) -> None:
    """Review an item from its first question to the last key."""
    arrive(page, "#answers")
    review_one(page)
    arrive(page, "form[data-stage=opinion]")
    page.keyboard.press("1")
    page.keyboard.press("1")
    url = page.url
    page.keyboard.press("Enter")
    until(page, f"location.href != {url!r}")


def test_the_next_annotator_sits_down_and_the_expert_sees_both(
    browser: Browser, verified_run: Path
) -> None:
    with served(verified_run, per_item=2) as site:
        page = new_page(browser)
        come_in(page, site.link(), "Ada")
        answer_one(page)
        if page.locator(".estimate").count():
            assert "min left" in page.inner_text(".estimate")
        page.goto(f"{site.url}/finish")
        tab_to(page, "#handover")
        page.keyboard.press("Enter")
        page.wait_for_url("**/consent")
        tab_to(page, "input[name=agree]")
        page.keyboard.press("Space")
        page.keyboard.press("Enter")
        give_name(page, "Bob")
        page.keyboard.press("Enter")
        answer_one(page)
        tallies = site.service.store.sheets.annotator_tallies(site.service.study)
        assert [one.done for one in tallies] == [1, 1]
        desk = new_page(browser)
        come_in(desk, site.link("expert"), "Eve")
        look_at(desk, "adjudicate-list")
        desk.locator("tbody a").first.click()
        arrive(desk, "#adjudication")
        look_at(desk, "adjudicate")
        assert "flag:" not in desk.inner_text("main")
        cut = "e => e.scrollWidth - e.clientWidth"
        assert desk.locator(".scroll").first.evaluate(cut) <= 0
        assert desk.locator("#skip").get_attribute("href")
        desk.goto(f"{site.url}/dashboard")
        look_at(desk, "dashboard")
        assert desk.locator("progress.whole").count() == 1
        assert desk.locator("details.findings a").count() > 0
        desk.locator("form.leave button").click()
        desk.get_by_role("heading", name="Goodbye").wait_for()
        assert "draft" not in desk.inner_text("main"), "what an expert settles has none"


def test_an_expert_hands_no_session_on(browser: Browser, verified_run: Path) -> None:
    with served(verified_run) as site:
        page = new_page(browser)
        come_in(page, site.link("expert"), "Eve")
        token = page.locator("input[name=csrf]").first.get_attribute("value")
        answer = page.request.post(
            f"{site.url}/handover", form={"csrf": token or ""}, headers={"Origin": site.url}
        )
        assert answer.status == 403
