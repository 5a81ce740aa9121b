"""One question to a model: remembered, asked once, read, made durable, repaired if unreadable."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from pipeline.accounting import RequestAttempt
from pipeline.answers import ReadChoice, choice_row, read_choice
from pipeline.call_keys import CallKeys
from pipeline.endpoint import Endpoint, Question
from pipeline.providers.protocol import Message
from pipeline.store.calls import ChoiceRow, RequestRow
from prompts.prompt import Rendered
from prompts.responses import ResponseFormat
from scenarios.errors import RunError

T = TypeVar("T")
Repair = Callable[[Rendered, str, Sequence[str]], Rendered]

REPAIRS = 2
"""How often a model is told what was wrong with its answer."""
EPOCH_STRIDE = 1_000_003
"""What a retry epoch adds to the seed: samples of different epochs never share one."""
READABLE_CANDIDATES = 2
"""A vote needs this many."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a call is for; everything but the seed and the epoch is only recorded."""

    role: str
    """Whose model is asked: ``initiator``, ``responder``, ``reflector``, or a judge's name."""
    seed: int
    epoch: int
    case: str
    purpose: str
    turn: int = 0


class AnswerUnusable(RunError):
    """The model answered, but not even after repairs in a way that could be read."""

    def __init__(self, code: str, reason: str) -> None:
        """Keep the status of the last answer as ``code``, and what was wrong with it."""
        super().__init__(reason)
        self.code = code
        self.reason = reason


class CallStore(Protocol):
    """Where calls are remembered; one for all clients of a run."""

    flights: MutableMapping[tuple[bytes, int], asyncio.Future[None]]
    """Questions being asked at this moment, by fingerprint and epoch."""

    def choices(
        self, fingerprint: bytes, samples: Sequence[int], epoch: int
    ) -> Mapping[int, ChoiceRow]:
        """Return the choices of ``epoch``, or else readable ones of earlier epochs, by sample."""

    def count_hits(self, n: int) -> None:
        """Count choices that were there already."""

    def record(
        self,
        fingerprint: bytes,
        messages: Sequence[tuple[str, str]],
        requests: Sequence[RequestRow],
        choices: Sequence[ChoiceRow],
    ) -> Awaitable[None]:
        """Queue rows for writing at once; awaiting the result waits until they are durable."""


class Client:
    """Asks the models of one arm; every reply is durable before anything is made of it.

    The clients of a run share its store, and with it what was asked before and what is being asked
    right now: the same question with the same parameters is paid for once.
    """

    def __init__(self, store: CallStore, endpoints: Mapping[str, Endpoint], arm: str = "") -> None:
        """Ask ``endpoints[role]`` for each role; ``arm`` is noted as the one who pays."""
        self._store = store
        self._endpoints = endpoints
        self._arm = arm
        self._keys = CallKeys(endpoints)

    async def ask(
        self, prompt: Rendered, fmt: ResponseFormat[T], ctx: CallContext, repair: Repair
    ) -> T:
        """Return what the model's answer says, after at most two repairs.

        Raises:
            AnswerUnusable: no answer could be read.
            ProviderError: the endpoint did not answer; its attempts are recorded.
            BudgetReached: asking could exceed the budget.
            Stopped: the run was asked to stop, and the answer was not known yet.
        """
        answers = await self._answers(prompt, fmt, ctx, (0,))
        answer = answers[0]
        if answer.reasons:
            return await self._repaired(prompt, fmt, ctx, answer, repair)
        return answer.get()

    async def ask_many(
        self, prompt: Rendered, fmt: ResponseFormat[T], ctx: CallContext, *, k: int, repair: Repair
    ) -> list[T | AnswerUnusable]:
        """Return ``k`` samples, at least two of them readable (one, where ``k`` is 1).

        Unreadable samples are repaired only where too few of the others can be read.

        Raises:
            AnswerUnusable: too few could be read, even after repairs.
            ProviderError: the endpoint did not answer; its attempts are recorded.
            BudgetReached: asking could exceed the budget.
            Stopped: the run was asked to stop, and not every sample was known yet.
        """
        answers = await self._answers(prompt, fmt, ctx, range(k))
        results: list[T | AnswerUnusable] = []
        for sample in range(k):
            answer = answers[sample]
            results.append(_unusable(answer, ctx) if answer.reasons else answer.get())
        needed = min(READABLE_CANDIDATES, k)
        for sample in range(k):
            if _readable(results) >= needed:
                break
            if isinstance(results[sample], AnswerUnusable):
                try:
                    repaired: T = await self._repaired(prompt, fmt, ctx, answers[sample], repair)
                    results[sample] = repaired
                except AnswerUnusable as error:
                    results[sample] = error
        if _readable(results) < needed:
            raise _too_few(results, needed)
        return results

    async def _repaired(
        self,
        prompt: Rendered,
        fmt: ResponseFormat[T],
        ctx: CallContext,
        answer: ReadChoice[T],
        repair: Repair,
    ) -> T:
        """Tell the model what was wrong until its answer can be read."""
        sample = answer.choice.sample
        for attempt in range(1, REPAIRS + 1):
            prompt = repair(prompt, answer.choice.text, answer.reasons)
            again = CallContext(
                ctx.role, ctx.seed, ctx.epoch, ctx.case, f"{ctx.purpose}/repair-{attempt}", ctx.turn
            )
            answer = (await self._answers(prompt, fmt, again, (sample,)))[sample]
            if not answer.reasons:
                return answer.get()
        raise _unusable(answer, ctx)

    async def _answers(
        self, prompt: Rendered, fmt: ResponseFormat[T], ctx: CallContext, samples: Sequence[int]
    ) -> dict[int, ReadChoice[T]]:
        """Return every sample: those that are known, and the others freshly asked for."""
        fingerprint = self._keys.fingerprint(prompt, fmt, ctx.role, ctx.seed)
        flight_key = (fingerprint, ctx.epoch)
        while True:
            known = self._store.choices(fingerprint, samples, ctx.epoch)
            missing = [sample for sample in samples if sample not in known]
            flight = self._store.flights.get(flight_key) if missing else None
            if flight is None:
                break
            await asyncio.wait([flight])
            flight.result()
        if known:
            self._store.count_hits(len(known))
        answers = {sample: read_choice(choice, fmt) for sample, choice in known.items()}
        if missing:
            answers.update(await self._fly(fingerprint, prompt, fmt, ctx, missing))
        return answers

    async def _fly(
        self,
        fingerprint: bytes,
        prompt: Rendered,
        fmt: ResponseFormat[T],
        ctx: CallContext,
        samples: Sequence[int],
    ) -> dict[int, ReadChoice[T]]:
        """Ask while others with the same question wait; they learn of an error, too."""
        flight: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._store.flights[fingerprint, ctx.epoch] = flight
        try:
            answers = await self._request(fingerprint, prompt, fmt, ctx, samples)
        except Exception as error:
            flight.set_exception(error)
            flight.exception()  # nobody need be waiting
            raise
        finally:
            del self._store.flights[fingerprint, ctx.epoch]
            if not flight.done():
                flight.set_result(None)
        return answers

    async def _request(
        self,
        fingerprint: bytes,
        prompt: Rendered,
        fmt: ResponseFormat[T],
        ctx: CallContext,
        samples: Sequence[int],
    ) -> dict[int, ReadChoice[T]]:
        """Ask the endpoint, read what comes, and make it durable, whatever else happens."""
        endpoint = self._endpoints[ctx.role]
        question = Question(
            messages=tuple(Message(m.role, m.content) for m in prompt.messages),
            schema=fmt.schema,
            schema_name=fmt.name,
            seed=ctx.seed + ctx.epoch * EPOCH_STRIDE,
        )
        attempts: list[RequestAttempt] = []
        try:
            await endpoint.ask(question, samples, attempts.append)
        except Exception:
            if attempts:
                await self._record(fingerprint, question, fmt, ctx, attempts)[1]
            raise
        except asyncio.CancelledError:
            # What had arrived was paid for: it is queued for writing, but nobody waits for it.
            if attempts:
                self._record(fingerprint, question, fmt, ctx, attempts)
            raise
        answers, durable = self._record(fingerprint, question, fmt, ctx, attempts)
        await durable
        return answers

    def _record(
        self,
        fingerprint: bytes,
        question: Question,
        fmt: ResponseFormat[T],
        ctx: CallContext,
        attempts: Sequence[RequestAttempt],
    ) -> tuple[dict[int, ReadChoice[T]], Awaitable[None]]:
        """Read every choice and queue everything for writing, each choice with its status."""
        endpoint = self._endpoints[ctx.role]
        answers: dict[int, ReadChoice[T]] = {}
        for attempt in attempts:
            for sample, choice in attempt.choices.items():
                answers.setdefault(sample, read_choice(choice_row(sample, ctx.epoch, choice), fmt))
        durable = self._store.record(
            fingerprint,
            [(message.role, message.content) for message in question.messages],
            [_request_row(attempt, endpoint, ctx, self._arm) for attempt in attempts],
            [answer.choice for answer in answers.values()],
        )
        return answers, durable


def _request_row(
    attempt: RequestAttempt, endpoint: Endpoint, ctx: CallContext, arm: str
) -> RequestRow:
    """Return an attempt as it is stored."""
    usage = attempt.usage
    return RequestRow(
        epoch=ctx.epoch,
        role=ctx.role,
        arm=arm,
        case=ctx.case,
        turn=ctx.turn,
        purpose=ctx.purpose,
        model=f"{endpoint.provider.name}/{endpoint.model}",
        sent_at=attempt.sent_at,
        latency_s=attempt.latency_s,
        code=attempt.code,
        status=attempt.status,
        message=attempt.message,
        request_id=attempt.request_id,
        structured=attempt.structured,
        omitted=attempt.omitted,
        n_asked=attempt.n_asked,
        n_got=attempt.n_got,
        prompt_tokens=None if usage is None else usage.prompt,
        completion_tokens=None if usage is None else usage.completion,
        cached_tokens=None if usage is None else usage.cached,
        reasoning_tokens=None if usage is None else usage.reasoning,
        cost_usd=attempt.cost_usd,
        charged_usd=attempt.charged_usd,
        charged_tokens=attempt.charged_tokens,
        reservation=attempt.reservation_id,
    )


def _unusable(answer: ReadChoice[Any], ctx: CallContext) -> AnswerUnusable:
    reasons = "; ".join(answer.reasons)
    return AnswerUnusable(answer.choice.status, f"{ctx.role}, {ctx.purpose}: {reasons}")


def _readable(results: Sequence[object]) -> int:
    return sum(not isinstance(result, AnswerUnusable) for result in results)


def _too_few(results: Sequence[object], needed: int) -> AnswerUnusable:
    """Say that a vote is impossible, with the commonest reason as the code."""
    errors = [result for result in results if isinstance(result, AnswerUnusable)]
    ((code, _),) = Counter(error.code for error in errors).most_common(1)
    return AnswerUnusable(
        code,
        f"{len(results) - len(errors)} of {len(results)} candidates could be read, "
        f"at least {needed} are needed; the last: {errors[-1].reason}",
    )
