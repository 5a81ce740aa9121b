import asyncio

import pytest

from outputs.report.build import build_report
from outputs.report.gathered import ReportOptions
from tests.outputs.sample_run import HOSTILE, reported_run
from tests.quality.review.chromium import CUT, FAINT, MEETING, TWICE, chromium, new_page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    run = reported_run(folder / "run", words=f"I said so {HOSTILE}")
    page = asyncio.run(build_report(run, ReportOptions(), name="runs/sample", version="1"))
    file = folder / "report.html"
    file.write_text(page, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_offline_nothing_is_missing_and_nothing_sticks_out(report, browser, width, scheme):
    page = new_page(
        browser, viewport={"width": width, "height": 850}, color_scheme=scheme, offline=True
    )
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report.as_uri())
    assert asked == [report.as_uri()]
    assert said == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CUT) == []
    page.context.close()


def test_the_caption_of_a_table_that_is_wider_than_a_phone_is_seen_whole(report, browser):
    page = new_page(browser, viewport={"width": 390, "height": 850})
    page.goto(report.as_uri())
    wide, cut = page.evaluate(
        """() => {
            const seen = [...document.querySelectorAll('.scroll')].filter(d => d.checkVisibility());
            const wide = seen.filter(d => d.scrollWidth > d.clientWidth);
            wide.forEach(d => { d.scrollLeft = 60; });
            const cut = wide.map(d => d.querySelector('caption span'))
                .filter(c => { const box = c.getBoundingClientRect();
                               return box.left < 0 || box.right > 390; });
            return [wide.length, cut.map(c => c.textContent)];
        }"""
    )
    assert wide > 0
    assert cut == []
    page.context.close()


def test_texts_of_a_drawing_do_not_meet_as_the_browser_sets_them(report, browser):
    page = new_page(browser, viewport={"width": 1280, "height": 850})
    page.goto(report.as_uri())
    assert page.evaluate(MEETING) == []
    page.context.close()


def test_parts_that_a_reader_jumps_to_can_be_told_apart(report, browser):
    page = new_page(browser)
    page.goto(report.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.evaluate(TWICE) == []
    page.context.close()


def test_dialogues_that_are_folded_are_printed_all_the_same(report, browser):
    page = new_page(browser, viewport={"width": 794, "height": 850})
    page.goto(report.as_uri())
    hidden = (
        "[...document.querySelectorAll('details.dialogue')].filter("
        "d => !d.querySelector('.said').checkVisibility({contentVisibilityAuto: true})).length"
    )
    assert page.evaluate(hidden) > 0
    page.emulate_media(media="print")
    page.wait_for_function(f"{hidden} === 0")  # what was out of sight is laid out a frame later
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(report, browser, scheme):
    page = new_page(browser, viewport={"width": 1280, "height": 850}, color_scheme=scheme)
    page.goto(report.as_uri())
    assert page.evaluate(FAINT) == []
    page.context.close()
