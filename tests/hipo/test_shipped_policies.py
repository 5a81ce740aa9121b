"""Policies that ship fit every scheme that ships; own ones must not speak of what nothing raises."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipo.app.verification.verify import check_settings
from pipeline.recipes.recipe import Recipe
from quality.verification.policy import policy_names
from scenarios.errors import UsageError
from scenarios.schemes.registry import load_scheme

SCHEMES = ("hipo", "face_acts", "cei", "cobra", "payoff_reasoning")


def recipe(policy: str) -> Recipe:
    return Recipe.model_validate({"verification": {"policy": policy}})


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("policy", policy_names())
def test_a_policy_that_ships_is_taken_with_every_scheme(scheme: str, policy: str) -> None:
    taken, _, _ = check_settings(recipe(policy), load_scheme(scheme), [])
    assert taken.name == policy


def test_an_own_policy_that_speaks_of_what_nothing_raises_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("name: own\nrules: [{flags: [goal_self], then: discard}]\n")
    check_settings(recipe(str(file)), load_scheme("hipo"), [])
    with pytest.raises(UsageError, match="a flag that nothing raises"):
        check_settings(recipe(str(file)), load_scheme("face_acts"), [])
