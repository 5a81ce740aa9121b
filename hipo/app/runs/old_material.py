"""Migrate the run of an older hipo, and store what its dialogues are made of, as far as it is there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from pipeline.recipes.recipe import Recipe
from pipeline.run_material import material_items, named_items
from pipeline.store.locks import is_locked
from pipeline.store.materials import MaterialItem, MaterialKind
from pipeline.store.run_store import RunStore
from prompts.actors import ActorPrompts
from prompts.environment import Templates
from prompts.first_templates import first_sources
from scenarios.errors import InputError, UsageError
from scenarios.first_form import first_form
from scenarios.located import Located
from scenarios.log import logger
from scenarios.pack import LIBRARY, PATH_VARIABLE, read_scenario, roots_in, scenario_files
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme, versions_of
from scenarios.spec import Scenario
from scenarios.variation import load_axes
from scenarios.yaml_source import read_yaml

OWN_SCENARIOS = "scenarios"
"""Folder inside a run of hipo 0.1 with scenarios that came with imported dialogues."""

T = TypeVar("T")

_log = logger("runs")


def migrate_and_complete(folder: Path, *, old: bool) -> None:
    """Open a run for writing, which migrates it, and take in what it only referred to.

    Args:
        folder: of the run, which can be written.
        old: whether its tables are those of an older hipo.

    Raises:
        UsageError: the run has to be migrated, and is being written by another process, or lies on
            a network file system.
    """
    if old and is_locked(folder):
        raise UsageError(
            f"{folder} has to be brought up to date, and another process is writing it",
            "wait for that to end, or interrupt it (Ctrl-C), then the same command",
        )
    try:
        store = RunStore.open(folder)
    except UsageError:
        if old:
            raise
        return  # somebody writes it: it can be read as it is, and completed the next time
    with store:
        found, lost = _complete(store)
    if old:
        _log.info("%s was brought up to date; what it was before is beside it", folder)
    if lost and (old or found):
        _log.warning(
            "%s was made by an older hipo from files that are no longer there as they were: %s; "
            "only what needs them is refused",
            folder,
            ", ".join(lost),
        )


def _complete(store: RunStore) -> tuple[bool, list[str]]:
    """Store what is found of a run's material; return whether any is, and what is not by name."""
    missing = named_items(store.configs(), store.scenarios_used())
    missing -= {(item.kind, item.name, item.hash) for item in store.materials()}
    items: list[MaterialItem] = []
    for epoch in store.configs():
        with suppress(ValidationError):
            recipe = Recipe.model_validate(epoch.config.recipe)
            items += _Search(recipe, store.folder, missing).items()
    lost = missing - {(item.kind, item.name, item.hash) for item in items}
    store.complete_materials(items, complete=not lost)
    return bool(items), sorted(f"{kind} {name}".strip() for kind, name, _ in lost)


@dataclass(frozen=True, slots=True)
class _Search:
    """Looks for the material of a run where its recipe finds it today."""

    recipe: Recipe
    folder: Path
    missing: Set[tuple[MaterialKind, str, str]]

    def items(self) -> list[MaterialItem]:
        """Return what is missing and was found as it was, by its hash."""
        scheme = self._scheme()
        axes = _read(lambda: load_axes(self.recipe.variation))
        tactics = None
        if self.recipe.tactics not in ("free", "balanced"):
            tactics = _read(lambda: read_yaml(Path(self.recipe.tactics)).data)
        if scheme is None:
            return []
        prompts = _read(lambda: self._prompts(scheme))
        candidates = material_items(
            scheme=scheme,
            scenarios=self._scenarios(),
            axes=axes,
            tactics=tactics,
            prompts=prompts,
        )
        candidates += self._scenarios_of_first_form()
        found = [item for item in candidates if self._is_missing(item)]
        if ("templates", "", "") in self.missing:
            found += [replace(item, hash="") for item in candidates if item.kind == "templates"]
        if any(item.kind == "templates" for item in found):
            found += [item for item in candidates if item.kind == "own_templates"]
        return found

    def _scheme(self) -> Scheme | None:
        """Return the scheme of the run: of one that ships, the version it was made with."""
        for scheme in versions_of(self.recipe.scheme):
            # The first runs were made before a scheme said which labels are common.
            for known in (scheme, scheme.model_copy(update={"common_labels": {}})):
                if ("scheme", known.id, known.fingerprint) in self.missing:
                    return known
        return _read(lambda: load_scheme(self.recipe.scheme))

    def _prompts(self, scheme: Scheme) -> ActorPrompts:
        """Return the prompts of the run: today's where it was made with them, else those of 0.1."""
        today = ActorPrompts(Templates(self.recipe.prompt_dir), scheme)
        if ("templates", "", today.fingerprint) in self.missing:
            return today
        first = Templates(self.recipe.prompt_dir, stored=first_sources())
        return ActorPrompts(first, scheme)

    def _is_missing(self, item: MaterialItem) -> bool:
        return (item.kind, item.name, item.hash) in self.missing

    def _scenarios(self) -> Iterator[Scenario]:
        """Yield the scenarios of the names that are missing, with their placeholders filled."""
        for scenario, _ in self._files():
            yield scenario.named(real=self.recipe.real_names)

    def _scenarios_of_first_form(self) -> Iterator[MaterialItem]:
        """Yield those among them that are still written as hipo 0.1 wrote them."""
        for scenario, located in self._files():
            found = first_form(located.data, real_names=self.recipe.real_names)
            if found is not None:
                yield MaterialItem("scenario", scenario.id, *found)

    def _files(self) -> Iterator[tuple[Scenario, Located]]:
        """Yield the scenario files of the names that are missing."""
        names = {name for kind, name, _ in self.missing if kind == "scenario"}
        variable = os.environ.get(PATH_VARIABLE, "")
        places = (LIBRARY, *self.recipe.scenario_dirs, *roots_in(variable))
        for root in (*places, self.folder / OWN_SCENARIOS):
            for path in _read(partial(_paths, root)) or []:
                if path.stem in names:
                    read = _read(partial(read_scenario, path, root))
                    if read is not None:
                        yield read


def _paths(root: Path) -> list[Path]:
    return list(scenario_files(root))


def _read(load: Callable[[], T]) -> T | None:
    """Return what a file holds; None where it is gone or no longer valid."""
    try:
        return load()
    except (UsageError, InputError, ValidationError):
        return None
