"""Recipes: what ships, what they refuse, what roles inherit, and how options override them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hipo.app.options.recipe import OPTION_OF, RECIPE_OPTIONS, overridden
from hipo.app.options.values import split
from pipeline.providers.prices import PriceSetting
from pipeline.recipes.model_settings import Models, ModelSettings
from pipeline.recipes.recipe import Recipe
from pipeline.recipes.source import load_recipe, recipe_names
from pipeline.strategies.registry import STRATEGIES
from scenarios.errors import InputError, UsageError


def test_the_paper_recipe_holds_the_settings_of_the_paper() -> None:
    recipe = load_recipe("hipo-paper")
    responder = recipe.models.role("responder")
    assert (responder.temperature, responder.top_p) == (0.2, 0.6)
    voting = recipe.strategy_settings("consistency").model_dump()
    assert voting == {"k": 4, "temperature": 0.6, "top_p": 1.0, "vote": "text"}
    assert recipe.turns == (1, 2, 3)
    assert recipe.goals == ("deception", "truthful non-disclosure")
    assert recipe.strategies == ("reflective",)
    assert responder.model == "compatible/deepseek-chat"
    assert responder.api_key_env == "DEEPSEEK_API_KEY"
    assert recipe.scenarios is None


def test_every_shipped_recipe_loads_and_is_named_after_its_file() -> None:
    assert recipe_names() == ["demo", "dilemmas", "hipo-paper"]
    assert [load_recipe(name).name for name in recipe_names()] == recipe_names()


def test_a_file_goes_before_a_shipped_recipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_recipe("recipes/hipo-paper.yaml").name == "hipo-paper"
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "hipo-paper.yaml").write_text("seed: 9\n")
    assert load_recipe("recipes/hipo-paper.yaml").seed == 9
    with pytest.raises(UsageError, match="there is no recipe"):
        load_recipe("elsewhere/hipo-paper.yaml")


def test_paths_count_from_the_folder_of_the_recipe(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "scheme: labels.yaml\ntactics: wanted.yaml\nprompt_dir: mine\nscenario_dirs: [more]\n"
        "prices: /abs/prices.yaml\n"
    )
    recipe = load_recipe(tmp_path / "a.yaml")
    assert recipe.scheme == str(tmp_path / "labels.yaml")
    assert recipe.tactics == str(tmp_path / "wanted.yaml")
    assert recipe.prompt_dir == tmp_path / "mine"
    assert recipe.scenario_dirs == (tmp_path / "more",)
    assert recipe.prices == Path("/abs/prices.yaml")
    (tmp_path / "b.yaml").write_text("tactics: balanced\n")
    assert load_recipe(tmp_path / "b.yaml").tactics == "balanced"


def test_a_misspelt_field_is_named_with_line_and_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("name: a\nlimits:\n  max_concurency: 3\n")
    with pytest.raises(InputError) as error:
        load_recipe(tmp_path / "a.yaml")
    (problem,) = error.value.problems
    assert problem.line == 3
    assert problem.field == "limits.max_concurency"
    assert "max_concurrency" in problem.hint


@pytest.mark.parametrize(
    ("models", "field", "instead"),
    [
        ("  responder: {extra: {max_completion_tokens: 9}}", "responder", "'max_tokens' beside"),
        ("  responder:\n    extra: {n: 3}", "responder", "consistency: {k: 3}"),
        ("  writer: {model: anthropic/c, extra: {system: be nice}}", "writer", "prompt_dir"),
        ("  responder: {extra: {service_tier: priority}}", "responder", "price"),
        (
            "  responder: {extra: {modalities: [text, audio]}}",
            "responder",
            "nothing else is priced",
        ),
        ("  writer: {model: anthropic/c, extra: {speed: fast}}", "writer", "price"),
    ],
)
def test_what_hipo_fills_in_itself_cannot_stand_in_extra(
    models: str, field: str, instead: str, tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text(f"models:\n  default: openai/gpt-4o\n{models}\n")
    with pytest.raises(InputError) as error:
        load_recipe(tmp_path / "a.yaml")
    (problem,) = error.value.problems
    assert problem.line == 2 + len(models.splitlines())
    assert problem.field.startswith(f"models.{field}.extra.")
    assert instead in problem.hint


@pytest.mark.parametrize(
    "extra",
    [
        "{api_key: hunter2hunter2}",
        "{X-API-Key: hunter2hunter2}",
        "{extra_headers: {Authorization: Bearer hunter2hunter2}}",
        "{connectors: [{kind: search, authorization: hunter2hunter2}]}",
    ],
)
def test_no_key_stands_in_extra_which_is_stored(extra: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        f"models:\n  default: {{model: offline/rules, extra: {extra}}}\n"
    )
    with pytest.raises(InputError) as error:
        load_recipe(tmp_path / "a.yaml")
    (problem,) = error.value.problems
    assert (problem.line, "by the name in 'api_key_env'" in problem.hint) == (2, True)
    assert "hunter2" not in str(error.value)


def test_judges_and_what_may_stand_in_extra_are_looked_at_by_their_provider(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "models:\n  default: {model: openai/gpt-4o, extra: {reasoning_effort: low}}\n"
        "  responder: {model: hf/m, extra: {device: cpu, seed: 1}}\n"
        "  initiator:\n    model: openai/o3\n    extra: {service_tier: flex}\n"
        "    price: {input: 1, output: 4}\n"
        "verification:\n  judges: [{model: compatible/j, extra: {max_tokens: 9}}]\n"
    )
    with pytest.raises(InputError) as error:
        load_recipe(tmp_path / "a.yaml")
    (problem,) = error.value.problems
    assert (problem.line, problem.field) == (9, "verification.judges[0].extra.max_tokens")


def test_the_recipe_of_a_stored_run_is_read_whatever_its_extra_holds() -> None:
    stored = {"models": {"default": {"model": "openai/gpt-4o", "extra": {"n": 3}}}}
    assert Recipe.model_validate(stored).models.default.extra == {"n": 3}


@pytest.mark.parametrize(("written", "meant"), [("auto", None), (None, None), ("64", 64), (7, 7)])
def test_requests_in_flight_are_a_number_or_auto(written: object, meant: int | None) -> None:
    limits = Recipe.model_validate({"limits": {"max_concurrency": written}}).limits
    assert limits.max_concurrency == meant


@pytest.mark.parametrize("written", ["many", "0", 5000])
def test_other_requests_in_flight_are_refused(written: object) -> None:
    with pytest.raises(ValidationError, match=r"auto|greater than|less than"):
        Recipe.model_validate({"limits": {"max_concurrency": written}})


def test_one_value_may_stand_for_a_list_and_all_for_no_restriction() -> None:
    recipe = Recipe.model_validate(
        {"turns": 2, "strategies": "direct", "scenarios": "all", "goals": ["deception"] * 2}
    )
    assert (recipe.turns, recipe.strategies, recipe.scenarios) == ((2,), ("direct",), None)
    assert recipe.goals == ("deception",)


@pytest.mark.parametrize(
    "data",
    [
        {"turns": [0]}, {"turns": []}, {"budget_usd": 0}, {"budget_usd": float("inf")},
        {"budget_tokens": -1}, {"consistency": {"k": 1}}, {"n": 0}, {"strategies": []},
        {"name": "../up"}, {"seed": -1}, {"reflective": {"max_revisions": 0}},
    ],
)  # fmt: skip
def test_values_without_sense_are_refused(data: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Recipe.model_validate(data)


def test_roles_inherit_the_address_and_key_only_from_the_same_provider() -> None:
    models = Models.model_validate(
        {
            "default": {
                "model": "compatible/a", "base_url": "http://h/v1", "api_key_env": "KEY",
                "temperature": 0.5, "price": {"input": 1, "output": 2}, "extra": {"x": 1},
            },
            "responder": "compatible/b",
            "initiator": "openai/gpt-4o",
        }
    )  # fmt: skip
    responder, initiator = models.role("responder"), models.role("initiator")
    assert (responder.base_url, responder.api_key_env) == ("http://h/v1", "KEY")
    assert responder.price is None, "another model has another price"
    assert (initiator.base_url, initiator.api_key_env, initiator.extra) == (None, None, None)
    assert initiator.temperature == responder.temperature == 0.5
    assert models.role("reflector").model == "compatible/b", "what reflects is what spoke"


def test_the_model_option_holds_for_every_role_it_does_not_name() -> None:
    recipe = load_recipe("hipo-paper").with_changes({"models": {"reflector": "openai/gpt-4o"}})
    changed = overridden(
        recipe, {"models.default.model": "offline/rules", "models.initiator.model": "openai/o3"}
    )
    roles = {role: changed.models.role(role) for role in ("initiator", "responder", "reflector")}
    assert [settings.model for settings in roles.values()] == [
        "openai/o3", "offline/rules", "offline/rules",
    ]  # fmt: skip
    assert roles["responder"].base_url is None, "the address was the other provider's"
    assert roles["responder"].api_key_env is None
    assert roles["responder"].top_p == 0.6


@pytest.mark.parametrize(
    ("default", "reached"),
    [
        ("offline/rules", (None, "http://h/v1", None)),
        ("openai/gpt-4o", (None, "http://h/v1", None)),
        ("compatible/b", ("http://h/v1", "http://h/v1", "http://h/v1")),
    ],
)
def test_an_address_is_for_the_models_that_need_one(
    default: str, reached: tuple[str | None, ...]
) -> None:
    given = {
        "models.default.model": default, "models.initiator.model": "compatible/a",
        "models.default.base_url": "http://h/v1", "models.default.api_key_env": "KEY",
    }  # fmt: skip
    models = overridden(Recipe(), given).models
    roles = [models.default, models.role("initiator"), models.role("responder")]
    assert tuple(settings.base_url for settings in roles) == reached
    assert [settings.api_key_env for settings in roles] == [url and "KEY" for url in reached]


def test_an_address_that_the_recipe_has_stays_where_another_one_is_for_a_role() -> None:
    recipe = Recipe.model_validate(
        {"models": {"default": {"model": "openai/gpt-4o", "base_url": "http://own/v1"}}}
    )
    given = {"models.initiator.model": "compatible/a", "models.default.base_url": "http://h/v1"}
    models = overridden(recipe, given).models
    assert models.role("responder").base_url == "http://own/v1"
    assert models.role("initiator").base_url == "http://h/v1"
    given = {"models.default.base_url": "http://h/v1"}
    assert overridden(recipe, given).models.role("responder").base_url == "http://h/v1"


def test_a_sampling_option_goes_before_what_a_role_says() -> None:
    recipe = Recipe.model_validate({"models": {"responder": {"temperature": 0.9}}})
    assert recipe.models.role("responder").temperature == 0.9
    changed = overridden(recipe, {"models.default.temperature": 0.1})
    assert changed.models.role("responder").temperature == 0.1


def test_every_option_sets_a_field_that_a_recipe_has() -> None:
    schema = Recipe.model_json_schema()
    for flag in RECIPE_OPTIONS:
        strategy, _, setting = flag.field.partition(".")
        if strategy in STRATEGIES.shipped:
            assert setting in STRATEGIES.get(strategy).settings.model_fields
            continue
        node = schema
        for step in flag.field.split("."):
            reference = node.get("$ref") or next(
                (option["$ref"] for option in node.get("allOf", ()) if "$ref" in option), None
            )
            if reference:
                node = schema["$defs"][reference.rpartition("/")[2]]
            assert step in node["properties"], flag.field
            node = node["properties"][step]
    assert len(OPTION_OF) == len(RECIPE_OPTIONS)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "seed": st.integers(0, 2**31 - 1),
            "n": st.integers(1, 10**6),
            "turns": st.lists(st.integers(1, 9), min_size=1, max_size=4, unique=True),
            "limits": st.fixed_dictionaries({}, optional={"max_concurrency": st.integers(1, 99)}),
            "consistency": st.fixed_dictionaries({"k": st.integers(2, 9)}),
        },
    )
)
def test_changes_set_what_they_name_and_leave_the_rest(changes: dict[str, object]) -> None:
    before = Recipe.model_validate(
        {"limits": {"timeout_s": 7}, "seed": 3, "consistency": {"temperature": 1}}
    )
    after = before.with_changes(changes).model_dump()
    expected = before.model_dump()
    for key, value in changes.items():
        if isinstance(value, dict):
            expected[key].update(value)
        else:
            expected[key] = tuple(value) if isinstance(value, list) else value
    assert after == expected


@given(st.lists(st.text(alphabet="ab ,", max_size=6), max_size=4))
def test_splitting_leaves_no_comma_and_no_empty_part(values: list[str]) -> None:
    parts = split(values)
    assert all(part and part == part.strip() and "," not in part for part in parts)
    kept = [c for value in values for c in value if c not in ", "]
    assert [c for part in parts for c in part if c != " "] == kept


def test_settings_laid_over_nothing_are_themselves() -> None:
    settings = ModelSettings(model="openai/a", temperature=0.3)
    assert settings.over(ModelSettings()) == settings


def test_a_change_of_a_field_that_does_not_exist_is_a_mistake_of_the_user() -> None:
    with pytest.raises(UsageError, match=r"strategie: a recipe has no such field.*strategies"):
        load_recipe("hipo-paper").with_changes({"strategie": ["direct"]})
    with pytest.raises(UsageError, match="n: found 0, expected greater than or equal to 1"):
        load_recipe("hipo-paper").with_changes({"n": 0})
    with pytest.raises(UsageError, match=r"expected a number from 1 to 4096, or auto$"):
        load_recipe("hipo-paper").with_changes({"limits": {"max_concurrency": "many"}})


def test_an_address_and_a_price_without_a_model_are_for_the_one_that_an_option_names() -> None:
    own = {"base_url": "http://127.0.0.1:8000/v1", "api_key_env": "GATEWAY_KEY"}
    price = {"input": 1, "output": 2}
    recipe = Recipe.model_validate({"models": {"default": {**own, "price": price}}})

    def named(model: str, role: str) -> ModelSettings:
        return overridden(recipe, {"models.default.model": model}).models.role(role)

    for role in ("initiator", "responder", "reflector"):
        one = named("openai/m", role)
        assert (one.base_url, one.api_key_env) == tuple(own.values()), "not at the provider's own"
        assert one.price == PriceSetting.model_validate(price)
        here = named("offline/rules", role)
        assert (here.base_url, here.api_key_env, here.price) == (None, None, None)
