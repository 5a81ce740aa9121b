"""Begin a run or go on with one: what may be continued, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from hipo.app.preparation import Prepared
from hipo.app.run_folders import check_output
from pipeline.budget import Ledger
from pipeline.recipe import Recipe
from pipeline.run_identity import differences, joined
from pipeline.store.run_store import RunStore
from scenarios.errors import UsageError
from scenarios.log import logger
from scenarios.run_configuration import RunConfiguration

Resume = Literal["never", "if-possible", "always"]
_log = logger("run")


def check_resumable(folder: Path, prepared: Prepared, resume: Resume) -> None:
    """Do nothing where ``prepared`` may be generated into ``folder``; nothing is written.

    Raises:
        UsageError: something else is there, or a run that ``resume`` does not let us continue.
    """
    check_output(folder)
    if not RunStore.exists(folder):
        return
    if resume == "never":
        raise UsageError(
            f"{folder} holds a run already",
            "choose another folder with -o, or continue it with --resume if-possible",
        )
    if resume == "always":
        return
    with RunStore.open(folder, readonly=True) as store:
        before = [e.config.identity for e in store.configs() if e.config.identity is not None]
    changes = differences(joined(before), prepared.config) if before else []
    if changes:
        listed = "\n".join(f"  {change}" for change in changes)
        raise UsageError(
            f"{folder} holds a run of another configuration:\n{listed}",
            "choose another folder with -o, undo the change, or go on regardless with "
            "--resume always (the change is recorded)",
        )


def opened(folder: Path, prepared: Prepared) -> RunStore:
    """Begin the run in ``folder`` or open the one that is there, ready for writing.

    Whether it may be continued has been checked, see :func:`check_resumable`.

    Raises:
        UsageError: the folder cannot be written to, or another process writes to the run.
    """
    config = RunConfiguration(
        prepared.recipe.model_dump(mode="json"),
        prepared.config,
        len(prepared.plan),
        prepared.unmet,
    )
    if RunStore.exists(folder):
        store = RunStore.open(folder)
        _log.info("going on with the run in %s", folder)
    else:
        store = RunStore.create(folder, config, name=folder.resolve().name)
        _log.info("began a run in %s", folder)
    try:
        store.record_config(config)
        for arm in prepared.arms:
            store.add_arm(arm.id, arm.fields())
        store.set_state("running")
    except BaseException:
        store.close()
        raise
    return store


def ledger_of(recipe: Recipe, store: RunStore) -> Ledger:
    """Return the budget of a run, with what it has spent in all its life so far."""
    usd, tokens = store.spent()
    return Ledger(
        budget_usd=recipe.budget_usd,
        budget_tokens=recipe.budget_tokens,
        spent_usd=usd,
        spent_tokens=tokens,
        log=store.calls,
    )
