"""The engine: plays whatever of a plan is not there yet, and records how every case ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, Protocol

from pipeline.budget import BudgetReached
from pipeline.client import AnswerUnusable
from pipeline.providers.errors import OutOfFunds, ProviderError, Unauthorised, UnknownModel
from pipeline.stop import Stop, Stopped
from scenarios.case import Case
from scenarios.dialogue import Dialogue
from scenarios.errors import UsageError

CHUNK = 512
"""Cases taken from the plan, and looked up in the store, at once."""
SAME_FAILURE = 50
"""Dialogues in a row that may fail with one passing fault before the endpoint counts as down."""


@dataclass(frozen=True, slots=True)
class Job:
    """One dialogue to play: a case, by one arm, for the ``epoch``-th time."""

    case: Case
    arm: str
    epoch: int


@dataclass(frozen=True, slots=True)
class Progress:
    """Something that has just become durable."""

    kind: Literal["generated", "failed", "present"]
    count: int = 1
    code: str = ""
    """Why it failed, where it did."""


@dataclass(slots=True)
class Outcome:
    """What one run of the engine did."""

    generated: int = 0
    present: int = 0
    """Dialogues that were there (or had failed and were not to be retried) before it began."""
    failed: Counter[str] = field(default_factory=Counter)
    """By reason code."""
    stopped: str | None = None
    """Why it ended before everything was done, in a sentence; or None."""
    stop_code: str = "interrupted"
    """The same in a word: ``interrupted``, ``budget``, or the code of a provider's error."""


class Player(Protocol):
    """Plays one case for one arm."""

    async def play(self, case: Case, epoch: int) -> Dialogue:
        """Return the finished dialogue; ``epoch`` counts how often the case has failed before."""


class Records(Protocol):
    """What the engine needs of a store."""

    async def add_cases(self, cases: Sequence[Case]) -> None:
        """Make the cases known; those that are known already are left as they are."""

    def pending(
        self, cases: Sequence[Case], arm: str, *, retry_failed: bool = False
    ) -> list[tuple[Case, int]]:
        """Return the cases this arm still has to play, each with its retry epoch."""

    async def finish(self, dialogue: Dialogue, epoch: int) -> None:
        """Store a dialogue; it is durable when this returns."""

    async def fail(self, case: Case, arm: str, code: str, reason: str, epoch: int) -> None:
        """Store that a case failed, and why; it is durable when this returns."""


class Executor(Protocol):
    """Something that does jobs, several at once."""

    async def run(self, jobs: AsyncIterator[Job], work: Callable[[Job], Awaitable[None]]) -> None:
        """Do every job there is."""


class Engine:
    """Plays what is pending, case by case, and counts a dialogue only when it is durable."""

    def __init__(
        self,
        records: Records,
        players: Mapping[str, Player],
        executor: Executor,
        stop: Stop,
        *,
        retry_failed: bool = False,
        on_progress: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        """Join a store, one player per arm id, and an executor."""
        self._records = records
        self._players = players
        self._executor = executor
        self._stop = stop
        self._retry_failed = retry_failed
        self._on_progress = on_progress
        self._outcome = Outcome()
        self._fatal: UsageError | None = None
        self._in_a_row: tuple[str, int] = ("", 0)

    async def run(self, cases: Iterable[Case]) -> Outcome:
        """Play every case by every arm, unless it is done already.

        Returns:
            What was done, and why it stopped if it did not get to the end.

        Raises:
            UsageError: the endpoint refuses the key or the model; trying further makes no sense.
        """
        await self._executor.run(self._jobs(cases), self._play)
        if self._fatal is not None:
            raise self._fatal
        return self.outcome

    @property
    def outcome(self) -> Outcome:
        """What was done so far, also where :meth:`run` was cancelled."""
        self._outcome.stopped = self._stop.reason
        return self._outcome

    async def _jobs(self, cases: Iterable[Case]) -> AsyncIterator[Job]:
        """Yield what is left to do; a chunk of the plan is looked up when its turn comes."""
        for chunk in _chunks(cases, CHUNK):
            if self._stop.requested:
                return
            await self._records.add_cases(chunk)
            for arm in self._players:
                pending = self._records.pending(chunk, arm, retry_failed=self._retry_failed)
                self._count(Progress("present", len(chunk) - len(pending)))
                for case, epoch in pending:
                    if self._stop.requested:
                        return
                    yield Job(case, arm, epoch)

    async def _play(self, job: Job) -> None:
        """Play one job and record how it ended; a stop leaves it pending."""
        if self._stop.requested:
            return
        try:
            dialogue = await self._players[job.arm].play(job.case, job.epoch)
        except Stopped:
            return
        except BudgetReached as error:
            self._request_stop("budget", str(error))
        except OutOfFunds as error:
            self._request_stop(error.code, str(error))
        except (Unauthorised, UnknownModel) as error:
            self._give_up(UsageError(error.message, error.hint))
        except UsageError as error:
            self._give_up(error)
        except AnswerUnusable as error:
            await self._fail(job, error.code, str(error))
        except ProviderError as error:
            await self._fail(job, error.code, str(error))
            self._watch(error)
        else:
            await self._records.finish(dialogue, job.epoch)
            self._in_a_row = ("", 0)
            self._count(Progress("generated"))

    async def _fail(self, job: Job, code: str, reason: str) -> None:
        await self._records.fail(job.case, job.arm, code, reason, job.epoch)
        self._count(Progress("failed", code=code))

    def _give_up(self, error: UsageError) -> None:
        """Stop because nothing that follows could work either."""
        self._fatal = self._fatal or error
        self._stop.request(error.message)

    def _watch(self, error: ProviderError) -> None:
        """Stop when one dialogue after the other fails with the same passing fault."""
        code, times = self._in_a_row
        times = times + 1 if error.code == code else 1
        self._in_a_row = (error.code, times)
        if error.retryable and times >= SAME_FAILURE:
            self._request_stop(
                error.code,
                f"{times} dialogues in a row failed with {error.code}, the last with: {error}; "
                "once the endpoint is well again, go on with --retry-failed",
            )

    def _request_stop(self, code: str, reason: str) -> None:
        """Ask for a stop; the first reason stays."""
        if not self._stop.requested:
            self._outcome.stop_code = code
        self._stop.request(reason)

    def _count(self, progress: Progress) -> None:
        """Add to the outcome and tell whoever watches."""
        if progress.kind == "generated":
            self._outcome.generated += progress.count
        elif progress.kind == "failed":
            self._outcome.failed[progress.code] += progress.count
        else:
            self._outcome.present += progress.count
        if progress.count:
            self._on_progress(progress)


def _chunks(cases: Iterable[Case], size: int) -> Iterator[list[Case]]:
    """Cut a stream of cases into lists of at most ``size``."""
    stream = iter(cases)
    while chunk := list(islice(stream, size)):
        yield chunk
