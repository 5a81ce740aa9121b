"""Texts that are plainly in another language than the scenario says are told once, and no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scenarios.checks.other_language import check_other_language
from scenarios.inspection import inspect_files
from scenarios.located import Located
from scenarios.pack import FAMILIES, LIBRARY, LIBRARY_PLUS, read_scenario, scenario_files
from scenarios.scaffold import new_scenario
from scenarios.schemes.registry import load_scheme
from scenarios.spec import Scenario
from tests.factories import make_new_scenario

HERE = Located(data=None, file="mine.yaml")
SPANISH = {
    "background": (
        "Una viajera ha vuelto a casa después de tres semanas en el extranjero. Un vecino tenía la "
        "llave y había prometido regar las plantas. La mayoría tiene buen aspecto."
    ),
    "summary": "La viajera pregunta al vecino cómo ha ido todo en el piso durante su ausencia.",
}


def told(changes: dict[str, Any]) -> list[str]:
    plain = make_new_scenario().model_dump(mode="json", exclude_unset=True, by_alias=True)
    scenario = Scenario.model_validate({**plain, **changes})
    return [str(problem) for problem in check_other_language(scenario, HERE)]


def test_spanish_that_is_called_english_is_told_once_with_what_to_write() -> None:
    (warning,) = told(SPANISH)
    assert "found 2 texts in what looks like the language es (summary, background)" in warning
    assert "expected texts in en; write 'languages: [es]'" in warning


@pytest.mark.parametrize("languages", [["es"], ["en", "es"], ["es-MX", "en-GB"], ["xx"]])
def test_a_language_that_is_named_is_no_mistake(languages: list[str]) -> None:
    assert not any("(summary" in line for line in told({**SPANISH, "languages": languages}))


def test_a_foreign_word_and_a_short_line_are_no_mistake() -> None:
    summary = "She asks whether the paella and the gazpacho at El Rincón were any good at all."
    assert told({"summary": summary, "title": "Hasta la vista"}) == []


def test_another_script_is_left_to_the_error_that_tells_it() -> None:
    assert told({"summary": "旅行者回来以后问邻居这三个星期家里的植物怎么样了。"}) == []


def test_validation_of_a_folder_warns_and_goes_on(tmp_path: Path) -> None:
    text = new_scenario("mi_caso", load_scheme("hipo"))
    summary = "summary: " + SPANISH["summary"]
    lines = [summary if line.startswith("summary:") else line for line in text.splitlines()]
    (tmp_path / "mi_caso.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = inspect_files([tmp_path])
    assert not found.errors
    assert [p.line for p in found.warnings if p.code == "other-language"] == [
        lines.index(summary) + 1
    ]


@pytest.mark.slow
def test_nothing_that_ships_is_taken_for_another_language() -> None:
    roots = (LIBRARY, FAMILIES, LIBRARY_PLUS)
    read = [read_scenario(path, root) for root in roots for path in scenario_files(root)]
    assert len(read) > 50
    assert [str(p) for scenario, where in read for p in check_other_language(scenario, where)] == []
