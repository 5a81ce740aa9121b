"""One worker as the driver sees it: the jobs it plays, and the leases it holds."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pipeline.calls.tracing import open_span
from pipeline.endpoints.run_link import LocalRun, Permit, Settlement
from pipeline.executors.frames import Stream, StreamBroken
from pipeline.executors.messages import (
    AskPermit,
    Bye,
    Denied,
    Drop,
    Durable,
    Ended,
    FromWorker,
    GiveBack,
    Granted,
    Hits,
    NotDurable,
    Notice,
    Ping,
    Play,
    Pong,
    Report,
    Settled,
    StopNow,
)
from pipeline.executors.prompt_texts import ReceivedTexts
from pipeline.executors.worker import as_failure
from pipeline.playing.engine import Job
from pipeline.playing.runner import JobFailed
from pipeline.stopping.open_requests import OpenRequests
from pipeline.stopping.stop import Stop
from pipeline.store.call_rows import RequestRow
from scenarios.dialogue import Dialogue, Turn
from scenarios.errors import RunError

LOOK_S = 5.0
"""Pause between two questions whether a worker is there."""
DOUBTED_S = 10.0
"""A worker that has been silent for so long is waited for by nobody else, nor by a run that stops and
has nothing in flight there."""
SILENT_S = 60.0
"""A worker that has been silent for so long counts as gone."""
SILENT_WITH_PLUGINS_S = 600.0
"""The same where code of plugins runs in it, which may compute on its event loop meanwhile."""


class WorkerLost(RunError):
    """The worker that played a job is gone; another one may play it."""


@dataclass(frozen=True, slots=True)
class SharedRun:
    """What the sessions of all workers use of the run."""

    link: LocalRun
    timeout_for: Callable[[str], float]
    """Seconds usually allowed for a request to a provider."""


@dataclass(slots=True)
class _Lease:
    permit: Permit
    granted_at: float
    """Unix time in seconds."""
    open_request: int
    """Its number in the register of what is in flight."""


class WorkerSession:
    """Serves one worker, from the moment its players are built until its stream ends."""

    def __init__(
        self,
        stream: Stream[FromWorker],
        name: str,
        shared: Callable[[], SharedRun],
        notice: Callable[[str], None],
        silent_s: float,
    ) -> None:
        """Serve a worker.

        Args:
            stream: to it.
            name: of it.
            shared: returns what the run is, or raises ValueError as long as it has not begun.
            notice: is told what people want to know.
            silent_s: how long it may be silent before it counts as gone.
        """
        self.name = name
        self.ended = 0
        """How many jobs have ended here."""
        self.is_given_up = False
        """Whether it counts as gone although its process may be there: it does not answer."""
        self._stream = stream
        self._shared = shared
        self._notice = notice
        self._most_silent_s = silent_s
        self._silent_s = 0.0
        """How long nothing has come of it: while this process stands still, nothing is added."""
        self._numbers = 0
        self._playing: dict[int, tuple[Job, asyncio.Future[tuple[Turn, ...]]]] = {}
        self._cases: Counter[str] = Counter()
        """How many jobs it has of each case."""
        self._asking: dict[int, asyncio.Task[None]] = {}
        self._leases: dict[int, _Lease] = {}
        self._settled: dict[int, RequestRow] = {}
        """Rows of settled permits that no report has named yet: the worker says both at once."""
        self._texts = ReceivedTexts()
        self._lost = False

    @property
    def load(self) -> int:
        """How many jobs it has."""
        return len(self._playing)

    def plays(self, case: str) -> bool:
        """Whether it has a job of a case: another of the same case shares what is in flight."""
        return case in self._cases

    async def play(self, job: Job) -> Dialogue:
        """Have a job played.

        Raises:
            JobFailed: it failed there.
            WorkerLost: the worker is gone.
        """
        self._numbers += 1
        number = self._numbers
        ended: asyncio.Future[tuple[Turn, ...]] = asyncio.get_running_loop().create_future()
        self._playing[number] = (job, ended)
        self._cases[job.case.id] += 1
        self._stream.send(Play.of(number, job, open_span()))
        try:
            return Dialogue(job.case, job.arm, await ended)
        except asyncio.CancelledError:
            self._stream.send(Drop(number))
            raise
        finally:
            del self._playing[number]
            self._cases[job.case.id] -= 1
            if not self._cases[job.case.id]:
                del self._cases[job.case.id]

    @property
    def _open_requests(self) -> OpenRequests:
        return self._shared().link.stop.in_flight

    def tell_stop(self, stop: Stop) -> None:
        """Have the worker send nothing new."""
        self._stream.send(StopNow(stop.reason or "", stop.code, stop.advice))

    def dismiss(self) -> None:
        """Have the worker break off what is left, and end."""
        self._stream.send(Bye())

    async def serve(self) -> None:
        """Do what the worker asks until it is gone; what it held is given back or charged.

        Raises:
            StreamBroken: it is gone, or does not keep to the protocol.
        """
        watching = asyncio.get_running_loop().create_task(self._watch())
        try:
            while True:
                messages = await self._stream.receive()
                self._silent_s = 0.0
                for message in messages:
                    self._take(message)
        except (KeyError, ValueError) as error:
            raise StreamBroken(f"worker {self.name} does not keep to the protocol") from error
        finally:
            watching.cancel()
            self._lose()

    async def _watch(self) -> None:
        """Break the stream of a worker that is halted: nothing else would ever end its jobs."""
        while True:
            self._stream.send(Ping())
            await asyncio.sleep(LOOK_S)
            self._silent_s += LOOK_S
            if self._silent_s > DOUBTED_S:
                for lease in self._leases.values():
                    self._shared().link.make_way(lease.permit)
            if self._silent_s > (DOUBTED_S if self._only_stops() else self._most_silent_s):
                self._notice(f"worker {self.name} does not answer any more: it counts as gone")
                self.is_given_up = True
                self._stream.abort()
                return

    def _only_stops(self) -> bool:
        """Whether the run stops and has nothing in flight here: what is left stays pending."""
        try:
            return self._shared().link.stop.requested and not self._leases
        except ValueError:  # it has not begun
            return False

    def _take(self, message: FromWorker) -> None:
        """Do what one message says.

        Raises:
            KeyError: it is about something that the worker does not have.
            ValueError: it is said twice, or written in another way.
            StreamBroken: it cannot be said by a worker at work.
        """
        if isinstance(message, AskPermit):
            self._ask(message)
        elif isinstance(message, Settled):
            self._settle(message)
        elif isinstance(message, Report):
            self._record(message)
        elif isinstance(message, Ended):
            self._end(message)
        elif isinstance(message, GiveBack):
            self._give_back(message.number)
        elif isinstance(message, Hits):
            self._shared().link.count_hits(message.count)
        elif isinstance(message, Notice):
            self._notice(message.text)
        elif isinstance(message, Pong):
            pass  # as much as any other message says: it is there
        else:
            raise StreamBroken(f"worker {self.name} sent {message.kind!r} while it worked")

    # Leases

    def _ask(self, message: AskPermit) -> None:
        if any(message.number in held for held in (self._asking, self._leases, self._settled)):
            raise ValueError(f"permit {message.number} is asked for twice")
        task = asyncio.get_running_loop().create_task(self._permit(message))
        self._asking[message.number] = task

    async def _permit(self, message: AskPermit) -> None:
        """Wait for a permit and lease it to the worker."""
        number, request = message.number, message.request
        began = time.monotonic()
        try:
            permit = await self._shared().link.permit(request)
        except Exception as error:  # noqa: BLE001 - told to whoever asked, and raised there
            self._stream.send(Denied(number, as_failure(error)))
            return
        finally:
            self._asking.pop(number, None)
        if self._lost:
            self._shared().link.give_back(permit)
            return
        address = request.address
        timeout_s = self._shared().timeout_for("" if address is None else address.provider)
        open_request = self._open_requests.begin(timeout_s * request.patience)
        self._leases[number] = _Lease(permit, time.time(), open_request)
        self._stream.send(
            Granted(
                number,
                permit.reservation.id,
                permit.admission,
                self._shared().link.keeps_to_rate(request.endpoint),
                time.monotonic() - began,
                permit.excess,
            )
        )

    def _settle(self, message: Settled) -> None:
        lease = self._leases.pop(message.number)
        self._settled[message.number] = message.row
        self._open_requests.end(lease.open_request)
        self._shared().link.settle(
            Settlement(
                lease.permit,
                message.row,
                message.outcome,
                message.retry_after_s,
                message.hint,
                message.excess,
            )
        )

    def _give_back(self, number: int) -> None:
        """Take a permit back that nothing was sent with; it may not be granted yet."""
        asking = self._asking.pop(number, None)
        if asking is not None:
            asking.cancel()
            return
        lease = self._leases.pop(number, None)
        if lease is not None:  # else it was denied, and the two messages crossed
            self._open_requests.end(lease.open_request)
            self._shared().link.give_back(lease.permit)

    # Replies and endings

    def _record(self, message: Report) -> None:
        """Queue a report for writing, and acknowledge it when it is durable.

        Raises:
            KeyError: it names a permit that was not settled, or is in another report.
            ValueError: its key is no hexadecimal digits, or a part of its prompt was not sent.
        """
        requests = tuple(self._settled.pop(number) for number in message.settled)
        report = message.report(requests, self._texts)

        def acknowledge(written: asyncio.Future[Any]) -> None:
            error = None if written.cancelled() else written.exception()
            if isinstance(error, Exception):
                self._stream.send(NotDurable(message.number, as_failure(error)))
            elif not written.cancelled():
                self._stream.send(Durable(message.number))

        try:
            written = asyncio.ensure_future(self._shared().link.record(report))
        except RunError as error:  # the store is closed
            self._stream.send(NotDurable(message.number, as_failure(error)))
            return
        written.add_done_callback(acknowledge)

    def _end(self, message: Ended) -> None:
        self.ended += 1
        playing = self._playing.get(message.number)
        if playing is None or playing[1].done():  # nobody waits for it any more
            return
        if message.failure is None:
            playing[1].set_result(message.turns)
        else:
            playing[1].set_exception(JobFailed(message.failure))

    def _lose(self) -> None:
        """Hand the jobs back, and charge what the worker may have sent at its worst."""
        self._lost = True
        for asking in self._asking.values():
            asking.cancel()
        for lease in self._leases.values():
            self._open_requests.end(lease.open_request)
            self._shared().link.lose(lease.permit, lease.granted_at)
        self._leases.clear()
        for row in self._settled.values():  # it was gone before it could report them
            self._shared().link.record_alone(row)
        self._settled.clear()
        for _, ended in self._playing.values():
            if not ended.done():
                ended.set_exception(WorkerLost(f"worker {self.name} is gone"))
