"""Options of a recipe that were given although nothing of the recipe uses them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from hipo.app.models.batch_apis import check_batch_apis
from pipeline.providers.registry import PROVIDERS
from pipeline.recipes.recipe import Recipe
from pipeline.strategies.registry import STRATEGIES
from scenarios.errors import UsageError

if TYPE_CHECKING:
    from hipo.app.models.resolution import ModelUse
    from scenarios.spec import Scenario

OF_PLAIN_SCENARIOS = ("turns", "openings")
"""Fields that say nothing of a scenario with a flow."""


def check_used(recipe: Recipe, given: Mapping[str, Any], options: Mapping[str, str]) -> None:
    """Do nothing where every option changes what at least one strategy of the recipe does.

    What a recipe says by itself may be of no use: it serves several commands.

    Args:
        recipe: with the options laid over it.
        given: their values by dotted field; None where an option was not given.
        options: the name of the option of a field.

    Raises:
        UsageError: one is of no use.
    """
    chosen = {field: value for field, value in given.items() if value is not None}
    strategies = ", ".join(recipe.strategies)
    for field in chosen:
        owner = field.partition(".")[0]
        if owner in STRATEGIES.shipped and owner not in recipe.strategies:
            raise UsageError(
                f"{options[field]} is of no use without the strategy {owner}, found {strategies}",
                f"leave {options[field]} out, or add --strategy {owner}",
            )
    if "unreviewed" in chosen and not recipe.wordings:
        raise UsageError(
            "--unreviewed and --reviewed say which wordings are taken, and none are named",
            "leave it out, or name them with --wordings",
        )
    if "repetitions" in chosen and recipe.n is not None:
        raise UsageError(
            f"--repetitions changes nothing beside -n ({recipe.n:,}), which says how many cases are"
            " played in all: beyond those that differ, it repeats them",
            "leave --repetitions out, or -n (in a recipe n)",
        )
    models = {field: value for field, value in chosen.items() if field.startswith("models.")}
    if models:
        _check_models(recipe, models, options)


def _check_models(recipe: Recipe, chosen: Mapping[str, Any], options: Mapping[str, str]) -> None:
    """Raise where what is said of models concerns no role that a strategy asks."""
    roles = _asked_roles(recipe)
    strategies = ", ".join(recipe.strategies)
    for field, value in chosen.items():
        _, role, name = field.split(".")
        if role != "default":
            if role not in roles:
                raise UsageError(
                    f"{options[field]} names a model that is not asked: no {role} has a part in the"
                    f" strategy {strategies}",
                    f"leave {options[field]} out, or choose another --strategy",
                )
        elif all(getattr(recipe.models.role(asked), name) != value for asked in roles):
            raise UsageError(
                f"{options[field]} is of no use: every role ({', '.join(sorted(roles))})"
                " has a model of its own, which goes before it",
                f"leave {options[field]} out, or say it of a role in a recipe",
            )


def _asked_roles(recipe: Recipe) -> set[str]:
    """Return the roles whose models the strategies of a recipe ask."""
    return {
        role
        for name in recipe.strategies
        for role in STRATEGIES.get(name).roles(recipe.strategy_settings(name))
    }


def check_used_in_plan(
    given: Mapping[str, Any],
    options: Mapping[str, str],
    scenarios: Iterable[Scenario],
    uses: Iterable[ModelUse] = (),
) -> None:
    """Do nothing where options change something of a plan, now that its parts are known.

    Args:
        given: their values by dotted field; None or nothing where an option was not given.
        options: the name of the option of a field.
        scenarios: those that are played.
        uses: the models that are asked, judges too.

    Raises:
        UsageError: one changes nothing.
    """
    named = [options[field] for field in OF_PLAIN_SCENARIOS if given.get(field)]
    if named and all(scenario.flow for scenario in scenarios):
        raise UsageError(
            f"{' and '.join(named)} {'change' if len(named) > 1 else 'changes'} nothing: every"
            " scenario that is played has a flow, which says how it begins and how long it is",
            "leave it out, or play a scenario without a flow",
        )
    if given.get("limits.batch"):
        check_some_batch(uses)


def check_some_batch(uses: Iterable[ModelUse]) -> None:
    """Do nothing where a model is asked that does not run in this process, and all such take batches.

    Raises:
        UsageError: all models run in this process, so ``--batch`` changes nothing; or one has no
            batch API, or is asked with two keys.
    """
    uses = tuple(uses)
    asked = {use.spec.name: PROVIDERS.get(use.spec.provider) for use in uses}
    if all(provider.is_local for provider in asked.values()):
        found = ", ".join(sorted(asked)) or "none"
        raise UsageError(
            f"--batch changes nothing: models in this process answer at once, and no other is asked"
            f" (asked: {found})",
            "leave --batch out, or name a model of a provider that takes batches",
        )
    check_batch_apis(uses)
