"""Begin a run or go on with one: what may be continued, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hipo.app.options.values import Resume, check_named
from hipo.app.preparation.prepared import Prepared, prepare
from hipo.app.preparation.remaining import begun_for_quota, remaining
from hipo.app.runs.folders import check_output
from hipo.app.runs.old_runs import bring_up_to_date
from hipo.app.runs.redrawn import redrawn_in_words
from pipeline.recipes.recipe import Recipe
from pipeline.run_identity import DIALOGUE_VERSION, differences, joined
from pipeline.run_material import load_material
from pipeline.store.run_store import RunStore
from scenarios.errors import UsageError
from scenarios.log import logger
from scenarios.run_configuration import RunConfiguration, RunIdentity

_log = logger("run")


def prepare_for(folder: Path, recipe: Recipe, resume: Resume = "if-possible") -> Prepared:
    """Prepare a recipe to be generated into ``folder``; nothing is made.

    A run that is there goes on with what is stored in it: with its templates, scheme, scenarios
    and axes, whatever is installed by now. ``always`` takes what is installed.

    Raises:
        UsageError: something in the recipe is not fit, something else is in the folder, or a run
            that ``resume`` does not let us continue.
        InputError: a file the recipe names is not valid.
    """
    check_named("resume", resume, Resume)
    check_output(folder)
    if not RunStore.exists(folder):
        return prepare(recipe)
    if resume == "never":
        raise UsageError(
            f"{folder} holds a run already",
            "choose another folder with -o, or continue it with --resume if-possible",
        )
    bring_up_to_date(folder)
    if resume == "always":
        return prepare(recipe)
    with RunStore.open(folder, readonly=True) as store:
        material = load_material(store)
    before = [c.identity for c in material.configs if c.identity is not None]
    if before and before[-1].dialogue_version != DIALOGUE_VERSION:
        raise UsageError(
            f"{folder} was made by a hipo that made other dialogues of the same configuration"
            f" (version {before[-1].dialogue_version} of them; this one makes {DIALOGUE_VERSION})",
            "it can be judged, reviewed and exported as it is; to generate, choose another folder "
            "with -o, or go on regardless with --resume always (the change is recorded)",
        )
    prepared = prepare(recipe, material)
    changes = differences(joined(before), prepared.config) if before else []
    if changes:
        listed = "\n".join(f"  {change}" for change in changes)
        after = _then(joined(before), prepared.config)
        raise UsageError(
            f"{folder} holds a run of another configuration:\n{listed}",
            "choose another folder with -o, undo the change, leave the option out (what is stored "
            f"in the run is used), or go on regardless with --resume always ({after})",
        )
    with RunStore.open(folder, readonly=True) as store:
        return replace(prepared, redrawn=redrawn_in_words(prepared, store))


def _then(before: RunIdentity, now: RunIdentity) -> str:
    """Return what becomes of the dialogues that are there if a run goes on with a change."""
    after = "the change is recorded"
    if now.arms.keys() - before.arms.keys():
        return f"{after}; other models or settings play all dialogues anew, beside those there are"
    if any(before.scenarios.get(name, mark) != mark for name, mark in now.scenarios.items()):
        after += "; cases of a changed scenario are played anew, beside those there are"
    if before.templates != now.templates and before.scheme_fingerprint == now.scheme_fingerprint:
        after += "; dialogues that are there stay as the earlier templates made them"
    return after


def opened(folder: Path, prepared: Prepared) -> RunStore:
    """Begin the run in ``folder`` or open the one that is there, ready for writing.

    Args:
        folder: where the run is, or will be.
        prepared: by :func:`prepare_for` of this folder.

    Raises:
        UsageError: the folder cannot be written to, or another process writes to the run.
    """
    config = RunConfiguration(
        prepared.recipe.model_dump(mode="json"),
        prepared.config,
        len(prepared.plan) if prepared.drawn is None else 0,
        prepared.unmet,
    )
    if RunStore.exists(folder):
        store = RunStore.open(folder)
        _log.info("going on with the run in %s", folder)
    else:
        store = RunStore.create(
            folder, config, material=prepared.material, name=folder.resolve().name
        )
        _log.info("began a run in %s", folder)
    try:
        store.record_config(config, prepared.material)
        for arm in prepared.arms:
            store.add_arm(arm.id, arm.fields())
        store.set_state("running", planned=planned_with(store, prepared))
    except BaseException:
        store.close()
        raise
    return store


def planned_with(store: RunStore, prepared: Prepared) -> int:
    """Return how many dialogues the run is to have: those there are, and what a plan lacks."""
    settled = store.state().settled
    if prepared.drawn is not None:
        begun = sum(left.dialogues for left in begun_for_quota(prepared, store).values())
        return settled + begun + prepared.drawn * len(prepared.arms)
    if not settled:
        return prepared.dialogues
    return settled + sum(left.dialogues for left in remaining(prepared, store).values())
