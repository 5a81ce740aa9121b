"""Whether what is asked in batches can be: every model that costs something needs a batch API."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pipeline.providers.registry import PROVIDERS
from scenarios.errors import UsageError

if TYPE_CHECKING:
    from hipo.app.models.resolution import ModelUse
    from pipeline.recipes.recipe import Limits


def check_batches(uses: Iterable[ModelUse], limits: Limits) -> None:
    """Do nothing if every model that costs something has a batch API, or nobody wants batches.

    Raises:
        UsageError: one has none, or is asked with two keys.
    """
    if limits.batch:
        check_batch_apis(uses)


def check_batch_apis(uses: Iterable[ModelUse]) -> None:
    """Do nothing if every model that costs something can be asked in batches.

    Raises:
        UsageError: one cannot, or is asked with two keys.
    """
    variables: dict[tuple[str, str | None, str], str | None] = {}
    for use in uses:
        entry = PROVIDERS.get(use.spec.provider)
        if not entry.is_local and not entry.batches:
            able = ", ".join(
                f"{name}/" for name in PROVIDERS.names() if PROVIDERS.get(name).batches
            )
            raise UsageError(
                f"{use.spec.name} has no batch API that hipo knows",
                f"leave --batch out, or take a model of {able}",
            )
        spec = use.spec
        variable = use.api_key_env or entry.key_env
        address = (spec.provider, spec.base_url, spec.model)
        if variables.setdefault(address, variable) != variable:
            raise UsageError(
                f"{spec.name} is asked with the keys of {variables[address]} and {variable}, and what"
                " is asked of one model travels in one batch",
                "give it one api_key_env, or leave --batch out",
            )
