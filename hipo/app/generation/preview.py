"""Play a few cases of a recipe for a look, and keep nothing."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path

from hipo.app.models.endpoints import local_run
from hipo.app.preparation.players import connected
from hipo.app.preparation.prepared import Prepared, prepare
from hipo.app.running.ledgers import run_ledger
from hipo.app.running.waiting import waited_for
from hipo.app.running.watching import Silent, Watcher, spent, watched
from hipo.app.runs.resumption import opened
from pipeline.playing.runner import Progress, RunOutcome
from pipeline.recipes.recipe import Recipe
from pipeline.recipes.source import load_recipe
from pipeline.stopping.stop import INTERRUPTED, MustStop, Stop
from pipeline.store.calls import CallRecord
from pipeline.store.queries.charges import Charges
from scenarios.arms import Arm
from scenarios.case import Case
from scenarios.dialogue import Dialogue
from scenarios.errors import RunError
from scenarios.spec import Scenario


@dataclass(frozen=True, slots=True)
class Previewed:
    """One case that was played for a look: its dialogue, or why there is none."""

    case: Case
    scenario: Scenario
    arm: Arm
    dialogue: Dialogue | None
    error: str | None
    calls: tuple[CallRecord, ...]
    """What its models were asked and what they answered, in that order."""


@dataclass(frozen=True, slots=True)
class Preview:
    """Cases that were played for a look, and what that took."""

    played: tuple[Previewed, ...]
    charges: Charges
    outcome: RunOutcome
    """Why it ended early, if it did."""


def preview(
    recipe: Recipe | str | Path, n: int = 1, *, watcher: Watcher | None = None
) -> list[Previewed]:
    """Play ``n`` cases of a recipe, its strategies in turn; nothing is kept.

    The models are really asked, and what that costs is real too.

    Example::

        for played in preview("demo", 3):
            print(played.case.goal, played.dialogue or played.error)

    Args:
        recipe: a recipe, its file, or the name of a shipped one.
        n: how many cases to play.
        watcher: is told of every case that was played.

    Raises:
        UsageError: something in the recipe does not exist or does not fit together.
    """
    loaded = recipe if isinstance(recipe, Recipe) else load_recipe(recipe)
    prepared = prepare_preview(loaded, n)
    return list(waited_for(preview_prepared(prepared, watcher or Silent())).played)


def prepare_preview(recipe: Recipe, n: int) -> Prepared:
    """Return what is played for a look at ``n`` cases of a recipe.

    Raises:
        UsageError: something in the recipe does not exist or does not fit together.
    """
    return prepare(recipe.with_changes({"n": n, "shard": None}))


async def preview_prepared(
    prepared: Prepared, watching: Watcher, cut_off: Callable[[Charges], None] = lambda _: None
) -> Preview:
    """Play the cases of a small plan against a store that is removed afterwards.

    ``cut_off`` is told what was spent where nothing is returned, as after Ctrl-C.
    """
    outcome = RunOutcome()
    with tempfile.TemporaryDirectory(prefix="hipo-preview-") as folder:
        async with connected(prepared) as connections:
            with opened(Path(folder) / "preview", prepared) as store:
                recipe = prepared.recipe
                # who wants a look does not wait for a server to come back
                limits = recipe.limits.model_copy(update={"wait_for_endpoint": 0.0})
                ledger = run_ledger(recipe, store, prepared.spent_elsewhere)
                link = local_run(limits, store.calls, ledger, Stop())
                players = connections.players(link, lambda _: None)

                async def play(case: Case, arm: Arm) -> Previewed:
                    dialogue, problem = None, None
                    try:
                        dialogue = await players[arm.id].play(case, 0)
                    except RunError as error:
                        problem = str(error)
                        if isinstance(error, MustStop):
                            outcome.stopped, outcome.stop_code = error.message, error.code
                            outcome.advice = error.advice
                    watching.see(Progress("failed" if dialogue is None else "done"))
                    calls = tuple(store.calls.of_case(case.id))
                    return Previewed(
                        case, prepared.scenarios[case.scenario], arm, dialogue, problem, calls
                    )

                pairs = list(zip(prepared.plan, cycle(prepared.arms)))
                spending = partial(spent, ledger, link, priced=not prepared.unpriced)
                with watched(watching, len(pairs), spending):
                    try:
                        played = await asyncio.gather(*(play(case, arm) for case, arm in pairs))
                    except BaseException:
                        # written after all that is queued of the calls, which the state then counts
                        store.set_state(f"stopped:{INTERRUPTED}")
                        cut_off(store.state())
                        raise
                return Preview(tuple(played), store.state(), outcome)
