"""Generate the dialogues of a recipe into a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hipo.app.models.batching import batching
from hipo.app.models.endpoints import local_run
from hipo.app.options.values import Resume
from hipo.app.preparation.executors import playing_executor
from hipo.app.preparation.players import Connections, connected
from hipo.app.preparation.prepared import Prepared
from hipo.app.running.interrupts import interruptible, left_when_stopped
from hipo.app.running.ledgers import run_ledger
from hipo.app.running.unstored import tell_unstored
from hipo.app.running.waiting import waited_for
from hipo.app.running.watching import Silent, Watcher, spent, watched
from hipo.app.runs.folders import RUNS
from hipo.app.runs.resumption import opened, prepare_for
from hipo.app.runs.run import GeneratedRun
from hipo.app.workers.wanted import RayWorkers
from pipeline.endpoints.run_link import LocalRun
from pipeline.planning.progress import PlanProgress
from pipeline.playing.engine import Engine
from pipeline.playing.runner import RunOutcome
from pipeline.recipes.recipe import Recipe
from pipeline.recipes.source import load_recipe
from pipeline.spending.budget import Ledger
from pipeline.stopping.stop import CONFIGURATION, ENOUGH, INTERRUPTED, STORE, Stop
from pipeline.store.queries.status import ended
from pipeline.store.run_store import RunStore
from pipeline.store.writer import StoreFailed
from scenarios.case import Case
from scenarios.errors import UsageError
from scenarios.margins import unmet_in_words

if TYPE_CHECKING:
    from hipo.app.judging.tools import Equipped
    from hipo.app.workers.processes import WorkerConnections


def generate(
    recipe: Recipe | str | Path,
    *,
    output: str | Path | None = None,
    resume: Resume = "if-possible",
    retry_failed: bool = False,
    watcher: Watcher | None = None,
    play: Callable[[PlayContext], Awaitable[RunOutcome]] | None = None,
    workers: int | RayWorkers | None = None,
) -> GeneratedRun:
    """Generate the dialogues of a recipe into a folder; what is there already is not paid again.

    Example::

        recipe = load_recipe("hipo-paper").with_changes(
            {"n": 10, "models": {"default": "offline/rules"}}
        )
        run = generate(recipe, output="runs/trial")
        for dialogue in run.dialogues():
            print(dialogue.case.goal, [turn.text for turn in dialogue.turns])

    Args:
        recipe: a recipe, its file, or the name of a shipped one.
        output: the folder of the run; it is made, or the run in it is continued. None is
            ``./runs/<name of the recipe>``.
        resume: ``never`` refuses a folder that holds a run; ``if-possible`` continues it unless
            its configuration differs; ``always`` continues it and records the new configuration.
        retry_failed: whether cases that failed before are played again.
        watcher: is told of every dialogue as soon as it is durable.
        play: plays what is planned: None plays all of it,
            :class:`hipo.app.generation.verified.VerifiedPlay` judges as well, and can go on until
            enough dialogues are accepted.
        workers: play in so many processes of this machine, or in workers that Ray places
            (:class:`hipo.app.workers.processes.RayWorkers`); None plays in this process.

    Returns:
        The run. ``run.outcome`` says what was done, and in ``stopped`` why it ended early, if so.

    Raises:
        UsageError: the recipe or the folder is not fit; nothing was made.
        RunError: the run could not go on; what was finished is kept.
    """
    loaded = recipe if isinstance(recipe, Recipe) else load_recipe(recipe)
    folder = Path(output) if output is not None else RUNS / loaded.name
    prepared = prepare_for(folder, loaded, resume)
    return waited_for(
        generate_prepared(
            prepared,
            folder,
            retry_failed=retry_failed,
            watcher=watcher,
            play=play,
            workers=workers,
        )
    )


async def generate_prepared(
    prepared: Prepared,
    output: Path,
    *,
    retry_failed: bool = False,
    watcher: Watcher | None = None,
    signals: bool = False,
    on_ready: Callable[[Prepared], None] = lambda _: None,
    play: Callable[[PlayContext], Awaitable[RunOutcome]] | None = None,
    workers: int | RayWorkers | None = None,
) -> GeneratedRun:
    """Generate what was prepared into a folder.

    Args:
        prepared: what is to be played, by :func:`hipo.app.runs.resumption.prepare_for` of the folder.
        output: the folder of the run; it is made, or the run in it is continued.
        retry_failed: whether failed cases are played again.
        watcher: is told of every dialogue as soon as it is durable.
        signals: whether the first SIGINT, SIGTERM or SIGHUP finishes the calls in flight and stops, and
            the next one leaves at once.
        on_ready: is called when everything has been checked, right before the run begins.
        play: plays what is planned; None plays all of it, see :func:`play_plan`.
        workers: play in so many processes of this machine, or in workers that Ray places
            (:class:`hipo.app.workers.processes.RayWorkers`); None plays in this process.

    Raises:
        UsageError: the folder is not fit; nothing was made.
        RunError: the run could not go on; what was finished is kept.
    """
    watching: Watcher = watcher or Silent()
    for remark in prepared.remarks:
        watching.note(remark)
    async with _connected(prepared, workers, watching.note) as connections:
        on_ready(prepared)
        if prepared.unmet:
            watching.note(unmet_in_words(prepared.unmet))
        with opened(output, prepared) as store:
            before = store.state().calls
            stop = Stop()
            with interruptible(stop, watching.warn, enabled=signals):
                try:
                    stage = _context(connections, store, stop, watching, retry_failed=retry_failed)
                    outcome = await (play or play_plan)(stage)
                except UsageError:
                    store.set_state(f"stopped:{CONFIGURATION}")
                    raise
                finally:
                    with left_when_stopped(stop):
                        await connections.leave()
            tell_unstored(store.calls, outcome)
            try:
                _record_ending(store, outcome)
            except StoreFailed:
                if outcome.stop_code != STORE:
                    raise  # else it is what stopped the run: nothing new
            calls = store.state().calls - before
    return GeneratedRun(output, outcome, calls)


def _connected(
    prepared: Prepared, workers: int | RayWorkers | None, notice: Callable[[str], None]
) -> AbstractAsyncContextManager[Connections | WorkerConnections]:
    """Return what builds the players, in this process or in workers."""
    if workers is None:
        return connected(prepared, notice)
    from hipo.app.workers.processes import connected_workers  # noqa: PLC0415 - few runs need them

    return connected_workers(prepared, workers, notice)


@dataclass(frozen=True, slots=True)
class PlayContext:
    """A run that is open, with everything it takes to play its cases."""

    connections: Connections | WorkerConnections
    store: RunStore
    stop: Stop
    ledger: Ledger
    link: LocalRun
    """With what it has learned of endpoints: plans that are played one after the other share it."""
    watching: Watcher
    retry_failed: bool = False
    tried: int = 0
    """Size of the smaller plan whose failures this session has played or judged again already."""
    equipped: Equipped | None = None
    """Gives judges their tools; None: each play of a plan has its own."""

    def left(self, prepared: Prepared) -> tuple[Iterable[Case], PlanProgress | None]:
        """Return what of a plan may be left to play, and how far it is played, for the engine.

        To play failures again is to look at every case again, but for those just tried.
        """
        if self.retry_failed:
            return prepared.plan.beyond(self.tried), None
        progress = PlanProgress(self.store, prepared.plan, [arm.id for arm in prepared.arms])
        return progress.cases(), progress


def _context(
    connections: Connections | WorkerConnections,
    store: RunStore,
    stop: Stop,
    watching: Watcher,
    *,
    retry_failed: bool,
) -> PlayContext:
    prepared = connections.prepared
    ledger = run_ledger(prepared.recipe, store, prepared.spent_elsewhere)
    link = local_run(prepared.recipe.limits, store.calls, ledger, stop, watching.warn)
    return PlayContext(connections, store, stop, ledger, link, watching, retry_failed)


async def play_plan(stage: PlayContext) -> RunOutcome:
    """Run the engine over the plan, watched."""
    prepared, store, stop, watching = (
        stage.connections.prepared, stage.store, stage.stop, stage.watching,
    )  # fmt: skip
    ledger, link = stage.ledger, stage.link

    limits = prepared.recipe.limits
    async with batching(limits, store.calls, ledger, stop, watching) as sender:
        engine = Engine(
            store,
            stage.connections.players(link, watching.note, sender=sender),
            playing_executor(prepared, link),
            stop,
            scenarios=len(prepared.plan.scenarios),
            retry_failed=stage.retry_failed,
            on_progress=watching.see,
        )
        priced = not prepared.unpriced
        spending = partial(spent, ledger, link, priced=priced)
        with watched(watching, prepared.dialogues, spending), left_when_stopped(stop):
            await engine.run(*stage.left(prepared))
    outcome = engine.outcome
    done = outcome.done + outcome.present + sum(outcome.failed.values())
    if outcome.stop_code == INTERRUPTED and done == prepared.dialogues:
        outcome.stopped, outcome.stop_code = None, ""  # it came too late to leave anything
    return outcome


def there_before(stage: PlayContext) -> int:
    """Return how many dialogues of a run need nothing before it goes on."""
    state = stage.store.state()
    return state.generated if stage.retry_failed else state.settled


def played_in_all(
    before: int, outcomes: Iterable[RunOutcome], judging: Counter[str], stop: Stop
) -> RunOutcome:
    """Return what was done in several rounds; to have enough is not to have stopped early.

    Args:
        before: dialogues that were there.
        outcomes: of the rounds.
        judging: dialogues that could not be judged, by reason.
        stop: of the run.
    """
    whole = RunOutcome(present=before)
    for outcome in outcomes:
        whole.done += outcome.done
        whole.failed += outcome.failed
    whole.unjudged += judging
    if stop.code != ENOUGH:
        whole.stopped, whole.stop_code, whole.advice = stop.reason, stop.code, stop.advice
    return whole


def _record_ending(store: RunStore, outcome: RunOutcome) -> None:
    """Store the state that a run is left in; with nothing to stop it, nothing is left to play."""
    if outcome.stopped is not None:
        store.set_state(f"stopped:{outcome.stop_code}")
        return
    state = store.state()
    failures = bool(outcome.failed or outcome.unjudged or state.failed)
    store.set_state(ended(failures=failures), planned=state.settled)
