"""A run whose store is in another process, as the clients of a worker see it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

from pipeline.endpoints.run_link import Permit, PermitRequest, Settlement
from pipeline.executors.frames import Stream, StreamBroken
from pipeline.executors.messages import (
    AskPermit,
    Denied,
    Durable,
    FromDriver,
    GiveBack,
    Granted,
    Hits,
    NotDurable,
    Report,
    Settled,
)
from pipeline.executors.prompt_texts import SentTexts
from pipeline.playing.runner import JobFailed, JobFailure
from pipeline.providers.rate_limiter import ModelAddress
from pipeline.spending.budget import Reservation
from pipeline.stopping.stop import MustStop, Stop, Stopped
from pipeline.store.call_rows import CallReport, ChoiceRow, RequestRow
from pipeline.store.calls import KnownChoice
from pipeline.store.excess import NO_EXCESS, Excess
from scenarios.errors import UsageError

LEASE_S = 0.25
"""How long a permit may travel that holds a place in the rate of its endpoint: many that come late
would be sent at once. One that took longer goes back, once, and another is asked for."""

Samples = dict[int, dict[int, ChoiceRow]]
"""By sample index and epoch."""


class RemoteRun:
    """Satisfies :class:`~pipeline.endpoints.run_link.RunLink` by messages to the driver.

    A permit is a lease: the driver holds a place at the endpoint, a token of its rate and the worst
    case in dollars for it, until the worker settles it or is gone. What was drawn before is known
    from the jobs that are under way and from what the worker itself reported for their cases.
    """

    def __init__(self, stream: Stream[FromDriver]) -> None:
        """Ask over ``stream``; give every answer that comes over it to :meth:`take`."""
        self.stop = Stop()
        self._stream = stream
        self._numbers = 0
        self._asked: dict[int, asyncio.Future[Granted]] = {}
        self._reported: dict[int, tuple[CallReport, asyncio.Future[None]]] = {}
        self._settled: dict[int, tuple[int, RequestRow]] = {}
        """Rows that the driver has and no report names yet, with the number of their permit, by the
        identity of the object, which is kept with it."""
        self._texts = SentTexts()
        self._known: dict[bytes, Samples] = {}
        self._cases: dict[str, set[bytes]] = {}
        """The keys that are known for the sake of each case."""

    # RunLink

    def known(self, key: bytes, samples: Sequence[int], epoch: int) -> Mapping[int, ChoiceRow]:
        """Return samples that were drawn before; see :meth:`RunLink.known`."""
        by_sample = self._known.get(key)
        if by_sample is None:
            return {}
        rows = {}
        for sample in samples:
            usable = [
                (e, row)
                for e, row in by_sample.get(sample, {}).items()
                if e == epoch or (e < epoch and row.status == "ok")
            ]
            if usable:
                rows[sample] = max(usable, key=lambda of_epoch: of_epoch[0])[1]
        return rows

    def count_hits(self, count: int) -> None:
        """Have the driver count them."""
        self._stream.send(Hits(count))

    def excess_of(self, address: ModelAddress | None) -> Excess:
        """Return nothing: what the driver knows comes with each permit."""
        return NO_EXCESS

    async def permit(self, request: PermitRequest) -> Permit:
        """Wait for the driver's permission; see :meth:`RunLink.permit`."""
        number, granted, is_late = await self._granted(request)
        if is_late:
            self._stream.send(GiveBack(number))
            number, granted, _ = await self._granted(request)
        worst = 0.0 if request.usd is None else request.usd
        reservation = Reservation(number, worst, request.tokens, granted.reservation)
        permit = Permit(request, reservation, granted.admission, excess=granted.excess)
        if self.stop.requested:
            self.give_back(permit)
            self.stop.check()
        return permit

    def give_back(self, permit: Permit) -> None:
        """Tell the driver that nothing was sent with a permit."""
        self._stream.send(GiveBack(permit.reservation.number))

    def settle(self, settlement: Settlement) -> None:
        """Tell the driver what a request came to."""
        number, row = settlement.permit.reservation.number, settlement.row
        self._settled[id(row)] = (number, row)
        self._stream.send(
            Settled(
                number,
                row,
                settlement.outcome,
                settlement.retry_after_s,
                settlement.hint,
                settlement.excess,
            )
        )

    def record(self, report: CallReport) -> Awaitable[None]:
        """Send a report; awaiting the result waits until the driver's commit is acknowledged.

        Raises:
            KeyError: a request of it has not been settled before, or is in another report.
        """
        settled = tuple(self._settled.pop(id(row))[0] for row in report.requests)
        number = self._next()
        durable: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._reported[number] = (report, durable)
        self._stream.send(Report.of(number, report, settled, self._texts))
        return durable

    # The cases under way

    def begin(self, case: str, known: Sequence[KnownChoice]) -> None:
        """Learn what was drawn for a case before a job of it begins."""
        self._cases.setdefault(case, set())
        for one in known:
            self._learn(case, one.key, [one.choice])

    def forget(self, case: str) -> None:
        """Forget the samples of a case: no job of it is under way any more."""
        for key in self._cases.pop(case, ()):
            self._known.pop(key, None)

    def _learn(self, case: str, key: bytes, choices: Sequence[ChoiceRow]) -> None:
        keys = self._cases.get(case)
        if keys is None:
            return
        keys.add(key)
        by_sample = self._known.setdefault(key, {})
        for choice in choices:
            by_sample.setdefault(choice.sample, {}).setdefault(choice.epoch, choice)

    # Answers of the driver

    def take(self, answer: Granted | Denied | Durable | NotDurable) -> None:
        """Hand an answer to whoever waits for it; one that nobody waits for is dropped."""
        if isinstance(answer, Granted | Denied):
            asked = self._asked.get(answer.number)
            if asked is None or asked.done():
                return
            if isinstance(answer, Granted):
                asked.set_result(answer)
            else:
                asked.set_exception(raised(answer.failure))
            return
        report, durable = self._reported.pop(answer.number)
        if isinstance(answer, NotDurable):
            _fail(durable, raised(answer.failure))
            return
        for request in report.requests[:1]:
            self._learn(request.case, report.key, report.choices)
        if not durable.done():
            durable.set_result(None)

    def end(self, why: StreamBroken) -> None:
        """Let nobody wait or send any more: the driver is gone."""
        self.stop.request(str(why))
        for asked in self._asked.values():
            _fail(asked, why)
        for _, durable in self._reported.values():
            _fail(durable, why)

    async def _granted(self, request: PermitRequest) -> tuple[int, Granted, bool]:
        """Ask for a permit; return its number, the grant, and whether that came too late."""
        self.stop.check()
        number = self._next()
        asked_at = time.monotonic()
        granted = await self._answer(number, request)
        travelled_s = time.monotonic() - asked_at - granted.waited_s
        return number, granted, granted.paced and travelled_s > LEASE_S

    async def _answer(self, number: int, request: PermitRequest) -> Granted:
        asked: asyncio.Future[Granted] = asyncio.get_running_loop().create_future()
        self._asked[number] = asked
        self._stream.send(AskPermit(number, request))
        try:
            return await asked
        except asyncio.CancelledError:
            self._stream.send(GiveBack(number))  # it may be granted already, and on its way
            raise
        finally:
            del self._asked[number]

    def _next(self) -> int:
        self._numbers += 1
        return self._numbers


def raised(failure: JobFailure) -> Exception:
    """Return what a failure of the driver is raised as in a worker, as it would be in one process."""
    if failure.kind == "pending":
        return Stopped(failure.reason, failure.code)
    if failure.kind == "stop":
        return MustStop(failure.reason, failure.code, failure.hint)
    if failure.kind == "usage":
        return UsageError(failure.reason, failure.hint)
    return JobFailed(failure)


def _fail(future: asyncio.Future[Any], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
        future.exception()  # retrieved here: perhaps nobody waits for it
