"""What is done by keyboard in the author's form."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.quality.review.chromium import tab_to

MOST_STOPS = 400
"""More than there are places in a form where Tab stops."""
PATH = "document.activeElement.closest('[data-path]').dataset.path"
"""The place in the file of what has the focus."""


def summary(page: Page, text: str) -> None:
    expect(page.locator("#summary")).to_have_text(re.compile(text), timeout=60_000)


def begin(page: Page, address: tuple[str, str], field: str, file_id: str) -> None:
    """Come in and write a new file, by keyboard."""
    url, token = address
    page.goto(f"{url}/enter?token={token}")
    tab_to(page, field)
    page.keyboard.type(file_id)
    page.keyboard.press("Enter")
    summary(page, "0 errors, 1 warning")


def press(page: Page, selector: str) -> None:
    tab_to(page, selector, most=MOST_STOPS)
    page.keyboard.press("Enter")
