"""The viewer in Chromium: by keyboard alone, in both sizes and schemes, and live."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from pipeline.store.run_store import RunStore
from tests.factories import make_case, make_dialogue, make_run
from tests.quality.review.chromium import (
    arrive,
    chromium,
    look_at,
    new_page,
    tab_to,
    until,
)
from tests.quality.viewer.test_pages import ARMS, CASE, LIE, PATHS, judge, made, trace
from tests.quality.viewer.viewing import viewed

pytestmark = pytest.mark.browser
LATER_MS = 2_000
"""After so long a page asks again."""


@pytest.fixture(scope="module")
def wordy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    long = "wordwithoutanyspace" * 40 + " <i>this is no markup</i> " + "and so on " * 60
    return made(tmp_path_factory.mktemp("wordy") / "run", long)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    others = [
        make_dialogue("Why?", f"Because of {n}.", case=make_case(repetition=n), tactics=[LIE])
        for n in range(1, 60)
    ]
    first = make_dialogue("Was it hit?", "A zebra.", case=CASE, tactics=[LIE], trace=trace())
    second = make_dialogue("Was it hit?", "A zebra did it.", case=CASE, arm="arm-b")
    folder = tmp_path_factory.mktemp("many") / "run"
    return make_run(folder, [first, second, *others], arms=ARMS, each=judge)


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("unfinished") / "run")


@pytest.fixture(scope="module")
def browser(wordy: Path, many: Path, unfinished: Path) -> Iterator[Browser]:
    with chromium() as found:  # no run can be made in this thread as long as it is open
        yield found


def test_every_page_fits_both_sizes_and_can_be_read_in_both_schemes(
    browser: Browser, wordy: Path
) -> None:
    with viewed(wordy) as site:
        page = new_page(browser, viewport={"width": 1280, "height": 850})
        refused: list[str] = []
        page.on("console", lambda message: refused.append(message.text))
        page.goto(site.link())
        for path in PATHS[1:-1]:
            page.goto(site.url + path)
            page.keyboard.press("o")
            look_at(
                page, path.strip("/").replace("/", "-").replace("?", "-").replace(CASE.id, "case")
            )
        assert refused == [], "the policy of the pages refuses nothing that is theirs"
        page.context.close()


def test_a_dialogue_is_found_read_and_compared_by_keyboard_alone(
    browser: Browser, many: Path
) -> None:
    with viewed(many) as site:
        page = new_page(browser, viewport={"width": 1280, "height": 850})
        page.goto(site.link())
        page.keyboard.press("n")
        arrive(page, 'text="Page 2 of 2"')
        page.keyboard.press("p")
        arrive(page, 'text="Page 1 of 2"')
        page.keyboard.press("/")
        page.keyboard.type("zebra")
        page.keyboard.press("Enter")
        arrive(page, 'h1:has-text("2 dialogues")')
        assert page.url.endswith("?text=zebra"), "what is not asked for does not stand there"
        tab_to(page, "#f-strategy")
        page.keyboard.type("dir")
        tab_to(page, "button.primary")
        page.keyboard.press("Enter")
        arrive(page, 'h1:has-text("1 dialogue")')
        page.keyboard.press("j")
        assert page.evaluate("document.activeElement.closest('#list') !== null")
        page.keyboard.press("Enter")
        arrive(page, "#compare")
        assert page.evaluate("document.querySelectorAll('details[open]').length") == 0
        page.keyboard.press("o")
        assert page.is_visible("text=he evades")
        assert page.is_visible("text=A careful owner's.")
        tab_to(page, "#compare")
        page.keyboard.press("Enter")
        arrive(page, ".pairs")
        assert page.is_visible('text="A zebra did it."')
        page.keyboard.press("u")
        arrive(page, "#compare")
        page.keyboard.press("u")
        arrive(page, "#list")
        page.context.close()


def test_keys_can_be_switched_off_and_stay_off(browser: Browser, many: Path) -> None:
    with viewed(many) as site:
        page = new_page(browser, viewport={"width": 320, "height": 640})
        page.goto(site.link())
        page.locator("#keys-on").uncheck()
        page.reload()
        page.keyboard.press("j")
        assert page.evaluate("document.activeElement === document.body")
        page.locator("#keys-on").check()
        page.locator("h1").click()
        page.keyboard.press("j")
        assert page.evaluate("document.activeElement.closest('#list') !== null")
        page.context.close()


def test_a_live_run_is_counted_on_without_reloading(browser: Browser, unfinished: Path) -> None:
    with RunStore.open(unfinished) as store:
        store.set_state("running", planned=10)
        with viewed(unfinished) as site:
            page = new_page(browser)
            page.clock.install()
            page.goto(site.link())
            page.goto(f"{site.url}/1/progress")
            assert page.is_visible("text=3 of 10")
            late = make_case(repetition=9)
            with ThreadPoolExecutor(1) as beside:  # the browser's own loop runs in this thread
                beside.submit(asyncio.run, store.add_cases([late])).result()
                ended = store.finish(make_dialogue("Why?", "So.", case=late), 0)
                beside.submit(asyncio.run, ended).result()
            page.clock.fast_forward(LATER_MS)
            until(page, "document.body.textContent.includes('4 of 10')")
            store.set_state("finished", planned=4)
            page.clock.fast_forward(LATER_MS)
            until(page, """document.querySelector('[data-live]').dataset.live === 'no'""")
            page.context.close()
