"""Have a model put scenarios into another language: what is paid is stored, and never asked again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from pipeline.calls.client import Client
from pipeline.calls.records import CallContext
from pipeline.playing.runner import Executor, JobFailure, Progress, Runner, RunOutcome
from pipeline.stopping.rules import StopRules
from pipeline.stopping.stop import Stop
from pipeline.store.answers import FAILED, AnswerLog, EvaluationSeat, StoredAnswer
from prompts.question import Question
from scenarios.fingerprint import fingerprint, seed_from
from scenarios.spec import Scenario
from scenarios.wordings import texts_of

TRANSLATOR: Final = "translator"
"""The role whose model is asked."""
GO_ON: Final = "go on with the same command and --retry-failed"


@dataclass(frozen=True, slots=True)
class TranslationJob:
    """One scenario that is to be put into another language."""

    scenario: Scenario
    """With its placeholders."""
    question: Question[dict[str, str]]
    epoch: int = 0
    """How often it has failed before."""

    @property
    def item(self) -> str:
        """Names it in the store: another text makes another item."""
        return f"{self.scenario.id}@{fingerprint(texts_of(self.scenario))[:16]}"


@dataclass
class Translating:
    """Asks for every scenario that is left; a :class:`~pipeline.playing.runner.Stage`."""

    jobs: Sequence[TranslationJob]
    seat: EvaluationSeat
    answers: AnswerLog
    client: Client
    stop: Stop
    keep: Callable[[Scenario, dict[str, str]], None]
    """Writes the texts of a scenario to where people read them."""
    on_progress: Callable[[Progress], None] = lambda _: None
    retry_failed: bool = False
    """Whether scenarios are asked for again that failed before."""
    reasons: list[str] = field(default_factory=list)
    """Why scenarios failed just now, one line each."""

    @property
    def outcome(self) -> RunOutcome:
        """What was done so far."""
        return self._runner.outcome

    async def run(self, executor: Executor) -> None:
        """Ask for every scenario that is left.

        Raises:
            UsageError: an endpoint refuses the key or the model.
            RunError: it cannot go on, e.g. the store cannot be written.
        """
        worked = self.answers.counts([self.seat])["answered"]
        rules = StopRules("scenarios failed", GO_ON, scenarios=len(self.jobs), worked=bool(worked))
        self._runner: Runner[TranslationJob, dict[str, str]] = Runner(
            self, self.stop, rules, self.on_progress
        )
        await self._runner.run(self._left(), executor)

    async def _left(self) -> AsyncIterator[TranslationJob]:
        ended = {answer.item: answer for answer in self.answers.of(self.seat)}
        for job in self.jobs:
            before = ended.get(job.item)
            if before is not None and before.status == FAILED:
                if not self.retry_failed:
                    self._runner.count_present(1)
                    continue
                yield TranslationJob(job.scenario, job.question, before.retry_epoch + 1)
                continue
            yield job

    def scenario_of(self, job: TranslationJob) -> str:
        """Return the scenario."""
        return job.scenario.id

    async def work(self, job: TranslationJob) -> dict[str, str]:
        """Ask for all texts of the scenario at once, so that the same things are called the same."""
        ctx = CallContext(
            role=TRANSLATOR,
            seed=seed_from("translation", self.seat.mode),
            epoch=job.epoch,
            case=job.scenario.id,
            purpose="translate",
        )
        return await self.client.ask(job.question, ctx)

    async def record(self, job: TranslationJob, result: dict[str, str]) -> None:
        """Write the texts, then store that it is done."""
        self.keep(job.scenario, result)
        done = StoredAnswer(job.item, "answered", job.epoch, content={"texts": result})
        await self.answers.finish(self.seat, done)

    async def record_failure(self, job: TranslationJob, failure: JobFailure) -> None:
        """Store why there are no texts."""
        self.reasons.append(f"{job.scenario.id}: {failure.reason}")
        failed = StoredAnswer(job.item, FAILED, job.epoch, failure.code, failure.reason)
        await self.answers.finish(self.seat, failed, failure.traceback)
