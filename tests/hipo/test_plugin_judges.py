"""Judges of plugins: named in the recipe or with --judge, with a model or without."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipo.app.judging.judges import Juror, choose_panels
from hipo.app.options.verification import VerificationOverrides
from hipo.app.preparation.prepared import prepare
from pipeline.recipes.recipe import Recipe
from pipeline.store.queries.status import ArmState
from prompts.environment import Templates
from prompts.judges import JudgePrompts
from scenarios.arms import Arm, ModelSpec, Parameters
from scenarios.errors import UsageError
from scenarios.plugins import PLUGINS, load_plugins
from scenarios.schemes.registry import load_scheme

PLUGIN = """
from quality.judges.blind_judge import BlindJudge
from quality.judges.protocol import JudgeExtension


class Counting:
    def __init__(self, scheme, prompts, asker, seat):
        self.seat = seat

    async def judge(self, dialogue, scenario, epoch):
        return []


EXTENSIONS = [
    JudgeExtension("counting", Counting, needs_model=False),
    JudgeExtension("strict", BlindJudge),
]
"""


@pytest.fixture(autouse=True)
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(PLUGINS, "files", {})
    monkeypatch.setattr(PLUGINS, "packages", ())
    path = tmp_path / "judges.py"
    path.write_text(PLUGIN)
    load_plugins([path])
    return path


def jurors(*judges: str) -> tuple[Juror, ...]:
    recipe = VerificationOverrides(judges=judges).over(Recipe())
    writer = ModelSpec("openai", "gpt-4o")
    arm = Arm("direct", {"initiator": writer, "responder": writer})
    panels = choose_panels(recipe, recipe.verification, [ArmState(arm.id, arm, 1, 0)])
    return panels.by_arm[arm.id].external


def panel(*judges: str) -> list[str]:
    return [juror.name for juror in jurors(*judges)]


def test_a_judge_is_a_model_a_name_or_a_name_with_a_model():
    assert panel("openai/o4-mini", "strict=openai/o4-mini", "counting") == [
        "openai/o4-mini",
        "strict=openai/o4-mini",
        "counting",
    ]


def test_a_model_whose_name_holds_an_equals_sign_is_a_model():
    assert panel("openai/a=b") == ["openai/a=b"]


@pytest.mark.parametrize(
    ("judges", "local"),
    [
        (("openai/o4-mini", "compatible/mine"), [False, True]),
        (("openai/o4-mini", "strict=compatible/mine"), [False, True]),
        (("openai/o4-mini", "openai/gpt-4o-mini"), [True, True]),
    ],
)
def test_an_address_of_judges_is_for_those_that_have_none_of_their_own(
    judges: tuple[str, ...], local: list[bool]
) -> None:
    address = {"base_url": "http://127.0.0.1:9/v1", "api_key_env": "MINE"}
    recipe = VerificationOverrides(judges=judges, **address).over(Recipe())
    found = [(judge.base_url, judge.api_key_env) for judge in recipe.verification.judges]
    assert found == [tuple(address.values()) if here else (None, None) for here in local]


def test_the_address_of_a_judge_is_not_that_of_another_self_judge() -> None:
    overrides = VerificationOverrides(
        judges=["openai/o4-mini"], self_judge="compatible/mine", base_url="http://127.0.0.1:9/v1"
    )
    asked = overrides.over(Recipe()).verification
    assert asked.judges[0].base_url is None
    assert asked.self_judge is not None
    assert asked.self_judge.base_url == "http://127.0.0.1:9/v1"


def test_a_run_made_with_extra_that_recipes_cannot_have_any_more_is_judged_without_it():
    extra = {"n": 3, "max_completion_tokens": 16_000, "reasoning_effort": "low"}
    stored = {"models": {"default": {"model": "openai/gpt-4o", "extra": extra}}}
    recipe = VerificationOverrides(judges=["openai/o4-mini"]).over(Recipe.model_validate(stored))
    writer = ModelSpec("openai", "gpt-4o", parameters=Parameters(extra=extra))
    arm = Arm("direct", {"initiator": writer, "responder": writer})
    panels = choose_panels(recipe, recipe.verification, [ArmState(arm.id, arm, 1, 0)])
    for juror in panels.by_arm[arm.id].jurors:
        assert juror.use.spec.parameters.extra == {"reasoning_effort": "low"}


def test_what_hipo_fills_in_itself_is_refused_where_no_file_was_read():
    recipe = Recipe.model_validate(
        {"models": {"default": {"model": "openai/gpt-4o", "extra": {"max_tokens": 9}}}}
    )
    with pytest.raises(UsageError, match="'extra' cannot hold 'max_tokens'") as told:
        prepare(recipe)
    assert "write 'max_tokens' beside 'extra'" in str(told.value.hint)


@pytest.mark.parametrize("name", ["strickt=openai/o4-mini", "gpt-4o"])
def test_an_unknown_judge_is_refused(name: str):
    with pytest.raises(UsageError, match="neither provider/model nor an external judge"):
        panel(name)


def test_a_judge_of_another_capacity_is_refused_as_an_external_one():
    with pytest.raises(UsageError, match="'self' judges as self, not as an external judge"):
        panel("self=openai/o4-mini")


def test_a_judge_that_needs_a_model_must_be_given_one():
    with pytest.raises(UsageError, match="the judge 'strict' needs a model") as told:
        panel("strict")
    assert told.value.hint == "write strict=provider/model"


def test_a_judge_sits_on_a_panel_once():
    with pytest.raises(UsageError, match="counting is on the panel twice"):
        panel("counting", "counting")


def test_the_configuration_of_a_judge_names_its_plugin_and_follows_its_content(plugin: Path):
    scheme = load_scheme("hipo")
    prompts = JudgePrompts(Templates(), scheme)

    def configs() -> list[str]:
        panel = jurors("openai/o4-mini", "strict=openai/o4-mini")
        return [juror.seat(prompts).config for juror in panel]

    shipped, ours = configs()
    assert shipped != ours
    plugin.write_text(PLUGIN + "\nEDITED = True\n")
    load_plugins([plugin])
    assert configs()[0] == shipped
    assert configs()[1] != ours
