"""Generation: plays whatever of a plan is not there yet, and records how every case ended."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from pipeline.calls.tracing import dialogue_span
from pipeline.chunks import chunks
from pipeline.planning.progress import PlanProgress
from pipeline.playing.arm_queues import ArmQueues
from pipeline.playing.runner import Executor, JobFailure, Progress, Runner, RunOutcome
from pipeline.stopping.rules import REFUSED_SCENARIOS, StopRules
from pipeline.stopping.stop import Stop
from pipeline.store.calls import KnownChoice
from pipeline.store.run_store import RunStore
from scenarios.case import Case
from scenarios.dialogue import Dialogue
from scenarios.log import logger
from scenarios.quick_records import quickly_made

CHUNK = 512
"""Cases taken from the plan, and looked up in the store, at once."""
_log = logger("runner")


@quickly_made
@dataclass(frozen=True, slots=True)
class Job:
    """One dialogue to play, as plain data that can be sent to a worker elsewhere."""

    case: Case
    arm: str
    epoch: int
    """How often the case has failed before."""
    known: tuple[KnownChoice, ...] = ()
    """What was drawn for the case before (``CallLog.known_of_case``), for a worker that cannot
    look into the store; empty for those that can."""


class Player(Protocol):
    """Plays one case for one arm."""

    async def play(self, case: Case, epoch: int) -> Dialogue:
        """Return the finished dialogue; ``epoch`` counts how often the case has failed before."""


async def _nothing(dialogue: Dialogue) -> None:
    """Do nothing more with a dialogue that is stored."""


class Engine:
    """Plays the cases of a plan that are pending; a :class:`~pipeline.playing.runner.Stage`."""

    def __init__(
        self,
        store: RunStore,
        players: Mapping[str, Player],
        executor: Executor,
        stop: Stop,
        *,
        scenarios: int = REFUSED_SCENARIOS,
        retry_failed: bool = False,
        on_progress: Callable[[Progress], None] = lambda _: None,
        then: Callable[[Dialogue], Awaitable[None]] = _nothing,
    ) -> None:
        """Join a store, one player per arm id, and an executor.

        Args:
            store: of the run.
            players: by arm id.
            executor: does several jobs at once.
            stop: nothing new is begun once it is requested.
            scenarios: how many the cases are from.
            retry_failed: whether cases that failed before are played again.
            on_progress: is called whenever something has become durable.
            then: the next stage of each dialogue, begun as soon as the dialogue is durable.
        """
        self._store = store
        self._players = players
        self._executor = executor
        self._stop = stop
        self._retry_failed = retry_failed
        self._then = then
        self._progress: PlanProgress | None = None
        self._queues = ArmQueues[Job](players)
        worked = {arm.id for arm in store.state().arms if arm.generated}
        rules = {
            arm: StopRules(
                "dialogues failed",
                "go on with the same command and --retry-failed",
                scenarios=scenarios,
                worked=arm in worked,
            )
            for arm in players
        }
        self._runner = Runner(self, stop, lambda job: rules[job.arm], on_progress)

    async def run(self, cases: Iterable[Case], progress: PlanProgress | None = None) -> RunOutcome:
        """Play every case by every arm, unless it is done already.

        Args:
            cases: what is to be played.
            progress: of the plan that they are from, beginning with its first case that may not
                be settled; it is kept up to date. None: nothing of the kind is known.

        Raises:
            UsageError: the endpoint refuses the key or the model; trying further makes no sense.
            RunError: the run cannot go on, e.g. the store cannot be written.
        """
        self._progress = progress
        if progress is not None:
            self._runner.count_present(progress.present)
        return await self._runner.run(self._jobs(cases), self._executor)

    @property
    def outcome(self) -> RunOutcome:
        """What was done so far, also where :meth:`run` was cancelled."""
        return self._runner.outcome

    async def _jobs(self, cases: Iterable[Case]) -> AsyncIterator[Job]:
        """Yield what is left to do, the arms taking turns.

        A chunk of the plan is looked up when its turn comes, or that of an arm which has none left
        while others are slow.
        """
        ahead = chunks(cases, CHUNK)
        while not self._stop.requested:
            if self._queues.want_more and (chunk := next(ahead, None)) is not None:
                self._queues.add(await self._left(chunk))
            elif (job := self._queues.take()) is not None:
                yield job
            else:
                return

    async def _left(self, chunk: list[Case]) -> list[Job]:
        """Return what the arms have left of some cases."""
        await self._store.add_cases(chunk)
        jobs = [
            Job(case, arm, epoch)
            for arm in self._players
            for case, epoch in self._store.pending(chunk, arm, retry_failed=self._retry_failed)
        ]
        self._runner.count_present(len(chunk) * len(self._players) - len(jobs))
        if self._progress is not None:
            self._progress.begin(len(chunk), [(job.case.id, job.arm) for job in jobs])
        return jobs

    # The stage

    def scenario_of(self, job: Job) -> str:
        """Return the scenario of the case."""
        return job.case.scenario

    async def work(self, job: Job) -> Dialogue:
        """Play one case."""
        try:
            with dialogue_span("generate", job.case, job.arm, job.epoch):
                return await self._players[job.arm].play(job.case, job.epoch)
        finally:
            self._queues.ended(job)

    async def record(self, job: Job, result: Dialogue) -> None:
        """Store the dialogue, then hand it to the next stage."""
        await self._store.finish(result, job.epoch)
        self._ended(job)
        await self._then(result)

    async def record_failure(self, job: Job, failure: JobFailure) -> None:
        """Store why the case failed."""
        fields = {"case": job.case.id, "arm": job.arm, "epoch": job.epoch, "code": failure.code}
        _log.info("a case failed: %s", failure.reason, extra={"fields": fields})
        await self._store.fail(
            job.case, job.arm, failure.code, failure.reason, job.epoch, traceback=failure.traceback
        )
        self._ended(job)

    def _ended(self, job: Job) -> None:
        if self._progress is not None:
            self._progress.end((job.case.id, job.arm))
