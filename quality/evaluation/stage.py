"""Ask models about items: what is answered is stored at once, and never asked again."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol, TypeVar

from pipeline.calls.asking import each
from pipeline.calls.records import CallContext, ParsedSample
from pipeline.playing.runner import Executor, JobFailure, Progress, Runner, RunOutcome
from pipeline.stopping.rules import UNREADABLE_AT_FIRST, StopRules
from pipeline.stopping.stop import INTERNAL, REFUSED, MustStop, Stop
from pipeline.store.answers import FAILED, AnswerLog, EvaluationSeat, StoredAnswer
from prompts.question import Question
from quality.evaluation.draw import spread
from quality.evaluation.item import EvaluationItem
from quality.evaluation.plan import EvaluationPlan, TaskPlan
from quality.evaluation.replies import TRUNCATED, ReadReply, Replied, options_of, read_replies
from scenarios.fingerprint import seed_from
from scenarios.log import logger

T = TypeVar("T")

GO_ON: Final = "go on with the same command and --retry-failed"
_log = logger("evaluate")


class OnceAsker(Protocol):
    """Asks one model, and gives its answer as it came."""

    @property
    def gathers(self) -> bool:
        """Whether questions wait for a batch: those that need no other's answer belong into one."""

    async def ask_once(self, question: Question[T], ctx: CallContext) -> ParsedSample[T]:
        """Return an answer, readable or not.

        Raises:
            ProviderError: the endpoint did not answer.
        """


@dataclass(frozen=True, slots=True)
class EvaluationJob:
    """One item that one model is asked about once."""

    seat: EvaluationSeat
    task: TaskPlan
    item: EvaluationItem
    epoch: int
    """How often it has failed before."""


class Evaluation:
    """Asks whatever is not answered yet; a :class:`~pipeline.playing.runner.Stage`.

    A model that declines, or whose answer cannot be read, has answered: that is its result. An
    item fails only where no answer came.
    """

    def __init__(
        self,
        plan: EvaluationPlan,
        answers: AnswerLog,
        clients: Mapping[str, OnceAsker],
        stop: Stop,
        *,
        retry_failed: bool = False,
        keep_going: bool = False,
        on_progress: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        """Join a plan, the log of answers, and what asks each model.

        Args:
            plan: what is asked.
            answers: where answers are stored.
            clients: by model.
            stop: nothing new is begun once it is requested.
            retry_failed: whether items are asked about again that failed before.
            keep_going: whether a model is asked on, of whose first answers none could be read.
            on_progress: is called whenever something has become durable.
        """
        self._plan = plan
        self._answers = answers
        self._clients = clients
        self._stop = stop
        self._retry_failed = retry_failed
        self._readable = _ReadableAnswers(answers, keep_going=keep_going)
        scenarios = {item.scenario for task in plan.tasks for item in task.items}
        worked = answers.counts(seat for seat, _, _ in plan.seats())
        rules = StopRules(
            "items failed",
            GO_ON,
            scenarios=len(scenarios),
            worked=any(n for status, n in worked.items() if status != FAILED),
        )
        self._runner: Runner[EvaluationJob, ReadReply] = Runner(self, stop, rules, on_progress)

    @property
    def outcome(self) -> RunOutcome:
        """What was done so far."""
        return self._runner.outcome

    async def run(self, executor: Executor) -> RunOutcome:
        """Ask about every item that is left.

        Raises:
            UsageError: an endpoint refuses the key or the model, or a prompt does not fit into the
                context of a model.
            RunError: the evaluation cannot go on, e.g. the store cannot be written.
        """
        return await self._runner.run(self._jobs(), executor)

    async def _jobs(self) -> AsyncIterator[EvaluationJob]:
        """Yield what is left, item by item, so that all models are asked alike.

        Where a budget ends it, what was asked is of as many scenarios as it can be.
        """
        for task in self._plan.tasks:
            for draw, repeat, items in task.rounds():
                ids = [item.id for item in items]
                left: dict[EvaluationSeat, dict[str, int]] = {}
                for model in self._plan.models:
                    seat = self._plan.seat(task, draw, repeat, model)
                    pending = self._answers.pending(seat, ids, retry_failed=self._retry_failed)
                    left[seat] = dict(pending)
                    self._runner.count_present(len(ids) - len(pending))
                for item in spread(items):
                    for seat, epochs in left.items():
                        if self._stop.requested:
                            return
                        if item.id in epochs:
                            yield EvaluationJob(seat, task, item, epochs[item.id])

    # The stage

    def scenario_of(self, job: EvaluationJob) -> str:
        """Return the scenario of the item."""
        return job.item.scenario

    async def work(self, job: EvaluationJob) -> ReadReply:
        """Ask every question about the item."""
        prompts, item = job.task.prompts, job.item.asked
        steps = prompts.explain(item)
        told = await self._ask_each(job, [step.question for step in steps], "explain")
        explained = [step.found(reply.text) for step, reply in zip(steps, told, strict=True)]
        questions = prompts.questions(item, draw=job.seat.draw, explained=explained)
        replies = await self._ask_each(job, [asked.question for asked in questions], "label")
        return read_replies(questions, replies)

    async def record(self, job: EvaluationJob, result: ReadReply) -> None:
        """Store the answer."""
        answer = StoredAnswer(
            job.item.id, result.status, job.epoch, result.code, result.reason, result.content()
        )
        await self._answers.finish(job.seat, answer)
        self._readable.count(job.seat, result)

    async def record_failure(self, job: EvaluationJob, failure: JobFailure) -> None:
        """Store why no answer came, and what was asked."""
        seat = job.seat
        fields = {"item": job.item.id, "model": seat.model, "code": failure.code}
        _log.info("an item failed: %s", failure.reason, extra={"fields": fields})
        content = None
        if failure.code != INTERNAL:
            content = {"options": _options(job)}
        answer = StoredAnswer(job.item.id, FAILED, job.epoch, failure.code, failure.reason, content)
        await self._answers.finish(seat, answer, failure.traceback)

    async def _ask_each(
        self, job: EvaluationJob, questions: Iterable[Question[object]], purpose: str
    ) -> list[Replied]:
        """Ask questions that need no answer of each other."""
        calls = [partial(self._ask, job, question, purpose) for question in questions]
        return await each(calls, together=self._clients[job.seat.model].gathers)

    async def _ask(self, job: EvaluationJob, question: Question[T], purpose: str) -> Replied:
        seat = job.seat
        # Equal questions have equal seeds, whatever they are about: they are paid for once.
        ctx = CallContext(
            role=job.task.name,
            seed=seed_from("evaluation", self._plan.seed) + seat.repeat,
            epoch=job.epoch,
            case=job.item.id,
            purpose=purpose,
            turn=job.item.turn or 0,
        )
        sample = await self._clients[seat.model].ask_once(question, ctx)
        return Replied(sample.row.text, sample.row.finish)


def _options(job: EvaluationJob) -> dict[str, tuple[str, ...]]:
    """Return the options that the item would have been asked about with."""
    prompts, item = job.task.prompts, job.item.asked
    explained = [""] * len(prompts.explain(item))
    return options_of(prompts.questions(item, draw=job.seat.draw, explained=explained))


class _ReadableAnswers:
    """Stops before all items are paid for in vain: when nothing that a model says can be read."""

    def __init__(self, answers: AnswerLog, *, keep_going: bool) -> None:
        self._answers = answers
        self._readable: set[tuple[str, str, str]] = set()
        self._unreadable: Counter[tuple[str, str, str]] = Counter()
        self._keep_going = keep_going

    def count(self, seat: EvaluationSeat, result: ReadReply) -> None:
        """Count an answer of a model.

        Raises:
            MustStop: it is one of many, of which none could ever be read.
        """
        key = (seat.task, seat.mode, seat.model)
        if self._keep_going or key in self._readable:
            return
        if result.status == "answered" or self._answers.counts([seat])["answered"]:
            self._readable.add(key)
            return
        self._unreadable[key] += 1
        if self._unreadable[key] >= UNREADABLE_AT_FIRST:
            more = "raise --max-tokens" if result.code == TRUNCATED else "take another model"
            raise MustStop(
                f"nothing that {seat.model} says to {seat.task} ({seat.mode}) can be read, in"
                f" {self._unreadable[key]} answers; the last: {result.reason}",
                REFUSED,
                f"{more}; or count all such answers as wrong with --keep-going",
            )
