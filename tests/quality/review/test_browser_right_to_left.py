"""Arabic runs from right to left on every page, although the pages are in English."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.quality.review.chromium import arrive, chromium, come_in, new_page
from tests.quality.review.serving import generated_run, served
from tests.quality.viewer.viewing import viewed

pytestmark = pytest.mark.browser
SCENARIO = """
id: late_report
scheme: cei
title: تقرير يوم الجمعة
category: workplace
summary: زميلة تشكر زميلها على تقرير جاء متأخرًا.
tags: [peer]
languages: [ar, en]
background: >-
  زميلان في مكتب واحد. كان على أحدهما أن يسلّم تقريرًا يوم الاثنين فسلّمه يوم الجمعة، قبل الاجتماع
  بساعة. آلة القهوة إلى جانب طاولة الآخر.
roles:
  initiator: {name: الزميل, description: سلّم ما عليه يوم الجمعة., aim: سماع كلمة طيبة}
  responder: {name: الزميلة, description: تحب القهوة وتعمل كثيرًا., aim: التلميح دون تصريح}
opening:
  shared:
    exchanges:
      - {question: هل طاولتك قرب آلة القهوة؟, answer: نعم، هي خلفي تمامًا., claims: [near]}
    hard_question: وضعتُ التقرير على طاولتك. هل ينفعك؟
  by_goal:
    - question: وضعتُ التقرير على طاولتك. هل ينفعك؟
      statements: {any: {text: ما ألطفك إذ جئت به في موعد القهوة.}}
claims:
  - {id: near, text: الطاولة قرب آلة القهوة.}
  - {id: thankful, text: الزميلة ممتنة.}
facts:
  - id: alone
    about: إعداد العرض
    text: كتبت الشرائح كلها وحدها ليلة الخميس حتى الفجر.
    angle: كيف كان الإعداد من دونه؟
    cover: [{claim: thankful}]
    makes_false: [thankful]
    makes_true: [near]
outcome: {text: ما زالا في المكتب نفسه., as_of: "2025"}
sources: fictional
"""
SENTENCES = """() => {
  const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  const found = [];
  for (let n = walker.nextNode(); n; n = walker.nextNode()) {
    const said = n.data.trim(), start = n.data.indexOf(said);
    if (!/^[\\u0620-\\u064a].*\\.$/s.test(said) || !n.parentElement.getClientRects().length) continue;
    const box = place => { const r = document.createRange(); r.setStart(n, place); r.setEnd(n, place + 1);
      return r.getBoundingClientRect(); };
    const end = start + said.length - 1, stop = box(end), before = box(end - 1);
    found.push({said, ends: stop.left < before.left, lang: n.parentElement.closest('[lang]').lang});
  }
  return found;
}"""
"""Returns the Arabic sentences of a page: whether the full stop is left of the last letter, and the language."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("arabic")
    (root / "pack").mkdir()
    (root / "pack" / "late_report.yaml").write_text(SCENARIO, encoding="utf-8")
    folder = generated_run(
        root / "run",
        n=1,
        scheme="cei",
        openings="shared",
        scenario_dirs=[str(root / "pack")],
        scenarios=["late_report"],
        goals=["sarcasm"],
        turns=[1],
    )
    with closing(sqlite3.connect(folder / "run.sqlite")) as connection, connection:
        connection.execute("update cases set language = 'ar'")  # rules speak English alone
    return folder


def looks_right(page: Page, least: int) -> None:
    found = page.evaluate(SENTENCES)
    assert len(found) >= least, found
    assert [f for f in found if not f["ends"] or f["lang"] != "ar"] == []


def test_arabic_ends_on_the_left_in_review_and_viewer(folder: Path) -> None:
    with chromium() as browser:
        with served(folder, everything=True, per_item=1) as site:
            page = new_page(browser)
            come_in(page, site.link(), "Ada")
            arrive(page, "#answers")
            looks_right(page, least=5)
            assert (
                page.evaluate("getComputedStyle(document.querySelector('.false-claims')).direction")
                == "rtl"
            )
            page.set_viewport_size({"width": 320, "height": 640})
            assert page.evaluate("document.documentElement.scrollWidth") == 320
        with viewed(folder) as viewer:
            page = new_page(browser)
            page.goto(viewer.link())
            page.goto(viewer.url + "/1/dialogues")
            page.click(".dialogues a")
            page.wait_for_selector(".turns")
            looks_right(page, least=4)
            page.goto(page.url.replace("/dialogue/", "/compare/").rpartition("/")[0])
            page.wait_for_selector(".pairs")
            looks_right(page, least=1)
