"""The author's form in Chromium, by keyboard, over a real server."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Response, Route, expect

from benchmarks.machine import free_port
from quality.web.server import Address
from scenarios.inspection import inspect_files
from scenarios.yaml_source import read_yaml
from tests.quality.authoring.keyboard import MOST_STOPS, PATH, begin, press, summary
from tests.quality.authoring.serving import served
from tests.quality.review.chromium import look_at, new_page, tab_to

pytestmark = pytest.mark.browser
PHONE = {"width": 390, "height": 844}
CELL = '[aria-label="what away does to dried_out"]'
VISIT = """() => {
  const e = document.activeElement;
  if (e === document.body || e.dataset.visited) return null;
  e.dataset.visited = 'yes';
  const box = e.getBoundingClientRect();
  const seen = document.elementFromPoint(box.left + box.width / 2, box.top + Math.min(box.height / 2, 10));
  return e.contains(seen) ? '' : e.outerHTML.slice(0, 80);
}"""
"""Marks what has the focus; returns it where something lies over it, None where it was there before."""
UNVISITED = """[...document.querySelectorAll('a, button, input:not([type=hidden]), select, textarea')]
  .filter(e => e.getClientRects().length && !e.dataset.visited).map(e => e.outerHTML.slice(0, 80))"""


def test_a_scenario_is_begun_mended_saved_drawn_and_previewed_without_a_mouse(
    browser, address, tmp_path
):
    path = tmp_path / "pack" / "lost.yaml"
    page = new_page(browser, viewport={"width": 1280, "height": 850})
    begin(page, address, "#scenario-id", "lost")
    before = path.read_text(encoding="utf-8")
    tab_to(page, '[data-path="title"] textarea')
    page.keyboard.press("Control+A")
    page.keyboard.type('The "fern" & <3 others')
    tab_to(page, CELL, most=MOST_STOPS)
    page.keyboard.press("Home")
    summary(page, "1 error, 1 warning")
    said = page.locator('[data-path="facts[0]"] > .said-here')
    expect(said).to_contain_text("dried_out")
    expect(said).to_contain_text("found")
    look_at(page, "author-error")
    assert said.locator("..").get_attribute("aria-describedby") == (said.get_attribute("id") or "?")
    press(page, "#first")
    assert page.evaluate(PATH).startswith("facts[0]")
    tab_to(page, CELL, most=MOST_STOPS)
    page.keyboard.press("End")
    summary(page, "0 errors, 1 warning")
    page.keyboard.press("Control+S")
    expect(page.locator("#state")).to_have_text("Saved.", timeout=30_000)
    after = path.read_text(encoding="utf-8")
    assert [x for x in after.splitlines() if x not in before.splitlines()] == [
        'title: "The \\"fern\\" & <3 others"'
    ]
    press(page, "#draw")
    expect(page.locator("#shown svg > title")).to_have_text(
        'The "fern" & <3 others', timeout=30_000
    )
    look_at(page, "author-drawing")
    press(page, "#preview")
    expect(page.locator("#shown h2").nth(2)).to_have_text("truthful non-disclosure", timeout=90_000)
    look_at(page, "author-preview")
    assert not inspect_files([path]).errors


def test_two_saves_at_once_are_both_saved_and_what_is_wrong_says_so(browser, address, tmp_path):
    page = new_page(browser)
    begin(page, address, "#scenario-id", "lost")
    title = page.locator('[data-path="title"] textarea')
    title.fill("Twice")
    saves = []

    def is_second_save(answer: Response) -> bool:
        saves.extend([answer.status] if "/save/" in answer.url else [])
        return len(saves) == 2

    with page.expect_response(is_second_save):
        page.locator("button.primary").dblclick()
    assert saves == [200, 200]
    expect(page.locator("#state")).to_have_text("Saved.", timeout=30_000)
    for words, errors, is_wrong in (("", "1 error", "true"), ("Once", "0 errors", None)):
        title.fill(words)
        summary(page, errors)
        assert title.get_attribute("aria-invalid") == is_wrong


def test_who_knows_a_fact_is_chosen_by_keyboard_and_checked_as_in_a_file(
    browser, three_people, tmp_path
):
    url, token = three_people
    page = new_page(browser, viewport=PHONE)
    page.goto(f"{url}/enter?token={token}")
    page.goto(f"{url}/edit/stairs.yaml")
    summary(page, "0 errors")
    owner = '[data-path="facts[0].owner"] select'
    tab_to(page, owner, most=MOST_STOPS)
    assert page.locator(owner).input_value() == "seeker"
    page.keyboard.press("Home")
    shared = page.locator('[data-path="facts[0].also_known_by"]')
    said = shared.locator(":scope > .said-here")
    expect(shared).to_contain_text("Who else knows it, besides the owner")

    def tick(role: str) -> None:
        shared.get_by_label(role).focus()
        page.keyboard.press("Space")

    tick("caretaker")
    summary(page, "0 errors")
    tick("adviser")
    summary(page, "1 error")
    expect(said).to_contain_text("found 'adviser', who is its owner")
    look_at(page, "author-owner")
    tick("adviser")
    tick("seeker")
    expect(said).to_contain_text("found everybody, expected a role that does not know it")
    tick("seeker")
    summary(page, "0 errors")
    page.keyboard.press("Control+S")
    expect(page.locator("#state")).to_have_text("Saved.", timeout=30_000)
    fact = read_yaml(tmp_path / "pack" / "stairs.yaml").data["facts"][0]
    assert (fact["owner"], fact["also_known_by"]) == ("adviser", ["caretaker"])


def test_roles_and_phases_of_a_flow_are_written_by_keyboard(browser, three_people, tmp_path):
    url, token = three_people
    path = tmp_path / "pack" / "stairs.yaml"
    before = path.read_text(encoding="utf-8")
    page = new_page(browser, viewport={"width": 1280, "height": 850})
    page.goto(f"{url}/enter?token={token}")
    page.goto(f"{url}/edit/stairs.yaml")
    summary(page, "0 errors")
    page.keyboard.press("Control+S")
    expect(page.locator("#state")).to_have_text("Saved.", timeout=30_000)
    assert path.read_text(encoding="utf-8") == before
    page.locator('[data-path="roles"] > .adding input').fill("A b")
    press(page, '[data-path="roles"] > .adding button')
    expect(page.locator('[data-path="roles"] > .adding [role=alert]')).to_contain_text("lower-case")
    page.locator('[data-path="roles"] > .adding input').fill("niece")
    page.keyboard.press("Enter")
    assert page.evaluate(PATH) == "roles.niece.name"
    for part, words in (("name", "niece"), ("description", "Visits."), ("aim", "help them")):
        page.locator(f'[data-path="roles.niece.{part}"] textarea').fill(words)
    page.locator('[data-path="roles.niece.labelled"] input').focus()
    page.keyboard.press("Space")
    press(page, '[data-path="roles.caretaker"] > .buttons button')
    expect(page.locator('[data-path="roles.caretaker"]')).to_have_count(0)
    press(page, '[data-path="flow"] > .adds')
    assert page.evaluate(PATH) == "flow[2].id"
    page.keyboard.type("goodbye")
    who = page.locator('[data-path="flow[2].who"]')
    for role in ("niece", "seeker"):
        who.get_by_label(role).focus()
        page.keyboard.press("Space")
    expect(who).to_contain_text("niece (1)")
    expect(who).to_contain_text("seeker (2)")
    assert page.evaluate("document.activeElement.parentElement.textContent") == " seeker (2)"
    page.locator('[data-path="flow[2].rounds"] textarea').fill("many")
    expect(page.locator('[data-path="flow[2].rounds"] .said-here')).to_contain_text("found 'many'")
    page.locator('[data-path="flow[2].rounds"] textarea').fill("1 to 3")
    page.locator('[data-path="flow[2].brief"] textarea').fill("They part.")
    page.locator('[data-path="flow[1].rounds"] textarea').fill("5")
    press(page, '[data-path="flow[2].strategies"] > .adds')
    press(page, '[data-path="flow[2].strategies.niece"] > .adds')
    page.keyboard.type("make a joke")
    summary(page, "0 errors")
    look_at(page, "author-phases")
    page.keyboard.press("Control+S")
    expect(page.locator("#state")).to_have_text("Saved.", timeout=30_000)
    saved = read_yaml(path).data
    assert "caretaker" not in saved["roles"]
    assert saved["roles"]["niece"]["labelled"] is True
    assert saved["flow"][1]["rounds"] == 5
    assert saved["flow"][2] == {
        "id": "goodbye", "who": ["niece", "seeker"], "rounds": [1, 3], "brief": "They part.",
        "strategies": {"niece": ["make a joke"]},
    }  # fmt: skip
    assert "# Phases in order" in path.read_text(encoding="utf-8")


def test_one_word_in_place_of_a_list_is_shown_and_stays_until_it_is_changed(
    browser, three_people, tmp_path
):
    url, token = three_people
    path = tmp_path / "pack" / "stairs.yaml"
    text = path.read_text(encoding="utf-8")
    oath = "  - {id: oath, who: caretaker, text: Your names please.}\n  - id: meeting"
    path.write_text(text.replace("  - id: meeting", oath, 1), encoding="utf-8")
    before = path.read_text(encoding="utf-8")
    page = new_page(browser, viewport=PHONE)
    page.goto(f"{url}/enter?token={token}")
    page.goto(f"{url}/edit/stairs.yaml")
    summary(page, "0 errors")
    assert page.locator('[data-path="flow[0].who"]').get_by_label("caretaker").is_checked()
    words = page.locator('[data-path="flow[0].text[0]"] textarea')
    assert words.input_value() == "Your names please."
    page.keyboard.press("Control+S")
    expect(page.locator("#state")).to_have_text("Saved.", timeout=30_000)
    assert path.read_text(encoding="utf-8") == before
    words.fill("Your name please.")
    page.keyboard.press("Control+S")
    expect(page.locator("#state")).to_have_text("Saved.", timeout=30_000)
    assert read_yaml(path).data["flow"][0]["text"] == ["Your name please."]


def test_a_fact_of_question_and_answer_shows_whose_it_is_without_being_changed(
    browser, address, tmp_path
):
    page = new_page(browser, viewport={"width": 1280, "height": 850})
    begin(page, address, "#scenario-id", "lost")
    before = (tmp_path / "pack" / "lost.yaml").read_text(encoding="utf-8")
    assert "owner:" not in before
    owner = page.locator('[data-path="facts[0].owner"]')
    assert owner.locator("select").input_value() == "responder"
    assert page.locator('[data-path="facts[0].also_known_by"]').count() == 0
    assert page.locator('[data-path="languages[0]"] textarea').input_value() == "en"
    page.keyboard.press("Control+S")
    expect(page.locator("#state")).to_have_text("Saved.", timeout=30_000)
    assert (tmp_path / "pack" / "lost.yaml").read_text(encoding="utf-8") == before
    owner.locator("select").focus()
    page.keyboard.press("Home")
    expect(owner).to_contain_text("found 'initiator', expected", timeout=30_000)


def test_a_scheme_is_written_by_keyboard_on_a_phone(browser, address, tmp_path):
    page = new_page(browser, viewport=PHONE, color_scheme="dark")
    begin(page, address, "#scheme-id", "mine")
    press(page, '[data-path="dimensions[0].labels"] > .adds')
    assert page.evaluate(PATH) == "dimensions[0].labels[2].id"
    page.keyboard.type("half way")
    summary(page, "1 error")
    page.keyboard.press("Tab")
    page.keyboard.type("The hearer knows a part of it.")
    summary(page, "0 errors")
    page.keyboard.press("Control+S")
    expect(page.locator("#state")).to_have_text("Saved.", timeout=30_000)
    labels = read_yaml(tmp_path / "pack" / "mine.yaml").data["dimensions"][0]["labels"]
    assert labels[2] == {"id": "half way", "definition": "The hearer knows a part of it."}
    look_at(page, "author-scheme")


def test_whatever_can_be_operated_is_reached_with_tab_and_seen_when_it_is(browser, address):
    page = new_page(browser, viewport=PHONE, reduced_motion="reduce")
    begin(page, address, "#scenario-id", "lost")
    covered = []
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        found = page.evaluate(VISIT)
        if found is None:
            break
        covered += [found] * bool(found)
    assert covered == []
    assert page.evaluate(UNVISITED) == []


def test_the_focus_stays_on_what_it_was_on_when_an_id_has_changed(browser, address):
    page = new_page(browser, viewport={"width": 1280, "height": 850})
    begin(page, address, "#scheme-id", "mine")
    tab_to(page, '[data-path="dimensions[0].labels[1].id"] textarea', most=MOST_STOPS)
    page.keyboard.type("x")
    page.keyboard.press("Shift+Tab")
    expect(page.locator('[data-path="dimensions[0].labels[1]"] > legend')).to_contain_text("x")
    assert page.evaluate("document.activeElement.textContent") == "Remove this label"
    assert page.evaluate(PATH) == "dimensions[0].labels[0]"


def test_a_button_is_pressed_by_a_mouse_though_an_id_was_being_typed(browser, address):
    page = new_page(browser, viewport={"width": 1280, "height": 850})
    begin(page, address, "#scheme-id", "mine")
    tab_to(page, '[data-path="dimensions[0].labels[1].id"] textarea', most=MOST_STOPS)
    page.keyboard.type("x")
    page.locator('[data-path="dimensions[0].labels"] > .adds').hover()
    page.mouse.down()
    page.evaluate("new Promise(done => setTimeout(done, 1))")  # what was due has been done
    page.mouse.up()
    expect(page.locator('[data-path="dimensions[0].labels[2]"]')).to_be_visible()


def test_what_was_written_is_saved_after_the_page_was_started_anew(browser, tmp_path):
    place, title = Address(port=free_port()), '[data-path="title"] textarea'
    page = new_page(browser, viewport={"width": 1280, "height": 850})
    with served(place, tmp_path) as first:
        begin(page, first, "#scenario-id", "lost")
        page.locator(title).fill("Hours of my work")
        summary(page, "0 errors")
    page.keyboard.press("Control+S")
    state = page.locator("#state")
    expect(state).to_contain_text("Not saved: there is no connection. What you wrote stays")
    with served(place, tmp_path) as (url, token):
        page.keyboard.press("Control+S")
        expect(state).to_contain_text("Not saved: hipo author was started anew.")
        page.context.new_page().goto(f"{url}/enter?token={token}")
        page.keyboard.press("Control+S")
        expect(state).to_have_text("Saved.")
    assert "title: Hours of my work" in (tmp_path / "lost.yaml").read_text()


def test_two_requests_that_are_refused_at_once_both_go_on_with_the_new_form(browser, tmp_path):
    place = Address(port=free_port())
    page = new_page(browser, viewport={"width": 1280, "height": 850})
    with served(place, tmp_path) as first:
        begin(page, first, "#scenario-id", "lost")
        summary(page, "0 errors")
    with served(place, tmp_path) as (url, token):
        page.context.new_page().goto(f"{url}/enter?token={token}")
        asked: list[Route] = []

        def held(route: Route) -> None:
            """Hold the new form back until both requests have been refused."""
            asked.append(route)
            if len(asked) == 2:
                for each in asked:
                    each.continue_()

        page.route(re.compile("/edit/"), held)
        page.locator('[data-path="title"] textarea').fill("Hours of my work")
        page.keyboard.press("Control+S")
        expect(page.locator("#state")).to_have_text("Saved.")
        summary(page, "0 errors")


def test_the_page_of_files_says_what_cannot_be_begun_and_strangers_are_refused(browser, address):
    url, _ = address
    page = new_page(browser, viewport={"width": 1280, "height": 850})
    assert page.goto(f"{url}/").status == 401
    look_at(page, "author-refused")
    begin(page, address, "#scenario-id", "lost")
    page.goto(f"{url}/")
    tab_to(page, "#scenario-id")
    page.keyboard.type("lost")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("there is a scenario 'lost' already")
    look_at(page, "author-files")
    answer = page.request.post(
        f"{url}/save/lost.yaml", form={"data": "{}", "version": "", "csrf": "x"}
    )
    assert answer.status == 403
