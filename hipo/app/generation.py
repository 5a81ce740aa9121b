"""What the command line does, for Python: generate a run, look at it, iterate over its dialogues.

Example::

    from pathlib import Path
    from hipo.app.generation import generate, load_recipe

    recipe = load_recipe("hipo-paper").with_changes({"n": 10, "models": {"default": "offline/rules"}})
    run = generate(recipe, output=Path("runs/trial"))
    for dialogue in run.dialogues():
        print(dialogue.case.goal, [turn.text for turn in dialogue.turns])
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Literal

from hipo.app.estimates import Estimate
from hipo.app.estimates import estimate as _estimate
from hipo.app.interrupts import interruptible, left_when_stopped
from hipo.app.players import Connections, connected
from hipo.app.preparation import Prepared, prepare
from hipo.app.resumption import Resume, check_resumable, ledger_of, opened
from hipo.app.run_folders import check_output
from hipo.app.watching import Silent, Spending, Watcher
from pipeline.arms import Arm
from pipeline.engine import Engine
from pipeline.executors.local import LocalExecutor, width_for
from pipeline.recipe import Recipe
from pipeline.recipe_source import load_recipe
from pipeline.runner import RunOutcome
from pipeline.stop import CONFIGURATION, Stop
from pipeline.store.calls import CallRecord
from pipeline.store.queries.dialogues import Ending
from pipeline.store.queries.status import RunState
from pipeline.store.run_store import RunStore
from scenarios.case import Case
from scenarios.dialogue import Dialogue
from scenarios.errors import RunError, UsageError

__all__ = ["Run", "estimate", "generate", "generate_async", "load_recipe", "open_run", "preview"]


@dataclass(frozen=True, slots=True)
class Run:
    """A run on disk, and what generating it has just done."""

    folder: Path
    outcome: RunOutcome | None = None
    """What :func:`generate` did; None for a run that was only opened."""
    calls: int = 0
    """Requests that :func:`generate` sent."""

    def state(self) -> RunState:
        """Return where the run stands."""
        with RunStore.open(self.folder, readonly=True) as store:
            return store.state()

    def dialogues(self, *, arm: str | None = None, traces: bool = True) -> Iterator[Dialogue]:
        """Yield the generated dialogues in the order of their cases, in constant memory.

        Args:
            arm: the id of one arm; None is all.
            traces: whether turns come with the candidates or attempts they were chosen from.
        """
        with RunStore.open(self.folder, readonly=True) as store:
            yield from store.reader.dialogues(arm=arm, traces=traces)

    def endings(self, *, status: Literal["generated", "failed"] | None = None) -> Iterator[Ending]:
        """Yield how every case that was played ended, failures and their reasons included."""
        with RunStore.open(self.folder, readonly=True) as store:
            yield from store.reader.endings(status=status)

    def dialogue(self, dialogue_id: str) -> Dialogue:
        """Return one dialogue by its id ``case/arm``, or by unambiguous beginnings of both.

        Raises:
            UsageError: none or several dialogues have this id, or the case failed.
        """
        with RunStore.open(self.folder, readonly=True) as store:
            return store.reader.dialogue(dialogue_id)


def open_run(folder: Path) -> Run:
    """Return a run that was generated before.

    Raises:
        UsageError: there is no run in the folder.
    """
    run = Run(folder)
    run.state()
    return run


def estimate(recipe: Recipe) -> Estimate:
    """Return what a recipe would take: cases, calls, tokens and cost. Nothing is sent or written.

    Raises:
        UsageError: something in the recipe does not exist or does not fit together.
    """
    return _estimate(prepare(recipe))


def generate(
    recipe: Recipe,
    *,
    output: Path,
    resume: Resume = "if-possible",
    retry_failed: bool = False,
    watcher: Watcher | None = None,
) -> Run:
    """Generate the dialogues of a recipe into a folder; what is there already is not paid again.

    Args:
        recipe: what to generate, see :func:`load_recipe`.
        output: the folder of the run; it is made, or the run in it is continued.
        resume: ``never`` refuses a folder that holds a run; ``if-possible`` continues it unless
            its configuration differs; ``always`` continues it and records the new configuration.
        retry_failed: whether cases that failed before are played again.
        watcher: is told of every dialogue as soon as it is durable.

    Returns:
        The run. ``run.outcome`` says what was done, and in ``stopped`` why it ended early, if so.

    Raises:
        UsageError: the recipe or the folder is not fit; nothing was made.
        RunError: the run could not go on; what was finished is kept.
    """
    return asyncio.run(
        generate_async(
            recipe, output=output, resume=resume, retry_failed=retry_failed, watcher=watcher
        )
    )


async def generate_async(
    recipe: Recipe,
    *,
    output: Path,
    resume: Resume = "if-possible",
    retry_failed: bool = False,
    watcher: Watcher | None = None,
    signals: bool = False,
    on_ready: Callable[[Prepared], None] = lambda _: None,
    play: Callable[[PlayContext], Awaitable[RunOutcome]] | None = None,
) -> Run:
    """Do what :func:`generate` does, inside a running event loop.

    Args:
        recipe: see :func:`generate`, as for those that follow.
        output: the folder of the run.
        resume: what to do with a run that is there.
        retry_failed: whether failed cases are played again.
        watcher: is told of every dialogue.
        signals: whether the first SIGINT or SIGTERM finishes the calls in flight and stops, and
            the next one leaves at once.
        on_ready: is called when everything has been checked, right before the run begins.
        play: plays what is planned; None plays all of it, see :func:`play_plan`.
    """
    watching: Watcher = watcher or Silent()
    check_output(output)
    prepared = prepare(recipe)
    check_resumable(output, prepared, resume)
    async with connected(prepared) as connections:
        on_ready(prepared)
        with opened(output, prepared, resume) as store:
            before = store.state().calls
            stop = Stop()
            with interruptible(stop, watching.note, enabled=signals):
                try:
                    stage = PlayContext(connections, store, stop, watching, retry_failed)
                    outcome = await (play or play_plan)(stage)
                except UsageError:
                    store.set_state(f"stopped:{CONFIGURATION}")
                    raise
            store.set_state(_ending(outcome))
            calls = store.state().calls - before
    return Run(output, outcome, calls)


@dataclass(frozen=True, slots=True)
class PlayContext:
    """A run that is open, with everything it takes to play its cases."""

    connections: Connections
    store: RunStore
    stop: Stop
    watching: Watcher
    retry_failed: bool = False


async def play_plan(stage: PlayContext) -> RunOutcome:
    """Run the engine over the plan, watched."""
    prepared, store, stop, watching = (
        stage.connections.prepared, stage.store, stage.stop, stage.watching,
    )  # fmt: skip
    recipe = prepared.recipe
    ledger = ledger_of(recipe, store)

    def spending() -> Spending:
        return Spending(ledger.spent_tokens, None if prepared.unpriced else ledger.spent_usd)

    engine = Engine(
        store,
        stage.connections.players(store.calls, ledger, stop, watching.note),
        LocalExecutor(width_for(recipe.limits.max_concurrency)),
        stop,
        retry_failed=stage.retry_failed,
        on_progress=watching.see,
    )
    watching.begin(prepared.dialogues, spending)
    try:
        with left_when_stopped(stop):
            await engine.run(prepared.plan)
    finally:
        watching.end()
    return engine.outcome


def _ending(outcome: RunOutcome) -> str:
    """Return the state a run is left in."""
    if outcome.stopped is not None:
        return f"stopped:{outcome.stop_code}"
    return "finished_with_failures" if outcome.failed else "finished"


@dataclass(frozen=True, slots=True)
class Previewed:
    """One case that was played for a look: its dialogue, or why there is none."""

    case: Case
    arm: Arm
    dialogue: Dialogue | None
    error: str | None
    calls: tuple[CallRecord, ...]
    """What its models were asked and what they answered, in that order."""


def preview(recipe: Recipe, n: int) -> list[Previewed]:
    """Play ``n`` cases of a recipe, its strategies in turn; nothing is kept.

    The models are really asked, and what that costs is real too.

    Raises:
        UsageError: something in the recipe does not exist or does not fit together.
    """
    return asyncio.run(_preview(prepare(recipe.with_changes({"n": n}))))


async def _preview(prepared: Prepared) -> list[Previewed]:
    """Play the cases of a small plan against a store that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="hipo-preview-") as folder:
        async with connected(prepared) as connections:
            with opened(Path(folder) / "preview", prepared, "never") as store:
                players = connections.players(
                    store.calls, ledger_of(prepared.recipe, store), Stop(), lambda _: None
                )

                async def play(case: Case, arm: Arm) -> Previewed:
                    dialogue, problem = None, None
                    try:
                        dialogue = await players[arm.id].play(case, 0)
                    except RunError as error:
                        problem = str(error)
                    calls = tuple(store.calls.of_case(case.id))
                    return Previewed(case, arm, dialogue, problem, calls)

                pairs = zip(prepared.plan, cycle(prepared.arms))
                return list(await asyncio.gather(*(play(case, arm) for case, arm in pairs)))
