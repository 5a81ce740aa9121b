"""A scheme that is a YAML file alone: its form, its numbers, and its agreement."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hipo.app.generation.generate import generate
from pipeline.recipes.source import load_recipe
from pipeline.store.reviews import ReviewStore
from quality.agreement.agreement import agreement_table
from quality.review.answer_table import answers
from scenarios.schemes.registry import load_scheme
from tests.quality.review.cei_run import make_cei_run
from tests.quality.review.chromium import arrive, chromium, come_in, new_page, picture, until
from tests.quality.review.serving import served

pytestmark = pytest.mark.browser


def test_the_scheme_cei_is_filled_in_by_keyboard(tmp_path: Path) -> None:
    """Joy (key 1) and the third point of every scale: unpleasant, which contradicts the joy."""
    folder = make_cei_run(tmp_path / "run")
    with served(folder, mode="quiz", per_item=2) as site, chromium() as browser:
        for name in ("Ada", "Bea"):
            page = new_page(browser)
            come_in(page, site.link(), name)
            for _ in range(3):
                arrive(page, "#answers")
                url = page.url
                page.keyboard.press("1")
                for key in ("1", "4", "4", "7"):
                    page.keyboard.press(key)
                if name == "Ada":
                    picture(page, "cei")
                assert "very unpleasant" in page.inner_text("#answers")
                page.keyboard.press("Enter")
                page.keyboard.press("1" if name == "Ada" else "2")
                page.keyboard.press("Enter")
                until(page, f"location.href != {url!r}")
        expert = new_page(browser)
        come_in(expert, site.link("expert"), "Eve")
        expert.goto(f"{site.url}/dashboard")
        assert "self contradiction" in expert.inner_text("main")
        picture(expert, "cei-dashboard")
    with ReviewStore.open(folder) as store:
        sheets = list(store.sheets.sheets(store.studies.get("quiz")))
    assert len(sheets) == 6
    for sheet in sheets:
        said = {g.dimension: g.value for g in sheet.labels}
        assert said["emotion"] == "joy"
        assert (said["valence"], said["arousal"], said["confidence"]) == (-1.0, 0.0, 1.0)
        assert said["subtype"] == ("sarcasm" if sheet.annotator == "A01" else "mixed signals")
    table = agreement_table(load_scheme("cei"), answers(sheets))
    percent = {row.dimension: row.value for row in table if row.statistic == "percent agreement"}
    assert percent == {"subtype": 0.0, "emotion": 1.0}


def test_a_question_with_a_condition_is_asked_where_it_holds_and_sent_nowhere_else(
    tmp_path: Path,
) -> None:
    """The kinds of mistakes are asked of lines that are not correct."""
    recipe = load_recipe("dilemmas").with_changes({"n": 1})
    generate(
        recipe.with_changes({"models": {"default": "offline/reasoner"}}), output=tmp_path / "run"
    )
    with served(tmp_path / "run", everything=True, per_item=1) as site, chromium() as browser:
        page = new_page(browser)
        come_in(page, site.link(), "Ada")
        arrive(page, "#answers")
        part = page.locator(".active fieldset[data-when]").first
        ((name, (wrong,)),) = json.loads(part.get_attribute("data-when") or "").items()
        asked = part.get_attribute("data-field")

        def choose(value: str) -> None:
            page.locator(f'.active input[name="{name}"][value="{value}"]').check(force=True)

        def sent() -> list[str]:
            found: list[str] = page.evaluate(
                "[...new FormData(document.querySelector('#answers fieldset').form).keys()]"
            )
            return found

        assert part.is_hidden()
        choose(wrong)
        part.wait_for(state="visible")
        part.locator("input").first.check(force=True)
        nothing = part.locator('input[value="none of them"]')
        nothing.check(force=True)
        assert part.locator("input:checked").count() == 1, "it clears what was ticked before"
        page.keyboard.press("1")
        assert not nothing.is_checked()
        picture(page, "condition")
        assert asked in sent()
        choose("1" if wrong == "0" else "0")
        part.wait_for(state="hidden")
        assert asked not in sent(), "what was ticked before does not arise any more"
        assert name in sent()
