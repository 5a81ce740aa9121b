"""How candidates of a vote are sampled, and what runs that were begun otherwise go on with."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipo.app.preparation.prepared import prepare
from pipeline.recipes.recipe import Recipe
from pipeline.run_material import RunMaterial
from scenarios.run_configuration import RunConfiguration

WRITTEN = {
    "strategies": ["direct", "consistency"],
    "models": {"default": "offline/rules"},
    "scenarios": ["used_car"],
    "openings": "by-goal",
    "n": 2,
}


def sampled(recipe, stored=None):
    """Return the top-p of the responder by strategy."""
    arms = prepare(Recipe.model_validate(recipe), stored).arms
    return {arm.strategy: arm.models["responder"].parameters.top_p for arm in arms}


def begun_with(recipe):
    """Return the material of a run that was begun with a recipe, and stored nothing else."""
    return RunMaterial(Path("run"), (RunConfiguration(recipe=recipe),), {})


def test_candidates_have_all_words_to_choose_from_and_other_answers_the_papers_share():
    assert sampled(WRITTEN) == {"direct": 0.6, "consistency": 1.0}
    narrow = {**WRITTEN, "consistency": {"top_p": 0.9}}
    assert sampled(narrow) == {"direct": 0.6, "consistency": 0.9}
    asked = {**WRITTEN, "models": {"default": {"model": "offline/rules", "top_p": 0.8}}}
    assert sampled(asked) == {"direct": 0.8, "consistency": 1.0}
    assert sampled({**asked, "consistency": {"top_p": None}})["consistency"] == 0.8


@pytest.mark.parametrize("before", [{"k": 4, "temperature": 0.6}, {"k": 4, "top_p": None}])
def test_a_run_that_was_begun_without_such_a_setting_goes_on_as_it_was(before):
    stored = begun_with({**WRITTEN, "consistency": before})
    assert sampled(WRITTEN, stored)["consistency"] == 0.6
    assert sampled({**WRITTEN, "consistency": {"top_p": 1.0}}, stored)["consistency"] == 1.0


def test_a_run_that_was_begun_with_it_keeps_it():
    stored = begun_with({**WRITTEN, "consistency": {"k": 4, "top_p": 1.0}})
    assert sampled(WRITTEN, stored)["consistency"] == 1.0
    assert sampled(WRITTEN, begun_with({"strategies": ["direct"]}))["consistency"] == 1.0


def test_who_votes_is_part_of_the_arm_where_it_is_not_the_papers_way():
    def arm(**consistency):
        recipe = {**WRITTEN, "strategies": ["consistency"], "consistency": consistency}
        (made,) = prepare(Recipe.model_validate(recipe)).arms
        return made

    assert "vote" not in arm().settings
    assert arm(vote="text").id == arm().id
    by_labels = arm(vote="modal-labels")
    assert by_labels.settings["vote"] == "modal-labels"
    assert by_labels.id != arm().id
