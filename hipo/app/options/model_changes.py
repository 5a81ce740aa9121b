"""What options that name a model, its address, key and parameters change in a recipe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.providers.registry import PROVIDERS
from pipeline.recipes.model_settings import ModelSettings
from pipeline.recipes.recipe import Recipe

_SAMPLING = ("temperature", "top_p", "max_tokens")
_ADDRESS = ("base_url", "api_key_env")


def model_changes(recipe: Recipe, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes to the models: an option holds for every role that it does not name.

    Another provider takes none of the address, key and price that the recipe has for the first.
    """
    prefix = "models.default."
    default_changes = {
        field.removeprefix(prefix): value
        for field, value in given.items()
        if field.startswith(prefix) and value is not None
    }
    before = recipe.models.default
    default = (
        ModelSettings(model=default_changes["model"]).over(before)
        if "model" in default_changes
        else before
    )
    address = {name: default_changes.pop(name) for name in _ADDRESS if name in default_changes}
    changes: dict[str, Any] = {"default": {**default.model_dump(), **default_changes}}
    for role, settings in recipe.models.by_role.items():
        own = settings.model_dump()
        own |= {name: None for name in _SAMPLING if name in default_changes}
        named = given.get(f"models.{role}.model")
        if named is not None or "model" in default_changes:
            own = {name: own[name] if name in _SAMPLING else None for name in own}
            own["model"] = named
        if "structured" in default_changes:
            own["structured"] = None if own["model"] is None else default_changes["structured"]
        changes[role] = own
    for role in _addressed(changes, url="base_url" in address) if address else ():
        changes[role] |= address
    return changes


def _addressed(changes: Mapping[str, Mapping[str, Any]], *, url: bool) -> list[str]:
    """Return the roles that an address, or a key alone, is for: the default, if it takes one.

    An address is for others where they need one and the default does not.
    """
    models = {role: own["model"] for role, own in changes.items() if own["model"] is not None}
    needing = [role for role, model in models.items() if needs_url(model)]
    if "default" in needing:
        return ["default"]
    if url and (waiting := [role for role in needing if changes[role]["base_url"] is None]):
        return waiting
    remote = [role for role, model in models.items() if not is_local(model)]
    return ["default"] if "default" in remote else remote or ["default"]


def needs_url(model: str | None) -> bool:
    """Return whether a model is asked at an address that has to be named."""
    entry = PROVIDERS.find((model or "").partition("/")[0])
    return entry is not None and entry.needs_url


def is_local(model: str | None) -> bool:
    """Return whether a model runs in this process, and is asked without an address."""
    entry = PROVIDERS.find((model or "").partition("/")[0])
    return entry is not None and entry.is_local


def told_address(models: Iterable[str | None]) -> set[str | None]:
    """Return the models that an address and a key named for all of them are for.

    Those are the ones that need an address; where none does, all that do not run in this process.
    """
    named = set(models)
    needing = {model for model in named if needs_url(model)}
    return needing or {model for model in named if not is_local(model)} or named
