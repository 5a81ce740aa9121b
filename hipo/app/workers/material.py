"""What a worker builds its players of: all that was found and read, as plain data, and back.

Nothing has to be there on the worker's machine but hipo itself, the plugins, and the files of
models that run in its process. What is not the same there is refused before anything is played.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hipo.app.models.resolution import ModelUse
from hipo.app.preparation.prepared import Prepared, actor_prompts, fitted_design, used_plugins
from pipeline.planning.plan import Plan
from pipeline.providers.prices import Price
from pipeline.recipes.recipe import Recipe
from pipeline.run_identity import DIALOGUE_VERSION
from pipeline.run_material import RunMaterial
from pipeline.store.materials import MaterialItem
from scenarios.errors import UsageError
from scenarios.located import Located
from scenarios.plugins import load_plugins
from scenarios.run_configuration import RunConfiguration, RunIdentity

SAME_HIPO = "install one version of hipo, and the same plugins, wherever workers run"


def material_of(prepared: Prepared) -> dict[str, Any]:
    """Return what workers need of what was prepared."""
    recipe, plan = prepared.recipe, prepared.plan
    plugins = [str(path.resolve()) for path in recipe.plugins]
    return {
        "dialogue_version": DIALOGUE_VERSION,
        "plugins": plugins,
        "recipe": {**recipe.model_dump(mode="json"), "plugins": plugins},
        "identity": prepared.config.fields(),
        "material": [asdict(item) for item in prepared.material],
        "goals": plan.goals,
        "facts": None if plan.facts is None else sorted(plan.facts),
        "uses": [
            [arm, role, use.api_key_env, None if use.price is None else asdict(use.price)]
            for (arm, role), use in prepared.uses.items()
        ],
        "tactics": None if prepared.design is None else prepared.design.fingerprint,
    }


def prepared_from(material: Mapping[str, Any]) -> Prepared:
    """Return what :func:`material_of` was made from, put together again in this process.

    Raises:
        UsageError: a plugin is missing or another one here, or hipo is.
    """
    if material["dialogue_version"] != DIALOGUE_VERSION:
        raise UsageError("a worker's hipo would make other dialogues than this one", SAME_HIPO)
    load_plugins(material["plugins"])
    recipe = Recipe.model_validate(material["recipe"])
    identity = RunIdentity.from_fields(material["identity"])
    items = [MaterialItem(**item) for item in material["material"]]
    stored = RunMaterial(
        Path("the driver"),
        (RunConfiguration(material["recipe"], identity),),
        {(item.kind, item.name, item.hash): item.content for item in items},
    )
    scheme, scenarios, axes = stored.scheme, stored.scenarios, stored.axes
    prompts = actor_prompts(recipe, stored.templates, scheme, scenarios.values())
    plan = Plan(
        scheme=scheme,
        scenarios=list(scenarios.values()),
        turns=recipe.turns,
        languages=recipe.languages,
        goals=material["goals"],
        facts=None if material["facts"] is None else {(s, f) for s, f in material["facts"]},
        axes=axes,
        openings=recipe.openings,
        repetitions=recipe.repetitions,
        n=recipe.n,
        seed=recipe.seed,
    )
    tactics = stored.tactics
    uses = {
        (arm, role): ModelUse(
            identity.arms[arm].models[role], key_env, None if price is None else Price(**price)
        )
        for arm, role, key_env, price in material["uses"]
    }
    prepared = Prepared(
        recipe=recipe,
        scheme=scheme,
        scenarios=scenarios,
        axes=axes,
        prompts=prompts,
        plan=plan,
        design=fitted_design(
            recipe,
            None if tactics is None else Located(tactics, "the tactics of the run", {(): 1}),
            scheme,
            plan,
        ),
        arms=tuple(identity.arms.values()),
        uses=uses,
        config=identity,
        material=tuple(items),
    )
    _check_same(prepared, material)
    return prepared


def _check_same(prepared: Prepared, material: Mapping[str, Any]) -> None:
    """Refuse what would make other dialogues here than where the run was prepared.

    Raises:
        UsageError: says what differs.
    """
    identity = prepared.config
    scenarios = prepared.scenarios.values()
    plugins = used_plugins(prepared.recipe, prepared.uses.values(), scenarios)
    for name, wanted in identity.plugins.items():
        if plugins.get(name) != wanted:
            found = plugins.get(name, {}).get("origin", "nothing")
            raise UsageError(
                f"a worker has another plugin for {name} than {wanted['origin']}: {found}",
                SAME_HIPO,
            )
    design = None if prepared.design is None else prepared.design.fingerprint
    same = {
        "prompts": prepared.prompts.fingerprint == identity.templates,
        "tactics": design == material["tactics"],
        "scenarios": {s.id: s.fingerprint for s in scenarios} == dict(identity.scenarios),
    }
    for what, is_same in same.items():
        if not is_same:
            raise UsageError(f"a worker would play with other {what}", SAME_HIPO)
