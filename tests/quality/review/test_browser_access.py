"""Who sees little, hears the page or has only keys: where the focus goes, and what belongs to what."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.quality.review.chromium import (
    IN_SIGHT,
    arrive,
    come_in,
    has_focus,
    look_at,
    new_page,
    seated,
    tab_to,
    until,
)
from tests.quality.review.serving import served
from tests.quality.review.test_browser_pages import fill_in, review_one

pytestmark = pytest.mark.browser
AT_200 = {"width": 640, "height": 425}
AT_400 = {"width": 320, "height": 256}
DESCRIPTION = """(e => document.getElementById(
  e.closest('[aria-describedby]').getAttribute('aria-describedby')).textContent)(document.activeElement)"""
COLOURS = """['::placeholder', null].map(
  (part, i) => getComputedStyle(document.querySelector(i ? '.mode' : '#code'), part).color)"""


def test_what_is_missing_is_the_description_of_its_question(
    browser: Browser, verified_run: Path
) -> None:
    with served(verified_run, per_item=1) as site:
        page = seated(browser, site.link())
        assert page.locator('.reading[tabindex="0"]').count(), "it scrolls by keyboard, too"
        page.keyboard.press("Enter")
        assert page.evaluate(DESCRIPTION) == "not answered"
        look_at(page, "item-error")
        review_one(page)
        arrive(page, "form[data-stage=opinion]")
        page.keyboard.press("2")
        page.locator("[name=scenario_wrong]").check()
        page.locator("#forward").click()
        has_focus(page, "[name=scenario_wrong]")
        assert page.evaluate(DESCRIPTION) == "say what is wrong with the scenario"
        page.locator("[name=scenario_wrong]").uncheck()
        before = page.url
        page.locator("#forward").click()
        until(page, f"location.href !== {before!r}")


def test_a_wrong_return_code_is_told_at_its_field(browser: Browser, run: Path) -> None:
    with served(run, mode="quiz") as site:
        page = new_page(browser)
        page.goto(site.link())
        tab_to(page, "input[name=agree]")
        page.keyboard.press("Space")
        page.keyboard.press("Enter")
        page.wait_for_url("**/name")
        page.locator("summary").click()
        page.emulate_media(color_scheme="dark")
        placeholder, soft = page.evaluate(COLOURS)
        assert placeholder == soft
        page.fill("#name", "Ada")
        page.fill("#code", "never-heard-of")
        page.keyboard.press("Enter")
        arrive(page, "#name-problem")
        page.locator("#code").focus()
        assert page.evaluate(DESCRIPTION) == "Name and return code do not go together."


def test_after_undo_the_choice_is_in_sight_at_200_percent(browser: Browser, run: Path) -> None:
    with served(run, mode="quiz") as site:
        page = seated(browser, site.link(), viewport=AT_200, reduced_motion="reduce")
        page.keyboard.press("3")
        until(page, f"({IN_SIGHT})()")
        page.keyboard.press("u")
        has_focus(page, "[name='t3.intention']")
        until(page, f"({IN_SIGHT})()")


def test_at_400_percent_nothing_sticks_to_the_edges(browser: Browser, run: Path) -> None:
    with served(run, mode="quiz") as site:
        page = seated(browser, site.link(), viewport=AT_400)
        for part in (".bar", ".controls"):
            assert page.locator(part).evaluate("e => getComputedStyle(e).position") == "static"
        page.keyboard.press("3")
        until(page, f"({IN_SIGHT})()")


def test_that_a_draft_is_saved_is_not_read_aloud_after_every_choice(
    browser: Browser, run: Path
) -> None:
    with served(run, mode="quiz") as site:
        page = seated(browser, site.link())
        page.keyboard.press("1")
        state = page.locator("#save-state")
        until(page, "document.getElementById('save-state').textContent.startsWith('Draft saved')")
        assert state.get_attribute("aria-live") == "off"
        page.keyboard.press("u")
        until(page, "document.getElementById('save-state').textContent === 'Undone.'")
        assert state.get_attribute("aria-live") == "polite"


def test_a_session_that_ends_while_somebody_fills_in_costs_no_answer(
    browser: Browser, run: Path
) -> None:
    with served(run, mode="quiz", per_item=1, most=1) as site:
        page = new_page(browser)
        page.goto(site.link())
        page.locator("input[name=agree]").check()
        page.keyboard.press("Enter")
        page.fill("#name", "Ada")
        page.keyboard.press("Enter")
        code = page.inner_text(".secret")
        page.locator("#begin").click()
        arrive(page, "#answers")
        page.context.clear_cookies()
        page.keyboard.press("2")
        until(page, "document.getElementById('alarm').textContent.includes('kept in this browser')")
        second = page.context.new_page()
        second.goto(site.link())
        second.locator("input[name=agree]").check()
        second.keyboard.press("Enter")
        second.fill("#name", "Ada")
        second.locator("summary").click()
        second.fill("#code", code)
        second.keyboard.press("Enter")
        arrive(second, "#answers")
        page.reload()
        until(page, "document.querySelectorAll('#answers input:checked').length === 1")
        before = page.url
        fill_in(page)
        assert page.url != before


def test_an_expert_begins_where_answers_differ_and_settles_by_enter(
    browser: Browser, run: Path
) -> None:
    with served(run, mode="quiz", per_item=2, most=1) as site:
        for place in (0, 1):
            page = new_page(browser)
            come_in(page, site.link(), f"Person {place}")
            arrive(page, "#answers")
            fill_in(page, place)
        page = new_page(browser)
        come_in(page, site.link("expert"), "Eve")
        page.goto(f"{site.url}/adjudicate")
        has_focus(page, "tbody a")
        page.keyboard.press("Enter")
        arrive(page, "#adjudication")
        has_focus(page, "tr.differs select")
        page.locator("h1").click()
        page.keyboard.press("Enter")
        until(page, "document.getElementById('alarm').textContent.includes('not answered')")
        has_focus(page, "select[aria-invalid]")
        assert page.evaluate(DESCRIPTION) == "not answered"
        look_at(page, "adjudicate-error")
        for choice in page.locator("td.final select").all():
            choice.select_option(index=1)
        page.locator(".help summary").click()
        page.locator("#keys-on").uncheck()
        page.locator("h1").click()
        page.keyboard.press("n")
        page.keyboard.press("Enter")
        assert not page.evaluate("document.activeElement.matches('#note')")
        page.locator("#keys-on").check()
        page.locator("h1").click()
        page.keyboard.press("Enter")
        page.wait_for_url("**/adjudicate")
        assert site.service.store.sheets.adjudications(site.service.study)
