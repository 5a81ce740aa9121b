"""What the dialogues of a run were made of: its recipe, scheme and scenarios, found again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from pipeline.recipe import Recipe
from pipeline.store.run_store import RunStore
from prompts.environment import Templates
from scenarios.case import Case
from scenarios.catalogue import Catalogue
from scenarios.errors import UsageError
from scenarios.plugins import offer_plugins
from scenarios.run_configuration import RunConfiguration
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme
from scenarios.spec import Scenario

OWN_SCENARIOS = "scenarios"
"""Folder inside a run with scenarios that came with imported dialogues."""


@dataclass(frozen=True, slots=True)
class Material:
    """Everything a later room needs to read a run's dialogues in their context."""

    recipe: Recipe
    scheme: Scheme
    scenarios: Mapping[str, Scenario]
    """By id, with their placeholders filled as in the dialogues."""

    def scenario_of(self, case: Case) -> Scenario:
        """Return the scenario of a case.

        Raises:
            UsageError: it cannot be found, or is no longer what the dialogue was made from.
        """
        scenario = self.scenarios.get(case.scenario)
        if scenario is None:
            raise UsageError(
                f"the run needs the scenario {case.scenario!r}, which cannot be found",
                "put it back where it was, or name its folder in HIPO_SCENARIO_PATH",
            )
        if scenario.fingerprint != case.scenario_fingerprint:
            raise UsageError(
                f"scenario {case.scenario!r} has changed since dialogues were made from it",
                "put back the version that was used, or generate the dialogues anew",
            )
        return scenario

    def templates(self) -> Templates:
        """Return the prompt templates, the user's own in place of shipped ones."""
        return Templates(self.recipe.prompt_dir)


def load_material(store: RunStore) -> Material:
    """Find what the dialogues of a run were made of.

    Raises:
        UsageError: a file is missing, or the scheme has changed since.
        InputError: a file cannot be read.
    """
    config = store.config.config
    recipe = _recipe(config, store.folder)
    scheme = load_scheme(recipe.scheme)
    identity = config.identity
    if identity is not None and identity.scheme_fingerprint != scheme.fingerprint:
        raise UsageError(
            f"the scheme {scheme.id!r} has changed since the dialogues of {store.folder} were made",
            "put back the version that was used, or generate the dialogues anew",
        )
    own = store.folder / OWN_SCENARIOS
    folders = [*recipe.scenario_dirs, *([own] if own.is_dir() else [])]
    catalogue = Catalogue.load(folders, real_names=recipe.real_names)
    return Material(recipe, scheme, catalogue.scenarios)


def _recipe(config: RunConfiguration, folder: Path) -> Recipe:
    try:
        recipe = Recipe.model_validate(config.recipe)
    except ValidationError as error:
        raise UsageError(
            f"the recipe of {folder} cannot be read: {error.errors()[0]['msg']}",
            "it was written by another version of hipo",
        ) from None
    offer_plugins(recipe.plugins)
    return recipe
