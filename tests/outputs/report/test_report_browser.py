import asyncio

import pytest

from outputs.report.build import build_report
from outputs.report.gathered import ReportOptions
from tests.outputs.sample_run import HOSTILE, reported_run
from tests.quality.review.chromium import chromium, new_page

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
    cut = page.evaluate(
        "[...document.querySelectorAll('svg.plot text')].filter(t => t.getBoundingClientRect().right"
        " > t.ownerSVGElement.getBoundingClientRect().right + 1).map(t => t.textContent)"
    )
    assert cut == []
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
    meeting = page.evaluate(
        """() => [...document.querySelectorAll('svg.plot')].flatMap(svg => {
            const boxes = [...svg.querySelectorAll('text')]
                .filter(t => t.textContent.trim() && !t.hasAttribute('transform'))
                .map(t => [t.textContent, t.getBBox()]);
            return boxes.flatMap(([a, p], i) => boxes.slice(i + 1)
                .filter(([b, q]) =>
                    Math.min(p.x + p.width, q.x + q.width) - Math.max(p.x, q.x) > 0.5 &&
                    Math.min(p.y + p.height, q.y + q.height) - Math.max(p.y, q.y) > 5)
                .map(([b]) => a + ' / ' + b));
        })"""
    )
    assert meeting == []
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
    faint = page.evaluate(
        """() => {
            const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number).map(v => v / 255)
                .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
                return .2126 * r + .7152 * g + .0722 * b; };
            const behind = e => { for (let at = e; at; at = at.parentElement) {
                const c = getComputedStyle(at).backgroundColor;
                if (!c.startsWith('rgba(0, 0, 0, 0')) return c; } return 'rgb(255, 255, 255)'; };
            const all = [...document.querySelectorAll('p, th, td, li, span, strong, h1, h2, a, code, caption, svg text')];
            return [...new Set(all.filter(e => e.textContent.trim()).map(e => {
                const svg = e.ownerSVGElement;
                const front = light(svg ? getComputedStyle(e).fill : getComputedStyle(e).color);
                const back = light(behind(svg ? svg.parentElement : e));
                const ratio = (Math.max(front, back) + .05) / (Math.min(front, back) + .05);
                return ratio < 4.5 ? e.tagName + '.' + (e.getAttribute('class') || '') + ' ' + ratio.toFixed(2) : '';
            }))].filter(Boolean);
        }"""
    )  # fmt: skip
    assert faint == []
    page.context.close()
