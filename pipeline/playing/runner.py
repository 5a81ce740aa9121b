"""The one loop over jobs: does several at once, tells failures apart, counts, and knows when to stop.

Generation plays cases with it and verification judges dialogues. Each is a :class:`Stage`: it says
what one job is and how its result or its failure is stored; everything else is here.
"""

from __future__ import annotations

import asyncio
import traceback
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir
from typing import Generic, Literal, Protocol, TypeVar

from pipeline.calls.client import AnswerUnusable
from pipeline.calls.records import REFUSAL
from pipeline.playing.doubts import Doubts
from pipeline.providers.errors import OutOfFunds, ProviderError, Unauthorised, UnknownModel
from pipeline.stopping.rules import Fault, StopRules
from pipeline.stopping.stop import (
    CONFIGURATION,
    INTERNAL,
    INTERRUPTED,
    STORE,
    MustStop,
    Stop,
    Stopped,
)
from pipeline.store.sqlite import no_room
from scenarios.errors import (
    DISK_FULL,
    NO_TEMPORARY_FOLDER,
    RunError,
    UsageError,
    lacks_temporary_folder,
)
from scenarios.log import scrub
from scenarios.plugins import place_in_plugin
from scenarios.quick_records import quickly_made

J = TypeVar("J")
R = TypeVar("R")
T = TypeVar("T")
J_contra = TypeVar("J_contra", contravariant=True)

MOST_SET_ASIDE = 50_000
"""Jobs of doubtful scenarios that may wait while others are tried."""
LONGEST_REASON = 2_000
LONGEST_TRACEBACK = 20_000


@dataclass(frozen=True, slots=True)
class JobFailure:
    """Why one job was not done, as plain data that can travel between processes."""

    kind: Literal["failed", "pending", "stop", "usage"]
    """``failed``: this job alone. The others leave the job pending: ``pending``, because the run
    is stopping already; ``stop``, because the run has to stop; ``usage``, because no other job
    could work either."""
    code: str
    reason: str
    hint: str = ""
    """What to do about it (``usage`` and ``stop``)."""
    traceback: str = ""
    """Where an unforeseen exception was raised; empty for every other failure."""
    fault: Fault = ""
    """What it says about other jobs."""


class JobFailed(RunError):
    """Raised in this process for a job that failed in another one."""

    def __init__(self, failure: JobFailure) -> None:
        """Keep the failure as it is."""
        super().__init__(failure.reason)
        self.failure = failure


@quickly_made
@dataclass(frozen=True, slots=True)
class Progress:
    """Something that has just become durable."""

    kind: Literal["done", "failed", "present"]
    count: int = 1
    code: str = ""
    """Why it failed, where it did."""


@dataclass(slots=True)
class RunOutcome:
    """What one pass over the jobs did."""

    done: int = 0
    """Dialogues generated, or verified, just now."""
    present: int = 0
    """Dialogues that needed nothing: done before, or failed before and not to be retried."""
    failed: Counter[str] = field(default_factory=Counter)
    """By reason code."""
    unjudged: Counter[str] = field(default_factory=Counter)
    """Dialogues that were to be judged as they were generated and could not be, by reason code."""
    stopped: str | None = None
    """Why it ended before everything was done, in a sentence; or None."""
    stop_code: str = ""
    """The same in a word, one of ``pipeline.stopping.stop``; empty if it was not stopped."""
    advice: str = ""
    """What the user can do, where that is more than what always holds for ``stop_code``."""


class Executor(Protocol):
    """Does jobs, several at once."""

    async def run(self, jobs: AsyncIterator[J], work: Callable[[J], Awaitable[None]]) -> None:
        """Do every job there is."""


class Stage(Protocol[J_contra, R]):
    """What is done with one job, and how its end is stored."""

    def scenario_of(self, job: J_contra) -> str:
        """Return the id of the scenario that a job is from."""

    async def work(self, job: J_contra) -> R:
        """Do the job; what it raises is told apart by :func:`failure_of`."""

    async def record(self, job: J_contra, result: R) -> None:
        """Store the result; durable on return. What it raises ends the run."""

    async def record_failure(self, job: J_contra, failure: JobFailure) -> None:
        """Store why a job failed; durable on return. What it raises ends the run."""


class Runner(Generic[J, R]):
    """Does the jobs of one stage; a job counts as done only when its result is durable."""

    def __init__(
        self,
        stage: Stage[J, R],
        stop: Stop,
        rules: StopRules | Callable[[J], StopRules],
        on_progress: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        """Run ``stage`` until ``stop`` is requested; ``on_progress`` is called after each count.

        ``rules`` say which failures make the runner request it itself; where they are those of a
        job, its end says nothing about jobs under others.
        """
        self._stage = stage
        self._stop = stop
        self._rules_of = (lambda _: rules) if isinstance(rules, StopRules) else rules
        self._on_progress = on_progress
        self._outcome = RunOutcome()
        self._usage_error: UsageError | None = None
        self._kept: Doubts[J, JobFailure] | None = None
        """Failures that are not stored yet; None: every one is at once."""

    @property
    def outcome(self) -> RunOutcome:
        """What was done so far, also where :meth:`run` was cancelled."""
        self._outcome.stopped = self._stop.reason
        self._outcome.stop_code = self._stop.code
        self._outcome.advice = self._stop.advice
        return self._outcome

    async def run(self, jobs: AsyncIterator[J], executor: Executor) -> RunOutcome:
        """Do all jobs.

        Raises:
            UsageError: a job showed that no other could work, e.g. the key is refused.
            RunError: the run cannot go on, e.g. the store cannot be written.
        """
        self._kept = Doubts(self._stop.awaited)
        ahead = self._doubtful_last(self._until_stopped(jobs))
        await executor.run(self._kept.then(ahead), self.do)
        await self.end(executor)
        self.raise_usage_error()
        return self.outcome

    async def run_all(self, jobs: Iterable[J], executor: Executor) -> RunOutcome:
        """Do all jobs of a list or the like, as :meth:`run` does, until a stop is requested."""

        async def given() -> AsyncIterator[J]:
            for job in jobs:
                if self._stop.requested:
                    return
                yield job

        return await self.run(given(), executor)

    async def take(self, job: J) -> None:
        """Do one of several jobs that come one by one, and what is due for its second try.

        After the last of them :meth:`end` has to be called.

        Raises:
            RunError: the run cannot go on.
        """
        kept = self._kept = self._kept or Doubts(self._stop.awaited)
        await self.do(job)
        async for again in kept.second_tries():
            await self.do(again)

    async def end(self, executor: Executor) -> None:
        """Give second tries when all jobs have ended, and store the failures that stand.

        An interrupt leaves pending what it has kept from a second try.
        """
        doubts, self._kept = self._kept, None
        if doubts is None or self._stop.code == INTERRUPTED:
            return
        try:
            for job, failure in doubts.confirmed(lambda _: True):
                await self._store_failure(job, failure)
        except (MustStop, UsageError) as error:
            self._must_stop(failure_of(error))
        await executor.run(doubts.second_tries(), self.do)

    def raise_usage_error(self) -> None:
        """Raise the mistake of the user's that stopped the run, if one did."""
        if self._usage_error is not None:
            raise self._usage_error

    async def do(self, job: J) -> None:
        """Do one job and store how it ended; a stop leaves it pending.

        Where the store cannot be written, the run is stopped and what is in flight may end.

        Raises:
            RunError: the run cannot go on.
        """
        if self._stop.requested:
            return
        try:
            await self._do(job)
        except (MustStop, UsageError) as error:
            await self._failed(job, failure_of(error))

    async def _until_stopped(self, jobs: AsyncIterator[J]) -> AsyncIterator[J]:
        """Yield jobs until there are no more, or they cannot be made known to the store."""
        try:
            async for job in jobs:
                yield job
        except (MustStop, UsageError) as error:
            self._must_stop(failure_of(error))

    async def _do(self, job: J) -> None:
        try:
            result = await contained(self._stage.work(job))
        except Exception as error:  # noqa: BLE001 - failure_of raises what is no failure of a job
            await self._failed(job, failure_of(error))
            return
        await self._stage.record(job, result)
        self._rules_of(job).succeeded()
        self._outcome.done += 1
        self._on_progress(Progress("done"))
        if self._kept is not None:
            rules = self._rules_of(job)
            for other, failure in self._kept.confirmed(lambda one: self._rules_of(one) is rules):
                await self._store_failure(other, failure)

    def count_present(self, count: int) -> None:
        """Count jobs that need not be done."""
        if count:
            self._outcome.present += count
            self._on_progress(Progress("present", count))

    async def _failed(self, job: J, failure: JobFailure) -> None:
        self._must_stop(failure)
        if failure.kind == "failed":
            kept = self._kept if failure.fault == "passing" else None
            if kept is None or not kept.take(job, failure):
                await self._store_failure(job, failure)
            scenario = self._stage.scenario_of(job)
            rules = self._rules_of(job)
            why = rules.failed(failure.fault, failure.code, failure.reason, scenario)
            if why is not None:
                self._stop.request(why.message, why.code, why.advice)

    async def _store_failure(self, job: J, failure: JobFailure) -> None:
        await self._stage.record_failure(job, failure)
        self._outcome.failed[failure.code] += 1
        self._on_progress(Progress("failed", code=failure.code))

    async def _doubtful_last(self, jobs: AsyncIterator[J]) -> AsyncIterator[J]:
        """Yield the jobs; those of a scenario that is refused wait until another is done.

        Jobs come scenario by scenario: to see whether it is the scenario that is refused or
        everything, others have to be tried before all of its jobs have failed.
        """
        aside: deque[J] = deque()
        async for job in jobs:
            while aside and not self._doubts(aside[0]):
                yield aside.popleft()
            if self._doubts(job) and len(aside) < MOST_SET_ASIDE:
                aside.append(job)
            else:
                yield job
        while aside:
            yield aside.popleft()

    def _doubts(self, job: J) -> bool:
        return self._rules_of(job).doubts(self._stage.scenario_of(job))

    def _must_stop(self, failure: JobFailure) -> None:
        """Stop where no other job could be done."""
        if failure.kind == "stop":
            self._stop.request(failure.reason, failure.code, failure.hint)
        elif failure.kind == "usage":
            self._usage_error = self._usage_error or UsageError(failure.reason, failure.hint)
            self._stop.request(failure.reason, failure.code)


async def contained(work: Awaitable[T]) -> T:
    """Return what a job comes to; what would end more than the job becomes an error of it.

    Libraries let a cancellation out that was meant for tasks of their own, and plugins call
    ``sys.exit``: the one would end a worker of the run in silence, the other the process.

    Raises:
        RuntimeError: the job was called off by nobody outside, or wanted to end the process.
    """
    try:
        return await work
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise RuntimeError("it was cancelled from within (asyncio.CancelledError)") from error
    except SystemExit as error:
        raise RuntimeError(f"it called sys.exit({error.code!r})") from error


def failure_of(error: Exception) -> JobFailure:
    """Return what an exception means for the job that raised it.

    Raises:
        RunError: ``error`` itself, where the run cannot go on: its store, for one, cannot be
            written.
    """
    failure = error.failure if isinstance(error, JobFailed) else _foreseen(error) or _no_file(error)
    if failure is not None:
        return failure
    if isinstance(error, RunError):
        raise error
    place = place_in_plugin(error)
    told = "".join(traceback.format_exception_only(error)).strip()
    shown = f"{place}: {told}" if place else told
    where = "".join(traceback.format_exception(error))
    return JobFailure(
        "failed",
        INTERNAL,
        _storable(shown)[:LONGEST_REASON],
        traceback=_storable(where)[-LONGEST_TRACEBACK:],
        fault="internal",
    )


def _foreseen(error: Exception) -> JobFailure | None:
    """Return what an error means that asking a model is documented to raise."""
    if isinstance(error, Stopped):
        return JobFailure("pending", error.code, error.reason)
    if isinstance(error, MustStop | OutOfFunds):
        advice = error.advice if isinstance(error, MustStop) else ""
        return JobFailure("stop", error.code, error.message, advice)
    if isinstance(error, Unauthorised | UnknownModel | UsageError):
        place = place_in_plugin(error) if isinstance(error, UsageError) else None
        reason = f"{error.message} ({place})" if place else error.message
        return JobFailure("usage", CONFIGURATION, reason, error.hint)
    if isinstance(error, AnswerUnusable):
        fault: Fault = "refused" if error.code == REFUSAL else "unreadable"
        return JobFailure("failed", error.code, str(error), fault=fault)
    if isinstance(error, ProviderError):
        fault = "passing" if error.retryable else "refused"
        return JobFailure("failed", error.code, str(error), fault=fault)
    return None


def _no_file(error: Exception) -> JobFailure | None:
    """Return what it means that a disk is full, which need not be the run's, or takes no files."""
    if lacks_temporary_folder(error):
        return JobFailure("usage", CONFIGURATION, *NO_TEMPORARY_FOLDER)
    if not isinstance(error, OSError) or error.errno not in DISK_FULL:
        return None
    # Libraries that lay down what they load do so in the folder for temporary files.
    with suppress(FileNotFoundError):  # there is none that could be written to
        place = Path(error.filename or Path(gettempdir(), "file"))
        return JobFailure("stop", STORE, f"a disk is full: {error}", no_room(place))
    return JobFailure("stop", STORE, f"a disk is full: {error}", "free some space")


def _storable(text: str) -> str:
    """Mask what looks like a key, and replace half surrogate pairs, which no database can hold."""
    return scrub(text.encode("utf-8", "replace").decode())
