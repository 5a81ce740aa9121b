"""Verify the dialogues of a run: ask every judge once, flag what they object to, decide."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from functools import cache, partial

from pipeline.calls.asking import each
from pipeline.calls.tracing import dialogue_span
from pipeline.playing.runner import Executor, JobFailure, Progress, Runner, RunOutcome
from pipeline.providers.errors import OutOfFunds, ProviderError, Unauthorised, UnknownModel
from pipeline.stopping.rules import StopRules
from pipeline.stopping.stop import Stop
from quality.judges.protocol import JudgeIdentity
from quality.verification.flags import judgement_flags
from quality.verification.unreadable import UnreadableJudges
from quality.verification.unverified import VerificationSetup, VerificationTask
from scenarios.dialogue import Dialogue
from scenarios.errors import UsageError
from scenarios.log import logger
from scenarios.verdicts import Assessment, Decision, Judgement, JudgeRun

VerificationJob = VerificationTask | Dialogue
"""A dialogue alone is one that no judge has been asked about yet."""

_log = logger("verify")


class Verification:
    """Verifies what is not verified yet; a :class:`~pipeline.playing.runner.Stage`.

    A dialogue counts only when its verdict is durable.
    """

    def __init__(
        self,
        setup: VerificationSetup,
        stop: Stop,
        on_progress: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        """Verify with ``setup`` until ``stop`` is requested."""
        self._setup = setup
        self._stop = stop
        rules = StopRules(
            "dialogues could not be judged",
            "go on with the same command",
            scenarios=setup.scenarios,
            worked=any(setup.records.counts().verdicts.values()),
        )
        self._runner: Runner[VerificationJob, tuple[Assessment, Decision]] = Runner(
            self, stop, rules, on_progress
        )
        self._unreadable = UnreadableJudges(setup.records.has_read)
        self._config = cache(setup.config)
        self._taken: dict[tuple[str, str], VerificationTask] = {}
        """What was taken and is neither verified nor given up yet, by case and arm."""

    @property
    def outcome(self) -> RunOutcome:
        """What was done so far."""
        return self._runner.outcome

    async def run(
        self,
        dialogues: Iterable[Dialogue],
        executor: Executor,
        *,
        more_follow: bool = False,
        tried: bool = False,
    ) -> RunOutcome:
        """Verify every dialogue that is not verified under this configuration.

        Args:
            dialogues: all dialogues of the run, always in the same order: the rules compare a
                dialogue with those before it.
            executor: does several at once.
            more_follow: whether :meth:`take` will be called, so that the rules have to see all.
            tried: whether all were tried in this session already, so that those that could not be
                judged wait for the next one.

        Raises:
            UsageError: an endpoint refuses the key or the model, or a scenario cannot be found.
            RunError: the run cannot go on, e.g. the store cannot be written.
        """
        jobs: AsyncIterator[VerificationJob] = self._setup.tasks(
            dialogues,
            stopped=lambda: self._stop.requested,
            count_present=self._runner.count_present,
            more_follow=more_follow,
            tried=tried,
        )
        return await self._runner.run(jobs, executor)

    async def take(self, dialogue: Dialogue) -> None:
        """Verify one dialogue that has just become durable; what goes wrong is in the outcome.

        After the last of them :meth:`end` has to be called.
        """
        await self._runner.take(dialogue)

    async def end(self, executor: Executor) -> None:
        """Verify again what was taken and could not be judged for an endpoint that was away."""
        await self._runner.end(executor)

    def raise_usage_error(self) -> None:
        """Raise the mistake of the user's that stopped verification, if one did."""
        self._runner.raise_usage_error()

    # The stage

    def scenario_of(self, job: VerificationJob) -> str:
        """Return the scenario of the dialogue."""
        return _dialogue_of(job).case.scenario

    async def work(self, job: VerificationJob) -> tuple[Assessment, Decision]:
        """Ask every judge that is left, then assess; each judge's answer is stored at once."""
        dialogue = _dialogue_of(job)
        with dialogue_span("verify", dialogue.case, dialogue.arm):
            return await self._verify(job)

    async def _verify(self, job: VerificationJob) -> tuple[Assessment, Decision]:
        task = await self._task(job)
        if isinstance(task.flags, Exception):
            raise task.flags
        setup, judgements = self._setup, list[Judgement]()
        asked = [partial(self._heard, seat, task, epoch) for seat, epoch in task.seats]
        heard = await each(asked, together=setup.gathers)
        for one in heard:
            if isinstance(one, ProviderError):
                raise one
            judgements += one
        if len(task.seats) < len(setup.judges[task.dialogue.arm]):  # others were asked before
            judgements = self._stored(task)
        flags = (*judgement_flags(setup.scheme, task.dialogue, judgements), *task.flags)
        assessment = Assessment(*task.key, self._config(task.dialogue.arm), flags)
        return assessment, setup.policy.decide(assessment)

    async def _task(self, job: VerificationJob) -> VerificationTask:
        """Return what is left to do; the rules see a dialogue once, however often it is tried."""
        if isinstance(job, VerificationTask):
            return job
        key = job.case.id, job.arm
        if key not in self._taken:
            self._taken[key] = await self._setup.task(job)
        return self._taken[key]

    async def record(self, job: VerificationJob, result: tuple[Assessment, Decision]) -> None:
        """Store flags and verdict."""
        await self._setup.records.assess(*result)
        self._forget(job)

    async def record_failure(self, job: VerificationJob, failure: JobFailure) -> None:
        """Leave the dialogue unverified; store where an unforeseen exception was raised."""
        dialogue = _dialogue_of(job)
        case, arm = dialogue.key
        fields = {"case": case, "arm": arm, "code": failure.code}
        _log.info("a dialogue could not be judged: %s", failure.reason, extra={"fields": fields})
        if failure.traceback:
            await self._setup.records.fail(case, arm, failure.traceback)
        self._forget(job)

    def _forget(self, job: VerificationJob) -> None:
        dialogue = _dialogue_of(job)
        self._taken.pop(dialogue.key, None)

    async def _heard(
        self, seat: JudgeIdentity, task: VerificationTask, epoch: int
    ) -> list[Judgement] | ProviderError:
        """Return what a judge says, or why it could not be asked: the others are all the same."""
        self._stop.check()
        try:
            return sorted(await self._judge(seat, task, epoch), key=_place)
        except OutOfFunds:
            raise
        except (Unauthorised, UnknownModel) as error:
            raise UsageError(f"{seat.judge}: {error.message}", error.hint) from error
        except ProviderError as error:
            return error

    async def _judge(
        self, seat: JudgeIdentity, task: VerificationTask, epoch: int
    ) -> list[Judgement]:
        judge = self._setup.judge(task.dialogue.arm, seat)
        judgements = await judge.judge(task.dialogue, task.scenario, epoch)
        readable = [judgement.readable for judgement in judgements]
        run = JudgeRun(*task.key, seat.source, seat.judge, seat.config, epoch, all(readable))
        await self._setup.records.record(run, judgements)
        self._unreadable.count(seat, readable=not judgements or any(readable))
        return judgements

    def _stored(self, task: VerificationTask) -> list[Judgement]:
        """Return what the judges that are named now have said, some of them in an earlier session."""
        setup, arm = self._setup, task.dialogue.arm
        seated = {(judge.seat.source, judge.seat.judge) for judge in setup.judges[arm]}
        return [
            judgement
            for judgement in setup.records.judgements([task.key]).get(task.key, ())
            if (judgement.source, judgement.judge) in seated
        ]


def _place(judgement: Judgement) -> tuple[int, str]:
    """Return where a judgement stands among those of its judge, as the store sorts them."""
    return -1 if judgement.turn is None else judgement.turn, judgement.dimension


def _dialogue_of(job: VerificationJob) -> Dialogue:
    return job if isinstance(job, Dialogue) else job.dialogue
