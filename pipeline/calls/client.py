"""Send a question: cache lookup, de-duplicated request, parse, store, repair on parse failure."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from pipeline.calls.records import (
    CallContext,
    CallKeys,
    ParsedSample,
    choice_row,
    parse_sample,
)
from pipeline.calls.tracing import CallSpan, call_span, tracer_in_use
from pipeline.endpoints.endpoint import Endpoint, SampleRequest
from pipeline.endpoints.run_link import RunLink
from pipeline.providers.errors import BadRequest
from pipeline.spending.accounting import RequestAttempt
from pipeline.store.call_rows import CallReport, RequestOrigin
from pipeline.store.texts import parted
from prompts.question import Question
from scenarios.errors import RunError

T = TypeVar("T")

REPAIRS = 2
"""How often a model is told what was wrong with its answer."""
EPOCH_STRIDE = 1_000_003
"""What a retry epoch adds to the seed. A prime far above any number of samples: the seeds of two
epochs never meet."""
READABLE_CANDIDATES = 2
"""A vote needs this many."""


class AnswerUnusable(RunError):
    """The model answered, but not even after repairs in a way that could be read."""

    def __init__(self, code: str, reason: str) -> None:
        """Keep the status of the last answer as ``code``, and what was wrong with it."""
        super().__init__(reason)
        self.code = code
        self.reason = reason


InFlight = dict[tuple[bytes, int], asyncio.Future[None]]
"""Questions that are being asked at this moment, by cache key and epoch."""


class Client:
    """Asks the models of one arm; every reply is stored durably before it is returned.

    The clients of a run share its calls (``link``), and those in one process the table of requests
    in flight: the same question with the same parameters is paid for once.
    """

    def __init__(
        self,
        link: RunLink,
        endpoints: Mapping[str, Endpoint],
        arm: str = "",
        in_flight: InFlight | None = None,
    ) -> None:
        """Ask ``endpoints[role]`` for each role; ``arm`` is recorded as the one that pays."""
        self._link = link
        self._endpoints = endpoints
        self._arm = arm
        self._in_flight: InFlight = {} if in_flight is None else in_flight
        self._keys = CallKeys(endpoints)
        self.gathers = any(not endpoint.sender.takes_permit for endpoint in endpoints.values())
        self._tracer = tracer_in_use()

    async def ask(self, question: Question[T], ctx: CallContext) -> T:
        """Return the parsed answer, after at most two repairs.

        An answer that can be read but is objected to (:attr:`Question.objections`) is asked for
        once more; if what then comes is no better, it is kept as it is.

        Raises:
            AnswerUnusable: no answer could be read.
            ProviderError: the endpoint did not answer; its attempts are recorded.
            BudgetReached: asking could exceed the budget.
            Stopped: the run was asked to stop, and the answer was not in the cache.
        """
        sample = (await self._samples(question, ctx, (0,)))[0]
        return await self._usable(question, ctx, sample)

    async def ask_once(self, question: Question[T], ctx: CallContext) -> ParsedSample[T]:
        """Return an answer as it came, readable or not: nothing is repaired.

        Raises:
            ProviderError: the endpoint did not answer; its attempts are recorded.
            BudgetReached: asking could exceed the budget.
            Stopped: the run was asked to stop, and the answer was not in the cache.
        """
        return (await self._samples(question, ctx, (0,)))[0]

    async def ask_many(
        self, question: Question[T], ctx: CallContext, *, k: int
    ) -> list[T | AnswerUnusable]:
        """Return ``k`` samples, at least two of them readable (one, where ``k`` is 1).

        Unreadable samples are repaired only where too few of the others can be read, and one that
        is objected to only where there is none without objections: a vote passes such samples over.

        Raises:
            AnswerUnusable: too few could be read, even after repairs.
            ProviderError: the endpoint did not answer; its attempts are recorded.
            BudgetReached: asking could exceed the budget.
            Stopped: the run was asked to stop, and not every sample was in the cache.
        """
        samples = await self._samples(question, ctx, range(k))
        results: list[T | AnswerUnusable] = [
            self._unusable(samples[i], ctx) if samples[i].reasons else samples[i].get()
            for i in range(k)
        ]
        needed = min(READABLE_CANDIDATES, k)
        for i in range(k):
            if _readable(results) >= needed:
                break
            if isinstance(results[i], AnswerUnusable):
                try:
                    results[i] = await self._usable(question, ctx, samples[i])
                except AnswerUnusable as error:
                    results[i] = error
        if _readable(results) < needed:
            raise _too_few(results, needed)
        sound = [i for i in range(k) if not samples[i].reasons]
        if sound and all(
            isinstance(result, AnswerUnusable) or question.objections(result) for result in results
        ):
            results[sound[0]] = await self._usable(question, ctx, samples[sound[0]])
        return results

    async def _usable(self, question: Question[T], ctx: CallContext, sample: ParsedSample[T]) -> T:
        """Tell the model what was wrong with its answer until it can be used, at most twice.

        Objections to a readable answer are told only once: it is good enough to be kept. A model
        that will not play is asked in another frame, once, in the place of a repair.
        """
        index = sample.row.sample
        kept: ParsedSample[T] | None = None
        for attempt in range(1, REPAIRS + 1):
            wrong = sample.reasons or tuple(question.objections(sample.get()))
            if not wrong:
                return sample.get()
            if not sample.reasons:
                kept = sample
            if question.is_declined(sample.row.text, wrong):
                question, way = question.reframed(), "reframe"
            else:
                question, way = question.repair(sample.row.text, wrong), "repair"
            again = replace(ctx, purpose=f"{ctx.purpose}/{way}-{attempt}")
            try:
                sample = (await self._samples(question, again, (index,)))[index]
            except BadRequest:  # perhaps too long with the answer in it
                if kept is None:
                    raise
                return kept.get()
            if kept is not None:
                return (kept if sample.reasons else sample).get()
        if sample.reasons:
            raise self._unusable(sample, ctx)
        return sample.get()

    def _unusable(self, sample: ParsedSample[object], ctx: CallContext) -> AnswerUnusable:
        """Return the error of an unreadable answer: who was asked for what, and what is wrong."""
        reasons = "; ".join(sample.reasons)
        if sample.row.finish == "length":
            reasons += f" (max_tokens is {self._endpoints[ctx.role].parameters.max_tokens:,})"
        about = ctx.role if ctx.purpose == ctx.role else f"{ctx.role}, {ctx.purpose}"
        return AnswerUnusable(sample.row.status, f"{about}: {reasons}")

    async def _samples(
        self, question: Question[T], ctx: CallContext, indices: Sequence[int]
    ) -> dict[int, ParsedSample[T]]:
        """Return samples by index: those in the cache, and the others freshly asked for."""
        key = self._keys.key(question, ctx.role, ctx.seed)
        while True:
            cached = self._link.known(key, indices, ctx.epoch)
            missing = [index for index in indices if index not in cached]
            flight = self._in_flight.get((key, ctx.epoch)) if missing else None
            if flight is None:
                break
            # The same question is in flight: what it brings may be enough.
            await asyncio.wait([flight])
            flight.result()
        if cached:
            self._link.count_hits(len(cached))
        samples = {index: parse_sample(row, question.answer) for index, row in cached.items()}
        if missing:
            samples.update(await self._ask_in_flight(key, question, ctx, missing))
        for sample in samples.values():
            if sample.fault is not None:
                raise sample.fault
        return samples

    async def _ask_in_flight(
        self, key: bytes, question: Question[T], ctx: CallContext, indices: Sequence[int]
    ) -> dict[int, ParsedSample[T]]:
        """Send while callers with the same question wait; they get the same error, too."""
        flight: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._in_flight[key, ctx.epoch] = flight
        try:
            return await self._send_and_store(key, question, ctx, indices)
        except Exception as error:
            flight.set_exception(error)
            flight.exception()  # retrieved here: perhaps no other caller waits
            raise
        finally:
            del self._in_flight[key, ctx.epoch]
            if not flight.done():
                flight.set_result(None)

    async def _send_and_store(
        self, key: bytes, question: Question[T], ctx: CallContext, indices: Sequence[int]
    ) -> dict[int, ParsedSample[T]]:
        """Draw the samples; whatever arrives is parsed and stored, also where others failed."""
        endpoint = self._endpoints[ctx.role]
        request = SampleRequest(
            messages=question.messages,
            schema=question.answer.schema,
            schema_name=question.answer.name,
            bounds=question.answer.bounds,
            seed=ctx.seed + ctx.epoch * EPOCH_STRIDE,
            origin=RequestOrigin(
                ctx.epoch, ctx.role, self._arm, ctx.case, ctx.turn, ctx.purpose, endpoint.name
            ),
        )
        samples: dict[int, ParsedSample[T]] = {}
        written: list[Awaitable[None]] = []
        span: CallSpan

        def record(attempt: RequestAttempt) -> None:
            # At once, also where it failed and is tried again: a process that dies while it waits
            # leaves nothing behind that counts as paid and was not.
            arrived = _parsed(attempt, question, ctx.epoch)
            written.append(self._record(key, question, attempt, arrived))
            samples.update(arrived)
            span.add(attempt)

        try:
            with call_span(self._tracer, endpoint, request, len(indices)) as span:
                await endpoint.ask(request, indices, record)
        except Exception:
            await asyncio.gather(*written)
            raise
        # A cancelled question does not wait: what had arrived is on its way to the disk.
        if len(written) == 1:
            await written[0]
        else:
            await asyncio.gather(*written)
        return samples

    def _record(
        self,
        key: bytes,
        question: Question[T],
        attempt: RequestAttempt,
        samples: Mapping[int, ParsedSample[T]],
    ) -> Awaitable[None]:
        """Queue one request for writing with what it brought, each sample with its status."""
        return self._link.record(
            CallReport(
                key,
                parted((message.role, message.content) for message in question.messages),
                (attempt.row,),
                tuple(sample.row for sample in samples.values()),
            )
        )


def _parsed(
    attempt: RequestAttempt, question: Question[T], epoch: int
) -> dict[int, ParsedSample[T]]:
    """Read every sample that a request brought."""
    return {
        index: parse_sample(choice_row(index, epoch, choice), question.answer)
        for index, choice in attempt.choices.items()
    }


def _readable(results: Sequence[object]) -> int:
    return sum(not isinstance(result, AnswerUnusable) for result in results)


def _too_few(results: Sequence[object], needed: int) -> AnswerUnusable:
    """Return the error of a vote that is impossible, with the commonest reason as the code."""
    errors = [result for result in results if isinstance(result, AnswerUnusable)]
    ((code, _),) = Counter(error.code for error in errors).most_common(1)
    return AnswerUnusable(
        code,
        f"{len(results) - len(errors)} of {len(results)} candidates could be read, "
        f"at least {needed} are needed; the last: {errors[-1].reason}",
    )
