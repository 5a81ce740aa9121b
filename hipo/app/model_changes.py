"""What options that name a model, its address, key and parameters change in a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.model_settings import ModelSettings
from pipeline.providers.registry import PROVIDERS
from pipeline.recipe import Recipe

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
        changes[role] = own
    for role in _addressed(changes) if "base_url" in address else ["default"]:
        changes[role] |= address
    return changes


def _addressed(changes: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the roles that an address is for: the default, unless it needs none and others do."""
    needing = [role for role, own in changes.items() if needs_url(own["model"])]
    if "default" in needing:
        return ["default"]
    return [role for role in needing if changes[role]["base_url"] is None] or ["default"]


def needs_url(model: str | None) -> bool:
    """Return whether a model is asked at an address that has to be named."""
    entry = PROVIDERS.find((model or "").partition("/")[0])
    return entry is not None and entry.needs_url
