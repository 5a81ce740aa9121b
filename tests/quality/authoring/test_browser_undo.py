"""What was removed from the author's form comes back."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from scenarios.yaml_source import read_yaml
from tests.quality.authoring.keyboard import PATH, begin, press, summary
from tests.quality.review.chromium import look_at, new_page

pytestmark = pytest.mark.browser


def test_what_was_removed_comes_back_where_it_was_by_keyboard(browser, address, tmp_path):
    page = new_page(browser, viewport={"width": 1280, "height": 850})
    begin(page, address, "#scenario-id", "lost")
    path = tmp_path / "pack" / "lost.yaml"
    before = path.read_text(encoding="utf-8")
    ids = [claim["id"] for claim in read_yaml(path).data["claims"]]
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_hidden()
    press(page, '[data-path="claims[0].text"] ~ .buttons button')
    said = page.locator("#removed [role=status]")
    expect(said).to_have_text(f"Removed claim 1: {ids[0]}.")
    press(page, '[data-path="claims[0].text"] ~ .buttons button')
    expect(said).to_have_text(f"Removed claim 1: {ids[1]}.")
    look_at(page, "author-removed")
    for _ in range(2):
        press(page, "#removed button")
    expect(said).to_have_text(f"claim 1: {ids[0]} is back.")
    expect(undo).to_be_hidden()
    assert page.evaluate(PATH).startswith("claims[0]")
    assert not page.evaluate("document.getElementById('state').textContent")
    page.keyboard.press("Control+S")
    expect(page.locator("#state")).to_have_text("Saved.", timeout=30_000)
    assert path.read_text(encoding="utf-8") == before


def test_a_removed_role_comes_back_and_what_was_written_since_stays(browser, three_people):
    url, token = three_people
    page = new_page(browser, viewport={"width": 1280, "height": 850})
    page.goto(f"{url}/enter?token={token}")
    page.goto(f"{url}/edit/stairs.yaml")
    summary(page, "0 errors")
    press(page, '[data-path="roles.caretaker"] > .buttons button')
    title = page.locator('[data-path="title"] textarea')
    title.fill("Written since")
    press(page, "#removed button")
    expect(page.locator('[data-path="roles.caretaker.name"] textarea')).to_have_value("caretaker")
    expect(title).to_have_value("Written since")


def test_what_facts_do_to_claims_is_asked_once_there_are_both(browser, address):
    page = new_page(browser, viewport={"width": 1280, "height": 850})
    begin(page, address, "#scenario-id", "lost")
    grid = page.locator('[data-path="grid"]')
    expect(grid.locator("table")).to_have_count(1)
    for left in reversed(range(page.locator('[data-path="claims"] > .item').count())):
        page.locator('[data-path="claims"] > .item > .buttons button').first.click()
        expect(page.locator('[data-path="claims"] > .item')).to_have_count(left)
    expect(grid.locator("table")).to_have_count(0)
    expect(grid).to_contain_text("once there are a fact and a claim")
