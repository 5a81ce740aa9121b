"""A new run of dialogues that are there already: all of them are in it, or there is no run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.chunks import chunks
from pipeline.recipes.recipe import Recipe
from pipeline.run_identity import DIALOGUE_VERSION
from pipeline.run_material import material_items
from pipeline.store.run_store import RunStore
from prompts.actors import ActorPrompts
from scenarios.annotations import Annotation
from scenarios.arms import IMPORTED, Arm
from scenarios.atomic_files import new_folder
from scenarios.dialogue import Dialogue
from scenarios.errors import UsageError
from scenarios.run_configuration import RunConfiguration, RunIdentity
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario

CHUNK = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContents:
    """Everything that a run of finished dialogues is made of."""

    recipe: Recipe
    scheme: Scheme
    prompts: ActorPrompts
    scenarios: Collection[Scenario]
    arm: Arm
    count: int
    """How many dialogues there are."""
    dialogues: Callable[[], Iterable[Dialogue]]
    """Called once; they need not be held in memory."""
    annotations: Sequence[Annotation] = ()
    """What was said about the dialogues, by people or programs; stored after them."""


def write_run(folder: Path, contents: RunContents) -> None:
    """Make a run; it appears in ``folder`` only when everything is in it.

    Raises:
        UsageError: something is in the folder already, or it cannot be written.
    """
    with new_folder(folder, _check_empty) as draft:
        material = material_items(
            scheme=contents.scheme, scenarios=contents.scenarios, prompts=contents.prompts
        )
        config = _config(contents)
        with RunStore.create(draft, config, material=material, name=folder.name) as store:
            store.add_arm(contents.arm.id, contents.arm.fields())
            asyncio.run(_write(store, contents))
            store.set_state("finished")


def run_name(folder: Path) -> str:
    """Return the name of a folder as far as a recipe may have it."""
    kept = "".join(c if c.isalnum() or c in "._-" else "-" for c in folder.name)
    return kept.strip("._-")[:80] or IMPORTED


def _check_empty(folder: Path) -> None:
    """Do nothing where a run may be made in ``folder``."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already", "choose a new folder")


async def _write(store: RunStore, contents: RunContents) -> None:
    """Store the dialogues, some hundreds at once, and what was said about them."""
    for chunk in chunks(contents.dialogues(), CHUNK):
        await store.add_cases([dialogue.case for dialogue in chunk])
        await asyncio.gather(*(store.finish(dialogue, 0) for dialogue in chunk))
    await store.annotate(contents.annotations)


def _config(contents: RunContents) -> RunConfiguration:
    """Return the configuration of the run."""
    recipe = contents.recipe
    identity = RunIdentity(
        dialogue_version=DIALOGUE_VERSION,
        scheme=contents.scheme.id,
        scheme_fingerprint=contents.scheme.fingerprint,
        templates=contents.prompts.fingerprint,
        tactics=IMPORTED,
        axes={},
        seed=0,
        real_names=recipe.real_names,
        arms={contents.arm.id: contents.arm},
        scenarios={},
    )
    return RunConfiguration(recipe.model_dump(mode="json"), identity, contents.count)
