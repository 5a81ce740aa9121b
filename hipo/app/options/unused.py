"""Options of a recipe that were given although nothing of the recipe uses them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.recipe import Recipe
from pipeline.strategies.registry import STRATEGIES
from scenarios.errors import UsageError


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
