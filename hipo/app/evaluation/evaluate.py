"""Evaluate models on labelled dialogues: for the command line and for Python."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from hipo.app.evaluation.carried import carried_answers
from hipo.app.evaluation.identity import check_folder, identity_of, joined_identity
from hipo.app.evaluation.plan import ReadyEvaluation, plan_evaluation
from hipo.app.evaluation.results import WrittenResults, write_results
from hipo.app.evaluation.settings import EvaluationSettings
from hipo.app.models.batching import batching
from hipo.app.models.endpoints import EndpointPool, local_run, providers_for
from hipo.app.options.values import Resume, several
from hipo.app.preparation.executors import executor_for
from hipo.app.running.interrupts import interruptible, left_when_stopped
from hipo.app.running.ledgers import evaluation_ledger
from hipo.app.running.unstored import tell_unstored
from hipo.app.running.waiting import waited_for
from hipo.app.running.watching import Silent, Watcher, spent, watched
from hipo.app.runs.run import Run
from outputs.evaluation.writing import WrittenEvaluation, write_evaluation
from outputs.export.facts import code_version
from pipeline.calls.client import Client
from pipeline.chunks import chunks
from pipeline.playing.runner import RunOutcome
from pipeline.providers.protocol import Provider
from pipeline.stopping.stop import CONFIGURATION, INTERRUPTED, Stop
from pipeline.store.answers import FailedAnswers
from pipeline.store.evaluation_store import EvaluationStore, Identity
from pipeline.store.queries.charges import Charges
from pipeline.store.queries.status import RUNNING, ended
from quality.evaluation.replies import TRUNCATED
from quality.evaluation.stage import Evaluation
from scenarios.errors import UsageError

_AT_ONCE = 500
"""Answers that are carried over together."""


@dataclass(frozen=True, slots=True)
class ModelsEvaluated:
    """What an evaluation has just done, and where its results are."""

    folder: Path
    outcome: RunOutcome
    calls: int
    """Requests that were sent."""
    charges: Charges
    """What all requests took, over the life of the evaluation."""
    results: WrittenResults
    written: WrittenEvaluation | None
    """Figures, page and pictures; None where they were not wanted, or not everything is asked."""
    counts: Mapping[str, int]
    """Answers that there are now by status: ``answered``, ``unreadable``, ``refused``, ``failed``."""
    notes: tuple[str, ...] = ()
    failures: tuple[FailedAnswers, ...] = ()
    """Why items have no answer by now, the commonest reason first."""
    cut_off: int = 0
    """Of all answers, those that were cut off before their last label."""

    @property
    def complete(self) -> bool:
        """Whether everything was asked that was to be asked."""
        return self.outcome.stopped is None


def evaluate(
    source: Run | str | Path,
    *,
    tasks: Sequence[str],
    models: Sequence[str],
    output: str | Path,
    modes: Sequence[str] = (),
    n: int | None = None,
    balance: str | None = None,
    budget_usd: float | None = None,
    settings: EvaluationSettings | None = None,
    resume: Resume = "if-possible",
    page: bool = True,
    watcher: Watcher | None = None,
) -> ModelsEvaluated:
    """Ask models for the labels of items; what was answered before is not paid again.

    Example::

        models = ["openai/gpt-4o-mini"]
        done = evaluate("sets/b", tasks=["hipo-utterance"], models=models, output="results/b")
        print(done.counts, done.results.path)

    Args:
        source: an exported benchmark or swap set, a run, or ``gold``.
        tasks: names, or files of tasks of one's own.
        models: each as ``provider/name``.
        output: the folder of the evaluation; it is made, or the evaluation in it is continued.
        modes: ``zero-shot``, ``cot``, ``icl``, ``two-phase``; none: the first of each task.
        n: items per task, drawn evenly over the classes of ``balance``; None: all.
        balance: a dimension.
        budget_usd: the evaluation stops before it costs more, over its life.
        settings: everything else; the arguments above go before it.
        resume: ``never`` refuses a folder that holds an evaluation; ``if-possible`` continues it
            unless it is of other items, prompts or parameters; ``always`` asks anew what differs.
        page: whether figures, page and pictures are made of the rows.
        watcher: is told of every answer as soon as it is durable.

    Raises:
        UsageError: set, task, model or folder is not fit; nothing was made.
        RunError: it could not go on; what was answered is kept.
    """
    named = str(source.folder if isinstance(source, Run) else source)
    base = settings or EvaluationSettings()
    together = replace(
        base,
        source=named,
        tasks=several(tasks),
        models=several(models),
        modes=several(modes) or base.modes,
        n=base.n if n is None else n,
        balance=balance or base.balance,
        budget_usd=base.budget_usd if budget_usd is None else budget_usd,
    )
    return waited_for(
        evaluate_async(together, Path(output), resume=resume, page=page, watcher=watcher)
    )


async def evaluate_async(
    settings: EvaluationSettings,
    folder: Path,
    *,
    resume: Resume = "if-possible",
    page: bool = True,
    watcher: Watcher | None = None,
    signals: bool = False,
) -> ModelsEvaluated:
    """Do what :func:`evaluate` does, inside a running event loop.

    Args:
        settings: what is asked for.
        folder: of the evaluation.
        resume: see :func:`evaluate`.
        page: whether figures, page and pictures are made of the rows.
        watcher: is told of every answer as soon as it is durable.
        signals: whether the first SIGINT, SIGTERM or SIGHUP finishes the calls in flight and stops,
            and the next one leaves at once.
    """
    watching: Watcher = watcher or Silent()
    ready = plan_evaluation(settings)
    before = check_folder(folder, ready, resume)
    identity = joined_identity(before, identity_of(ready))
    for note in ready.items.notes:
        watching.note(note)
    async with providers_for(ready.uses.values(), settings.limits) as providers:
        with EvaluationStore.begin(folder) as store:
            opened = _Open(ready, store, before, identity, providers, watching)
            done = await _evaluate(opened, signals=signals)
    if page and done.complete and done.results.rows:
        return replace(done, written=write_evaluation(folder, code_version()))
    return done


@dataclass(frozen=True, slots=True)
class _Open:
    """An evaluation that is open, with everything that it takes."""

    ready: ReadyEvaluation
    store: EvaluationStore
    before: Identity | None
    """What was asked when it was last begun."""
    identity: Identity
    providers: Mapping[str, Provider]
    watching: Watcher


async def _evaluate(opened: _Open, *, signals: bool) -> ModelsEvaluated:
    """Ask what is left, and write what is there."""
    ready, store, plan = opened.ready, opened.store, opened.ready.plan
    store.answers.add_seats(seat for seat, _, _ in plan.seats())
    # Before it is recorded what is asked now: whoever is killed in between carries over again.
    for some in chunks(carried_answers(store.answers, opened.before, ready), _AT_ONCE):
        await asyncio.gather(*(store.answers.finish(seat, answer) for seat, answer in some))
    store.record_identity(opened.identity)
    store.set_state(RUNNING, planned=plan.asked)
    before = store.charges().calls
    stop = Stop()
    with interruptible(stop, opened.watching.warn, enabled=signals):
        try:
            outcome = await _ask(opened, stop)
        except UsageError:
            store.set_state(f"stopped:{CONFIGURATION}")
            raise
    tell_unstored(store.calls, outcome)
    seats = [seat for seat, _, _ in plan.seats()]
    counts, failures = store.answers.counts(seats), tuple(store.answers.failures(seats))
    state = ended(failures=bool(counts["failed"]))
    store.set_state(state if outcome.stopped is None else f"stopped:{outcome.stop_code}")
    results = write_results(store.folder, store, ready, opened.identity)
    charges = store.charges()
    return ModelsEvaluated(
        store.folder, outcome, charges.calls - before, charges, results, None, dict(counts),
        ready.items.notes, failures, store.answers.coded(seats, TRUNCATED),
    )  # fmt: skip


async def _ask(opened: _Open, stop: Stop) -> RunOutcome:
    """Run the stage, watched."""
    ready, store, watching = opened.ready, opened.store, opened.watching
    settings, plan = ready.settings, ready.plan
    ledger = evaluation_ledger(store, settings.budget_usd, settings.budget_tokens)
    link = local_run(settings.limits, store.calls, ledger, stop, watching.warn)

    async with batching(settings.limits, store.calls, ledger, stop, watching) as sender:
        pool = EndpointPool(settings.limits, opened.providers, link, watching.note, sender=sender)
        evaluation = Evaluation(
            plan,
            store.answers,
            clients_of(ready, pool),
            stop,
            retry_failed=settings.retry_failed,
            keep_going=settings.keep_going,
            on_progress=watching.see,
        )
        priced = not ready.unpriced
        spending = partial(spent, ledger, link, priced=priced, doing="asking")
        with watched(watching, plan.asked, spending), left_when_stopped(stop):
            await evaluation.run(executor_for(settings.limits, link, len(plan.models)))
    outcome = evaluation.outcome
    done = outcome.done + outcome.present + sum(outcome.failed.values())
    if outcome.stop_code == INTERRUPTED and done == plan.asked:
        outcome.stopped, outcome.stop_code = None, ""  # it came too late to leave anything
    return outcome


def clients_of(ready: ReadyEvaluation, pool: EndpointPool) -> dict[str, Client]:
    """Return what asks each model, one role for each task and mode."""
    return {
        name: pool.client(name, {task.name: ready.uses[name] for task in ready.plan.tasks})
        for name in ready.plan.models
    }
