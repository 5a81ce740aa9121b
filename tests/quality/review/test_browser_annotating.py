"""Two annotators and an expert go through a study in Chromium, by keyboard alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from pipeline.store.reviews import ReviewStore
from tests.quality.review.chromium import (
    arrive,
    chromium,
    come_in,
    new_page,
    picture,
    tab_to,
    until,
)
from tests.quality.review.serving import Served, served

pytestmark = pytest.mark.browser
ITEMS = 6
QUESTIONS = (
    "[...document.querySelectorAll('.section.active fieldset[data-field]')]"
    ".map(q => [q.dataset.field, Object.fromEntries([...q.querySelectorAll('input[data-key]')]"
    ".map(i => [i.dataset.key, i.value]))])"
)
CHOSEN = "[...document.querySelectorAll('#answers input:checked')].map(i => [i.name, i.value])"


class Person:
    """Somebody at a keyboard, who remembers what they answered."""

    def __init__(self, page: Page, number: int) -> None:
        self.page = page
        self.number = number
        self.answers: dict[int, dict[str, str]] = {}

    @property
    def item(self) -> int:
        return int(self.page.get_attribute("#answers", "data-item") or 0)

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def answer_step(self, shift: int = 0) -> None:
        """Answer every question of the step that is shown."""
        item = self.item
        for position, (field, values) in enumerate(self.page.evaluate(QUESTIONS)):
            keys = sorted(values)
            key = keys[(self.number + item + position + shift) % len(keys)]
            self.press(key)
            self.answers.setdefault(item, {})[field] = values[key]

    def next_step(self) -> None:
        self.press("Enter")

    def is_last_step(self) -> bool:
        return bool(self.page.locator("[data-section=d].active").count())

    def finish_item(self) -> None:
        """Answer what is left of the item, and send it."""
        before = self.page.url
        while True:
            self.answer_step()
            last = self.is_last_step()
            self.next_step()
            if last:
                break
        until(self.page, f"location.href != {before!r}")

    def wait_for_draft(self) -> None:
        until(
            self.page, "document.getElementById('save-state').textContent.startsWith('Draft saved')"
        )


def begin(page: Page, site: Served, number: int) -> Person:
    come_in(page, site.link(), f"Person {number}")
    arrive(page, "#answers")
    return Person(page, number)


def reload_in_mid_form(person: Person) -> None:
    person.answer_step()
    person.wait_for_draft()
    filled = sorted(person.page.evaluate(CHOSEN))
    person.page.reload()
    assert sorted(person.page.evaluate(CHOSEN)) == filled != []
    # The page goes on at the first step that is not answered yet.
    assert person.page.evaluate(QUESTIONS)[0][0] not in person.answers[person.item]


def undo_a_choice(person: Person) -> None:
    field, values = person.page.evaluate(QUESTIONS)[0]
    person.press("1")
    assert [field, values["1"]] in person.page.evaluate(CHOSEN)
    person.press("u")
    assert field not in dict(person.page.evaluate(CHOSEN))


def go_back_and_change(person: Person) -> None:
    """Reopen the item that was sent last, once with the key and once with the browser's button."""
    latest = person.item
    person.press("b")
    until(person.page, f"document.forms.answers.dataset.item != '{latest}'")
    assert "You have sent this item" in person.page.inner_text("main")
    reopened = person.item
    while person.page.locator(".section.active[data-section=t3]").count() == 0:
        person.press("b")
    person.answer_step(shift=1)
    # A digit goes to the question that has the focus, and the first choice moved it on.
    person.answers[reopened] = dict(person.page.evaluate(CHOSEN))
    while not person.is_last_step():
        person.next_step()
    before = person.page.url
    person.next_step()
    until(person.page, f"location.href != {before!r}")
    person.page.go_back()
    arrive(person.page, "#answers")
    assert person.item == reopened
    assert dict(person.page.evaluate(CHOSEN)) == person.answers[reopened]
    person.page.go_forward()
    arrive(person.page, "#answers")


def lose_the_connection(person: Person) -> None:
    context = person.page.context
    while not person.is_last_step():
        person.answer_step()
        person.next_step()
    person.answer_step()
    context.set_offline(True)
    item, before = person.item, person.page.url
    person.next_step()
    until(person.page, "document.getElementById('alarm').textContent.startsWith('Not saved')")
    assert person.item == item
    assert person.page.url == before
    picture(person.page, "lost-connection")
    context.set_offline(False)
    person.next_step()
    until(person.page, f"location.href != {before!r}")


def keys_are_dead_in_a_text_field(person: Person) -> None:
    chosen = person.page.evaluate(CHOSEN)
    person.press("n")
    person.page.keyboard.type("1 b u 2")
    assert person.page.input_value("#note") == "1 b u 2"
    assert person.page.evaluate(CHOSEN) == chosen
    for _ in range(7):
        person.press("Backspace")
    person.press("Escape")


def annotate(person: Person, *, with_accidents: bool) -> None:
    """Answer every item; to the one of two people everything happens that may happen."""
    for count in range(ITEMS):
        if with_accidents and count == 1:
            reload_in_mid_form(person)
        elif with_accidents and count == 2:
            undo_a_choice(person)
        elif with_accidents and count == 3:
            go_back_and_change(person)
        elif with_accidents and count == 4:
            lose_the_connection(person)
            continue
        person.finish_item()
    person.page.wait_for_url("**/finish")


def adjudicate(page: Page, site: Served) -> tuple[int, dict[str, str]]:
    come_in(page, site.link("expert"), "Expert")
    page.wait_for_url("**/adjudicate")
    picture(page, "adjudicate-list")
    tab_to(page, "tbody a")
    page.keyboard.press("Enter")
    arrive(page, "#adjudication")
    assert "Person" not in page.inner_text("body")
    before = page.viewport_size
    page.set_viewport_size({"width": 960, "height": 800})  # what is to be filled in is not cut off
    assert page.evaluate("(t => t.scrollWidth <= t.clientWidth)(document.querySelector('.scroll'))")
    page.set_viewport_size(before or {"width": 1280, "height": 720})
    picture(page, "adjudicate")
    final: dict[str, str] = {}
    for name in page.evaluate("[...document.querySelectorAll('td.final select')].map(s => s.name)"):
        tab_to(page, f'select[name="{name}"]')
        page.keyboard.press("Home")
        page.keyboard.press("ArrowDown")
        final[name] = page.input_value(f'select[name="{name}"]')
    number = int(page.url.rpartition("/")[2])
    tab_to(page, "#note")
    page.keyboard.type("the first label fits best")
    tab_to(page, "#settle")
    page.keyboard.press("Enter")
    until(page, f"!location.pathname.endsWith('/{number}')")
    page.goto(f"{site.url}/dashboard")
    picture(page, "dashboard")
    assert "Items complete" in page.inner_text("main")
    return number, final


def test_two_annotators_and_an_expert_by_keyboard_alone(run: Path) -> None:
    with served(run, mode="quiz", per_item=2, most=ITEMS) as site, chromium() as browser:
        people = [begin(new_page(browser), site, number) for number in range(2)]
        keys_are_dead_in_a_text_field_at_the_end(people[0])
        for person in people:
            annotate(person, with_accidents=person is people[0])
        picture(people[0].page, "finish")
        tab_to(people[0].page, "#finish")
        people[0].press("Enter")
        arrive(people[0].page, "table.figures")
        picture(people[0].page, "gold")
        number, final = adjudicate(new_page(browser), site)
    with ReviewStore.open(run) as store:
        study = store.studies.get("quiz")
        sheets = list(store.sheets.sheets(study))
        stored = {
            sheet.assignment: {
                f"{'d' if g.turn is None else f't{g.turn}'}.{g.dimension}": g.value
                for g in sheet.labels
            }
            for sheet in sheets
        }
        settled = store.sheets.adjudications(study)
    given = {item: answers for person in people for item, answers in person.answers.items()}
    assert stored == given
    assert len(stored) == 2 * ITEMS
    assert len({(s.item.seq, s.annotator) for s in sheets}) == 2 * ITEMS
    assert set(settled) == {number}
    assert settled[number].note == "the first label fits best"
    assert {
        f"{'d' if g.turn is None else f't{g.turn}'}.{g.dimension}": g.value
        for g in settled[number].labels
    } == final


def keys_are_dead_in_a_text_field_at_the_end(person: Person) -> None:
    """The note stands in the last step: go there, try the keys, and come back."""
    while not person.is_last_step():
        person.answer_step()
        person.next_step()
    keys_are_dead_in_a_text_field(person)
