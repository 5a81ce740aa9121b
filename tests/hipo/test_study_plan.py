"""Which strategies a study compares."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipo.app.study import plan_study
from pipeline.recipes.recipe import Recipe
from pipeline.strategies.registry import ANY_SCENARIO


@pytest.mark.parametrize(
    ("of_recipe", "wished", "played"),
    [
        ({}, None, ANY_SCENARIO),
        ({"strategies": ["reflective"]}, None, ANY_SCENARIO),
        ({"strategies": ["direct", "reflective"]}, None, ("direct", "reflective")),
        ({"strategies": ["direct", "reflective"]}, ["direct"], ("direct",)),
    ],
)
def test_a_study_compares_what_it_is_told_or_a_recipe_compares(
    tmp_path: Path, of_recipe: dict[str, object], wished: list[str] | None, played: tuple[str, ...]
) -> None:
    offline = {"n": 1, "models": {"default": "offline/rules"}}
    recipe = Recipe().with_changes({**offline, **of_recipe})
    plan = plan_study(recipe, output=tmp_path / "study", given={"strategies": wished})
    assert plan.legs[0].prepared.recipe.strategies == tuple(played)
