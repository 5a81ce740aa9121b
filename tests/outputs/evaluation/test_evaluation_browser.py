"""The page about an evaluation as Chromium sets it: on a desk and a phone, in light and dark."""

from __future__ import annotations

import pytest

from outputs.evaluation.writing import write_evaluation
from quality.statistics.bootstrap import Resampling
from tests.outputs.evaluation.sample_evaluation import (
    CONVERSATION,
    HOSTILE,
    UTTERANCE,
    record,
    write_sample,
)
from tests.quality.review.chromium import (
    CUT,
    FAINT,
    MEETING,
    chromium,
    new_page,
    picture,
    tab_to,
)

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory):
    icl = UTTERANCE.model_copy(update={"mode": "icl", "draws": 3})
    folder = tmp_path_factory.mktemp("evaluation") / "e"
    write_sample(folder, record((UTTERANCE, icl, CONVERSATION)), cases=24, words=HOSTILE)
    return write_evaluation(folder, "1", Resampling(resamples=50, seed=1))


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


def unfold(page):
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_offline_nothing_is_missing_and_nothing_sticks_out(evaluation, browser, width, scheme):
    page = new_page(
        browser, viewport={"width": width, "height": 850}, color_scheme=scheme, offline=True
    )
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(evaluation.page.as_uri())
    for _ in range(2):
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        unfold(page)
    assert page.evaluate(CUT) == []
    assert asked == [evaluation.page.as_uri()]
    assert said == []
    page.context.close()


def test_texts_of_a_drawing_do_not_meet_as_the_browser_sets_them(evaluation, browser):
    page = new_page(browser, viewport={"width": 1280, "height": 850})
    page.goto(evaluation.page.as_uri())
    unfold(page)
    assert page.evaluate(MEETING) == []
    page.context.close()


def test_a_fold_and_an_item_open_by_keyboard_and_a_wide_table_takes_the_focus(evaluation, browser):
    page = new_page(browser, viewport={"width": 390, "height": 850})
    page.goto(evaluation.page.as_uri())
    hidden = "!document.querySelector('#comparisons table').checkVisibility()"
    assert page.evaluate(hidden)
    page.goto(f"{evaluation.page.as_uri()}#comparisons")
    tab_to(page, "#comparisons summary")
    page.keyboard.press("Enter")
    assert not page.evaluate(hidden)
    tab_to(page, "#comparisons .scroll")
    page.goto(f"{evaluation.page.as_uri()}#examples")
    tab_to(page, "#examples summary")
    page.keyboard.press("Space")
    assert page.evaluate("document.querySelector('#examples .reply').checkVisibility()")
    tab_to(page, "#examples pre")
    picture(page, "evaluation")
    page.context.close()


def test_everything_that_is_folded_is_printed(evaluation, browser):
    page = new_page(browser, viewport={"width": 794, "height": 850})
    page.goto(evaluation.page.as_uri())
    hidden = (
        "[...document.querySelectorAll('details.fold table, details.dialogue .said')].filter("
        "e => !e.closest('.numbers') && !e.checkVisibility({contentVisibilityAuto: true})).length"
    )
    assert page.evaluate(hidden) > 0
    page.emulate_media(media="print")
    page.wait_for_function(f"{hidden} === 0")  # what was out of sight is laid out a frame later
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(evaluation, browser, scheme):
    page = new_page(browser, viewport={"width": 1280, "height": 850}, color_scheme=scheme)
    page.goto(evaluation.page.as_uri())
    unfold(page)
    assert page.evaluate(FAINT) == []
    page.context.close()


def test_a_picture_of_its_own_is_readable_in_light_and_in_dark(evaluation, browser):
    page = new_page(browser, viewport={"width": 400, "height": 400}, color_scheme="dark")
    page.goto(evaluation.plots[0].as_uri())
    paper = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    ink = page.evaluate("getComputedStyle(document.querySelector('text')).fill")
    assert (paper, ink) == ("rgb(18, 22, 28)", "rgb(230, 237, 243)")
    page.context.close()
