"""Chromium for tests, driven by the keyboard."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, sync_playwright

LEFT_OUT = (
    # The window that nobody sees would have a page of its own below its address bar, and draw it.
    "WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup",
    # Of several lists of features the last counts: this is Playwright's own, as far as it concerns tests.
    "AimEnabled", "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay", "MediaRouter",
    "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
)  # fmt: skip
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(LEFT_OUT)}",
]
LONGEST_MS = 60_000
"""How long something that a page does may take, on a machine as busy as any."""
SIZES = {"desktop": (1280, 850), "phone": (390, 844)}
CONTRAST = """() => {
  const channel = c => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const light = c => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const behind = e => {
    const box = e.getBoundingClientRect(), [x, y] = [box.left + 1, box.top + box.height / 2];
    return [...e.ownerSVGElement.querySelectorAll('rect')].filter(r => {
      const own = r.getBoundingClientRect();
      return own.left <= x && x <= own.right && own.top <= y && y <= own.bottom;
    }).pop();
  };
  const ground = e => {
    const drawn = e.ownerSVGElement && behind(e);
    if (drawn) return parse(getComputedStyle(drawn).fill);
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const bad = [];
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    const style = getComputedStyle(e);
    if (!own || !e.getClientRects().length || style.visibility === 'hidden' || e.disabled) continue;
    const [a, b] = [light(parse(e.ownerSVGElement ? style.fill : style.color)), light(ground(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(`${e.tagName}.${e.className} ${ratio.toFixed(2)} ${e.textContent.trim().slice(0, 30)}`);
  }
  return bad;
}"""
"""Returns the elements whose text and ground have too little contrast."""
UNNAMED = """() => [...document.querySelectorAll('input:not([type=hidden]), select, textarea, button, a')]
  .filter(e => e.getClientRects().length)
  .filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() || (e.labels && e.labels.length)))
  .map(e => e.outerHTML.slice(0, 80))"""
"""Returns what can be operated and has no name."""
CUT = """() => [...document.querySelectorAll('svg.plot text')].filter(
    t => t.getBoundingClientRect().right > t.ownerSVGElement.getBoundingClientRect().right + 1)
  .map(t => t.textContent)"""
"""Returns the texts of drawings that stick out of them."""
MEETING = """() => [...document.querySelectorAll('svg.plot')].flatMap(svg => {
  const boxes = [...svg.querySelectorAll('text')]
    .filter(t => t.textContent.trim() && !t.hasAttribute('transform'))
    .map(t => [t.textContent, t.getBBox()]);
  return boxes.flatMap(([a, p], i) => boxes.slice(i + 1)
    .filter(([b, q]) =>
      Math.min(p.x + p.width, q.x + q.width) - Math.max(p.x, q.x) > 0.5 &&
      Math.min(p.y + p.height, q.y + q.height) - Math.max(p.y, q.y) > 5)
    .map(([b]) => a + ' / ' + b));
})"""
"""Returns the texts of drawings that lie over each other."""
TWICE = """() => {
  const named = '[role=region], section[aria-label], nav[aria-label], form[aria-label], main aside';
  const names = [...document.querySelectorAll(named)].filter(e => e.checkVisibility())
    .map(e => `${e.getAttribute('role') || e.tagName} ${e.getAttribute('aria-label')}`);
  return names.filter((name, i) => names.indexOf(name) !== i);
}"""
"""Returns the parts of a page that a reader jumps to and cannot tell apart."""
SKIPPED = """() => {
  const heads = [...document.querySelectorAll('h1, h2, h3, h4')].filter(e => e.checkVisibility());
  return heads.filter((e, i) => i && e.tagName[1] - heads[i - 1].tagName[1] > 1).map(e => e.textContent);
}"""
"""Returns the headings that are more than one level below the heading before them."""
LOOSE = """() => [...document.querySelectorAll('[aria-describedby]')].flatMap(
    e => e.getAttribute('aria-describedby').split(' ').filter(id => !document.getElementById(id)))"""
"""Returns the descriptions that are named and are not there."""
IN_SIGHT = """() => {
  const box = document.activeElement.getBoundingClientRect(), x = box.left + box.width / 2;
  return document.activeElement !== document.body &&
    document.activeElement.contains(document.elementFromPoint(x, box.top + box.height / 2));
}"""
"""Returns whether what has the focus is in the window, with nothing over it."""
FAINT = """() => {
  const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number).map(v => v / 255)
    .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b; };
  const behind = e => { for (let at = e; at; at = at.parentElement) {
    const c = getComputedStyle(at).backgroundColor;
    if (!c.startsWith('rgba(0, 0, 0, 0')) return c; } return 'rgb(255, 255, 255)'; };
  const all = [...document.querySelectorAll(
    'p, th, td, li, span, sup, strong, pre, h1, h2, a, code, caption, summary, svg text')];
  return [...new Set(all.filter(e => e.textContent.trim()).map(e => {
    const svg = e.ownerSVGElement;
    const front = light(svg ? getComputedStyle(e).fill : getComputedStyle(e).color);
    const back = light(behind(svg ? svg.parentElement : e));
    const ratio = (Math.max(front, back) + .05) / (Math.min(front, back) + .05);
    return ratio < 4.5 ? e.tagName + '.' + (e.getAttribute('class') || '') + ' ' + ratio.toFixed(2) : '';
  }))].filter(Boolean);
}"""
"""Returns what of a page with drawings has too little contrast with the page."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the Chromium of the system; the test is skipped where there is none."""
    path = os.environ.get("HIPO_CHROMIUM") or shutil.which("chromium")
    if path is None:
        pytest.skip("needs Chromium (apt install chromium, or HIPO_CHROMIUM=PATH)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


def new_page(browser: Browser, **options: object) -> Page:
    """Open a page in a profile of its own; an error of its script fails the test."""
    page = browser.new_context(**options).new_page()
    page.set_default_timeout(LONGEST_MS)
    page.on("pageerror", _fail)
    return page


def until(page: Page, expression: str) -> None:
    """Wait until an expression is true of a page that is there whole.

    The page forbids the usual way, which evaluates text. A page on its way in lacks its form still.
    """
    for _ in range(LONGEST_MS // 25):
        try:
            if page.evaluate(f"document.readyState === 'complete' && ({expression})"):
                page.wait_for_load_state()
                return
        except Error as error:
            if "context was destroyed" not in str(error):
                raise
        page.wait_for_timeout(25)
    raise AssertionError(f"never true on {page.url}: {expression}")


def arrive(page: Page, selector: str) -> None:
    """Wait until a page that has an element is there whole: its script takes keys only then."""
    try:
        page.wait_for_selector(selector)
    except Error as error:
        raise AssertionError(f"no {selector} on {page.url}: {page.inner_text('body')}") from error
    page.wait_for_load_state()


def has_focus(page: Page, selector: str) -> None:
    """Wait until what a page gives the focus by itself has it: after it is loaded, when it is drawn."""
    until(page, f"document.activeElement.matches({json.dumps(selector)})")


def tab_to(page: Page, selector: str, *, most: int = 120) -> None:
    """Press Tab until the focus is on an element: so that it can be reached at all."""
    for _ in range(most):
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached by keyboard")


def look_at(page: Page, name: str) -> None:
    """Look at a page in both sizes and schemes: contrast, width, names, one heading."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for size, (width, height) in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate(CONTRAST) == [], f"{name}, {size}, {scheme}"
            wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, f"{name} is {wide} px too wide on a {size}"
    for expected_to_be_empty in (UNNAMED, TWICE, SKIPPED, LOOSE):
        assert page.evaluate(expected_to_be_empty) == [], name
    assert page.evaluate("document.querySelectorAll('h1').length") == 1, name
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 850})
    picture(page, name)


def come_in(page: Page, link: str, name: str) -> None:
    """Go through consent, name, return code and language by keyboard alone."""
    page.goto(link)
    tab_to(page, "input[name=agree]")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    give_name(page, name)
    page.keyboard.press("Enter")
    until(page, "location.pathname != '/name'")
    if page.url.endswith("/language"):
        has_focus(page, "input[name=language]")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        until(page, "location.pathname != '/language'")


def seated(browser: Browser, link: str, **options: object) -> Page:
    """Return the page of an annotator before the first item."""
    page = new_page(browser, **options)
    come_in(page, link, "Ada")
    arrive(page, "#answers")
    return page


def give_name(page: Page, name: str) -> None:
    """Type a name where one is asked for, and go on to the return code."""
    page.wait_for_url("**/name")
    has_focus(page, "#name")
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    arrive(page, "#begin")
    has_focus(page, "#begin")


def picture(page: Page, name: str) -> None:
    """Keep a picture of a page in both sizes and schemes where $HIPO_SCREENSHOTS says so."""
    folder = os.environ.get("HIPO_SCREENSHOTS")
    if not folder:
        return
    for scheme in ("light", "dark"):
        for size, (width, height) in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=Path(folder) / f"{name}-{size}-{scheme}.png", full_page=True)
    page.set_viewport_size({"width": 1280, "height": 850})
    page.emulate_media(color_scheme="light")


def _fail(error: object) -> None:
    raise AssertionError(f"the script of the page failed: {error}")
