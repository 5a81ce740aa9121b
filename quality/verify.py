"""Verify the dialogues of a run: ask every judge once, flag what they object to, decide."""

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
from typing import Protocol

from pipeline.budget import BudgetReached
from pipeline.engine import SAME_FAILURE, Progress
from pipeline.providers.errors import OutOfFunds, ProviderError, Unauthorised, UnknownModel
from pipeline.stop import Stop, Stopped
from quality.flags import is_unreadable, judgement_flags
from quality.judges.protocol import Judge, JudgeIdentity
from quality.policy import Policy
from scenarios.case import Case
from scenarios.dialogue import Dialogue
from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.verdicts import Assessment, Decision, Flag, Judgement, JudgeRun

PAGE = 200
"""Dialogues that are looked up in the store at once."""

Key = tuple[str, str]


class Checks(Protocol):
    """The rules that need no model; some of them compare a dialogue with those before it."""

    @property
    def fingerprint(self) -> str:
        """The content hash of rules and thresholds."""

    async def check(self, page: Sequence[tuple[Dialogue, Scenario]]) -> Sequence[tuple[Flag, ...]]:
        """Return the flags of each dialogue, and remember them all."""


class Records(Protocol):
    """What verification needs of a store."""

    def runs(self, keys: Iterable[Key]) -> Mapping[Key, Sequence[JudgeRun]]:
        """Return the newest run of every judge."""

    def judgements(self, keys: Iterable[Key]) -> Mapping[Key, Sequence[Judgement]]:
        """Return what every judge said when it was last asked."""

    def assessments(self, keys: Iterable[Key]) -> Mapping[Key, Assessment]:
        """Return the newest assessments."""

    def decisions(self, keys: Iterable[Key]) -> Mapping[Key, Sequence[Decision]]:
        """Return every decision, oldest first."""

    def all_assessed(self, arm: str, config: str) -> bool:
        """Whether every dialogue of an arm was last assessed under this configuration."""

    async def record(self, run: JudgeRun, judgements: Sequence[Judgement]) -> None:
        """Store what one judge says about one dialogue; durable on return."""

    async def assess(self, assessment: Assessment, decision: Decision) -> None:
        """Store flags and what is decided on them; durable on return."""

    async def decide(self, decisions: Sequence[Decision]) -> None:
        """Store decisions; durable on return."""


class Executor(Protocol):
    """Something that does tasks, several at once."""

    async def run(self, jobs: AsyncIterator[Task], work: Callable[[Task], Awaitable[None]]) -> None:
        """Do every task there is."""


@dataclass(frozen=True, slots=True)
class Task:
    """One dialogue to verify: who has yet to judge it, and what the rules found."""

    dialogue: Dialogue
    scenario: Scenario
    judges: tuple[tuple[Judge, int], ...]
    """Each with the epoch to ask in."""
    flags: tuple[Flag, ...]

    @property
    def key(self) -> Key:
        """(case, arm) of the dialogue."""
        return self.dialogue.case.id, self.dialogue.arm


@dataclass(slots=True)
class Outcome:
    """What one verification did."""

    verified: int = 0
    present: int = 0
    """Dialogues that had been verified before under the same configuration."""
    failed: Counter[str] = field(default_factory=Counter)
    """Dialogues a judge's endpoint gave no answer about, by reason code; they are tried again."""
    stopped: str | None = None
    """Why it ended before everything was done, or None."""


class Verification:
    """Verifies what is not verified yet; a dialogue counts only when its verdict is durable."""

    def __init__(
        self,
        records: Records,
        *,
        scheme: Scheme,
        scenario_of: Callable[[Case], Scenario],
        judges: Mapping[str, Sequence[Judge]],
        checks: Checks,
        policy: Policy,
        stop: Stop,
        retry_unreadable: bool = False,
        on_progress: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        """Join a store, the judges of every arm, the rules and the policy."""
        self._records = records
        self._scheme = scheme
        self._scenario_of = scenario_of
        self._judges = judges
        self._checks = checks
        self._policy = policy
        self._stop = stop
        self._retry_unreadable = retry_unreadable
        self._on_progress = on_progress
        self._configs = {arm: self._config(seated) for arm, seated in judges.items()}
        self._outcome = Outcome()
        self._fatal: UsageError | None = None
        self._in_a_row: tuple[str, int] = ("", 0)

    @property
    def outcome(self) -> Outcome:
        """What was done so far."""
        self._outcome.stopped = self._stop.reason
        return self._outcome

    async def run(
        self, dialogues: Iterable[Dialogue], executor: Executor, *, more_follow: bool = False
    ) -> Outcome:
        """Verify every dialogue that is not verified under this configuration.

        Args:
            dialogues: all dialogues of the run, always in the same order: the rules compare a
                dialogue with those before it.
            executor: does several at once.
            more_follow: whether :meth:`take` will be called, so that all have to be remembered.

        Raises:
            UsageError: an endpoint refuses the key or the model, or a scenario cannot be found.
        """
        await executor.run(self._tasks(dialogues, more_follow), self._verify)
        if self._fatal is not None:
            raise self._fatal
        return self.outcome

    async def take(self, dialogue: Dialogue) -> None:
        """Verify one dialogue that has just become durable; what goes wrong is in the outcome."""
        scenario = self._scenario_of(dialogue.case)
        (flags,) = await self._checks.check([(dialogue, scenario)])
        judges = tuple((judge, 0) for judge in self._judges[dialogue.arm])
        await self._verify(Task(dialogue, scenario, judges, flags))

    def raise_fatal(self) -> None:
        """Raise what made verification give up, if it did."""
        if self._fatal is not None:
            raise self._fatal

    # What there is to do

    async def _tasks(self, dialogues: Iterable[Dialogue], more_follow: bool) -> AsyncIterator[Task]:
        """Yield what is left to do; decisions that another policy took are taken anew."""
        remember = more_follow or self._retry_unreadable
        settled = not remember and all(
            self._records.all_assessed(arm, config) for arm, config in self._configs.items()
        )
        for page in _pages(dialogues, PAGE):
            if self._stop.requested:
                return
            keys = [(dialogue.case.id, dialogue.arm) for dialogue in page]
            runs, assessments = self._records.runs(keys), self._records.assessments(keys)
            judges = [
                self._missing(d.arm, runs.get(key, ())) for d, key in zip(page, keys, strict=True)
            ]
            done = [
                assessments[key]
                for key, missing in zip(keys, judges, strict=True)
                if not missing
                and key in assessments
                and assessments[key].config == self._configs[key[1]]
            ]
            await self._decide_again(done)
            if settled and len(done) == len(page):
                continue
            # Those that are done are checked too: later ones are compared with them.
            pairs = [(dialogue, self._scenario_of(dialogue.case)) for dialogue in page]
            flags = await self._checks.check(pairs)
            settled_keys = {(a.case, a.arm) for a in done}
            for (dialogue, scenario), key, missing, found in zip(
                pairs, keys, judges, flags, strict=True
            ):
                if self._stop.requested:
                    return
                if key not in settled_keys:
                    yield Task(dialogue, scenario, missing, found)

    def _missing(self, arm: str, runs: Sequence[JudgeRun]) -> tuple[tuple[Judge, int], ...]:
        """Return the judges of an arm who have not judged yet, each with the epoch to ask in."""
        judges = self._judges[arm]
        epochs = missing_epochs([j.seat for j in judges], runs, retry=self._retry_unreadable)
        return tuple((judge, e) for judge, e in zip(judges, epochs, strict=True) if e is not None)

    async def _decide_again(self, assessments: Sequence[Assessment]) -> None:
        """Apply the policy to dialogues that were assessed before, where it says otherwise."""
        self._count(Progress("present", len(assessments)))
        earlier = self._records.decisions((a.case, a.arm) for a in assessments)
        changed = []
        for assessment in assessments:
            decision = self._policy.decide(assessment)
            history = earlier.get((assessment.case, assessment.arm), ())
            if not history or (history[-1].by_policy and history[-1] != decision):
                changed.append(decision)
        await self._records.decide(changed)

    def _config(self, judges: Sequence[Judge]) -> str:
        seats = [[judge.seat.source, judge.seat.judge, judge.seat.config] for judge in judges]
        return fingerprint([seats, self._checks.fingerprint])

    # Doing it

    async def _verify(self, task: Task) -> None:
        """Let every judge have a say, then assess; a stop or a fault leaves the rest for later."""
        failed: ProviderError | None = None
        for judge, epoch in task.judges:
            if self._stop.requested:
                return
            try:
                await self._judge(judge, task, epoch)
            except Stopped:
                return
            except (BudgetReached, OutOfFunds) as error:
                self._stop.request(str(error))
                return
            except (Unauthorised, UnknownModel) as error:
                self._give_up(UsageError(f"{judge.seat.judge}: {error.message}", error.hint))
                return
            except UsageError as error:
                self._give_up(error)
                return
            except ProviderError as error:
                failed = error
        if failed is not None:
            self._count(Progress("failed", code=failed.code))
            self._watch(failed)
            return
        await self._assess(task)
        self._in_a_row = ("", 0)
        self._count(Progress("generated"))

    async def _judge(self, judge: Judge, task: Task, epoch: int) -> None:
        judgements = await judge.judge(task.dialogue, task.scenario, epoch)
        seat = judge.seat
        readable = not any(map(is_unreadable, judgements))
        run = JudgeRun(*task.key, seat.source, seat.judge, seat.config, epoch, readable)
        await self._records.record(run, judgements)

    async def _assess(self, task: Task) -> None:
        """Flag and decide, on what the judges in office have said."""
        case, arm = task.key
        seated = {(judge.seat.source, judge.seat.judge) for judge in self._judges[arm]}
        said = self._records.judgements([task.key]).get(task.key, ())
        counted = [j for j in said if (j.source, j.judge) in seated]
        flags = (*judgement_flags(self._scheme, task.dialogue, counted), *task.flags)
        assessment = Assessment(case, arm, self._configs[arm], flags)
        await self._records.assess(assessment, self._policy.decide(assessment))

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
            self._stop.request(
                f"{times} dialogues in a row could not be judged ({error.code}), "
                f"the last with: {error}"
            )

    def _count(self, progress: Progress) -> None:
        if progress.kind == "generated":
            self._outcome.verified += progress.count
        elif progress.kind == "failed":
            self._outcome.failed[progress.code] += progress.count
        else:
            self._outcome.present += progress.count
        if progress.count:
            self._on_progress(progress)


def missing_epochs(
    seats: Sequence[JudgeIdentity], runs: Iterable[JudgeRun], *, retry: bool = False
) -> list[int | None]:
    """Return for each seat the epoch in which a dialogue is yet to be judged, None if it is.

    Args:
        seats: who should have judged it.
        runs: who has, the newest run of each.
        retry: whether to ask again where an answer could not be read.
    """
    by_seat = {(run.source, run.judge): run for run in runs}
    epochs: list[int | None] = []
    for seat in seats:
        run = by_seat.get((seat.source, seat.judge))
        if run is None or run.config != seat.config:
            epochs.append(0)
        else:
            epochs.append(run.epoch + 1 if retry and not run.readable else None)
    return epochs


def _pages(dialogues: Iterable[Dialogue], size: int) -> Iterator[list[Dialogue]]:
    """Cut a stream of dialogues into lists of at most ``size``."""
    stream = iter(dialogues)
    while page := list(islice(stream, size)):
        yield page
