"""Codes of languages: one spelling, whatever capitals they came with."""

from __future__ import annotations

import pytest

from pipeline.recipes.recipe import Recipe
from scenarios.errors import UsageError
from scenarios.language_code import check_code, spelled_code


@pytest.mark.parametrize(
    ("written", "spelled"),
    [
        ("EN", "en"),
        ("en_gb", "en-GB"),
        ("ZH-hant-tw", "zh-Hant-TW"),
        ("es-419", "es-419"),
        ("DE-ch-1996-X-LU-Bern", "de-CH-1996-x-lu-bern"),
        ("German", "German"),
        ("", ""),
    ],
)
def test_a_code_is_spelled_in_one_way_and_what_is_none_is_left_alone(
    written: str, spelled: str
) -> None:
    assert spelled_code(written) == spelled == spelled_code(spelled)


def test_a_recipe_has_a_language_once_however_it_is_spelled() -> None:
    assert Recipe.model_validate({"languages": ["EN", "en", "en_gb"]}).languages == ("en", "en-GB")
    assert Recipe.model_validate({"languages": "EN"}).languages == ("en",)


def test_a_name_is_no_code() -> None:
    check_code("zh_hant")
    with pytest.raises(UsageError, match="'German' is no code of a language"):
        check_code("German")
