"""The author's form in Chromium, by keyboard, over a real server."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from benchmarks.machine import free_port
from hipo.app.authoring import open_desk
from hipo.cli.console import dollars
from quality.authoring.app import authoring_app
from quality.web.access import Access
from quality.web.server import Address, listening, server
from quality.web.single_owner import SingleOwner
from scenarios.inspection import inspect_files
from scenarios.yaml_source import read_yaml
from tests.quality.review.chromium import chromium, new_page


@pytest.fixture
def address(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Serve the form of an empty folder; yields its address and the token of a link."""
    place = Address(port=free_port())
    owner = SingleOwner("author", lambda token: None)
    desk = open_desk(tmp_path / "pack", "offline/rules", dollars)
    with listening(place) as listener:
        serving = server(authoring_app(desk, owner, Access(hosts=place.hosts)), place)
        thread = threading.Thread(target=serving.run, kwargs={"sockets": [listener]})
        thread.start()
        yield place.url, owner.mint()
        serving.should_exit = True
        thread.join()


def summary(page: Page, text: str) -> None:
    expect(page.locator("#summary")).to_have_text(re.compile(text), timeout=60_000)


def test_a_scenario_is_begun_mended_saved_drawn_and_previewed_without_a_mouse(address, tmp_path):
    url, token = address
    path = tmp_path / "pack" / "lost.yaml"
    with chromium() as browser:
        page = new_page(browser, viewport={"width": 1280, "height": 850})
        page.goto(f"{url}/enter?token={token}")
        page.locator("#scenario-id").focus()
        page.keyboard.type("lost")
        page.keyboard.press("Enter")
        summary(page, "0 errors, 1 warning")
        before = path.read_text(encoding="utf-8")
        page.get_by_label("Title", exact=True).focus()
        page.keyboard.press("Control+A")
        page.keyboard.type('The "fern" & <3 others')
        cell = page.get_by_label("what away does to dried_out")
        cell.focus()
        page.keyboard.press("Home")
        summary(page, "1 error, 1 warning")
        said = page.locator('[data-path="facts[0]"] > .said-here')
        expect(said).to_contain_text("dried_out")
        expect(said).to_contain_text("found")
        page.keyboard.press("End")
        summary(page, "0 errors, 1 warning")
        page.keyboard.press("Control+S")
        expect(page.locator("#state")).to_have_text("Saved.", timeout=30_000)
        after = path.read_text(encoding="utf-8")
        assert [x for x in after.splitlines() if x not in before.splitlines()] == [
            'title: "The \\"fern\\" & <3 others"'
        ]
        page.locator("#draw").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#shown svg > title")).to_have_text(
            'The "fern" & <3 others', timeout=30_000
        )
        page.locator("#preview").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#shown h2").nth(2)).to_have_text(
            "truthful non-disclosure", timeout=90_000
        )
        assert not inspect_files([path]).errors


def test_a_claim_and_a_scheme_are_written_on_a_phone_and_strangers_are_refused(address, tmp_path):
    url, token = address
    with chromium() as browser:
        page = new_page(browser, viewport={"width": 390, "height": 844}, color_scheme="dark")
        assert page.goto(f"{url}/").status == 401
        page.goto(f"{url}/enter?token={token}")
        page.locator("#scheme-id").fill("mine")
        page.keyboard.press("Enter")
        summary(page, "0 errors, 1 warning")
        page.get_by_role("button", name="Add a label").first.click()
        added = page.locator('[data-path="dimensions[0].labels[2]"]')
        added.get_by_label("Id").fill("half way")
        summary(page, "1 error")
        added.get_by_label("Definition").fill("The hearer knows a part of it.")
        summary(page, "0 errors")
        page.keyboard.press("Control+S")
        expect(page.locator("#state")).to_have_text("Saved.", timeout=30_000)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        labels = read_yaml(tmp_path / "pack" / "mine.yaml").data["dimensions"][0]["labels"]
        assert labels[2] == {"id": "half way", "definition": "The hearer knows a part of it."}
        answer = page.request.post(
            f"{url}/save/mine.yaml", form={"data": "{}", "version": "", "csrf": "x"}
        )
        assert answer.status == 403
