"""From the settings of a model to what is needed to ask it: provider, address, parameters, price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipeline.providers.own_fields import refused_in_extra
from pipeline.providers.prices import Price, PriceTable
from pipeline.providers.registry import (
    check_takes_key,
    effective_base_url,
    parse_model,
    revision_of,
)
from pipeline.recipes.model_settings import ModelSettings
from scenarios.arms import ModelSpec, Parameters
from scenarios.errors import UsageError

RULES_JUDGE = "offline/judge"
"""Reads what ``offline/rules`` writes, which cannot judge."""


@dataclass(frozen=True, slots=True)
class ModelUse:
    """A model as one arm uses it for one role."""

    spec: ModelSpec
    api_key_env: str | None
    price: Price | None


def resolve_model(
    name: str, settings: ModelSettings, prices: PriceTable, defaults: Parameters
) -> ModelUse:
    """Return the model of a name as settings say it is asked.

    Args:
        name: ``provider/model``.
        settings: address, key, price and parameters; the model in them is not looked at.
        prices: for a model whose settings have no price.
        defaults: for the parameters that settings leave open.

    Raises:
        UsageError: there is no such provider or model, the address is missing or malformed, a
            model in this process has no files or is given a key, or ``extra`` holds what hipo fills
            in itself.
    """
    model = parse_model(name)
    check_takes_key(model, settings.api_key_env)
    refused = refused_in_extra(name, settings.extra, has_price=settings.price is not None)
    for field, instead in refused.items():
        raise UsageError(f"{name}: 'extra' cannot hold '{field}'", instead)
    temperature = settings.temperature
    spec = ModelSpec(
        provider=model.provider,
        model=model.model,
        base_url=effective_base_url(model, settings.base_url),
        parameters=Parameters(
            temperature=defaults.temperature if temperature is None else temperature,
            top_p=settings.top_p,
            max_tokens=settings.max_tokens or defaults.max_tokens,
            extra=settings.extra or {},
        ),
        structured=settings.structured or "auto",
    )
    spec = replace(spec, revision=revision_of(spec))
    own = settings.price
    price = (
        prices.price(spec.provider, spec.model)
        if own is None
        else own.price().times(prices.factor(spec.provider))
    )
    return ModelUse(spec, settings.api_key_env, price)


def check_budget(
    budget_usd: float | None, unpriced: Sequence[str], *, has_recipe: bool = True
) -> None:
    """Do nothing where every model has a price, or there is no budget in dollars to keep.

    Args:
        budget_usd: the budget; None for none.
        unpriced: models without a price.
        has_recipe: whether a recipe can say what a model costs.

    Raises:
        UsageError: it cannot be kept, since a price is unknown.
    """
    if budget_usd is not None and unpriced:
        recipe = "to the recipe, " if has_recipe else ""
        raise UsageError(
            f"--budget-usd needs a price for {', '.join(unpriced)}, and none is known",
            f"add it to a price table (--prices FILE), {recipe}or use --budget-tokens",
        )
