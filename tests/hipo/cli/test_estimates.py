"""How many samples a run asks for, by strategy."""

from __future__ import annotations

from dataclasses import replace

from hipo.app.estimates import estimate_generation
from hipo.app.preparation import prepare
from pipeline.recipe import Recipe
from scenarios.arms import ModelSpec


def prepared(**changes: object):  # type: ignore[no-untyped-def]
    data = {"models": {"default": "offline/rules"}, "scenarios": ["used_car"], **changes}
    return prepare(Recipe.model_validate(data))


def test_the_cost_is_unknown_as_soon_as_one_price_is() -> None:
    priced = prepared(n=2, strategies=["reflective"])
    assert estimate_generation(priced).cost_usd == 0
    uses = dict(priced.uses)
    key = (priced.arms[0].id, "reflector")
    spec = ModelSpec("compatible", "x", base_url="http://h/v1")
    uses[key] = replace(uses[key], spec=spec, price=None)
    assert estimate_generation(replace(priced, uses=uses)).cost_usd is None
