"""Gather what all live dialogues ask, send it in batches, and pick up what lies at the provider."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import orjson

from pipeline.batches.calls import PatientCalls
from pipeline.batches.gathered import Left, Queue
from pipeline.batches.journey import Journey, WaitingRequest
from pipeline.batches.surroundings import BatchRules, Surroundings
from pipeline.endpoints.endpoint import Unsettled
from pipeline.endpoints.gate import EndpointGates
from pipeline.endpoints.wait_rules import WaitRules
from pipeline.providers.batch_api import BatchApi, BatchLine
from pipeline.providers.batch_results import custom_id
from pipeline.providers.protocol import Provider, Reply, Request
from pipeline.providers.rate_limiter import ModelAddress, loop_time
from pipeline.providers.untrusted import json_object
from pipeline.spending.budget import Ledger, Reservation
from pipeline.stopping.stop import BUDGET, Stop
from pipeline.store.batches import BatchLog
from scenarios.plural import plural


def digest_of(request: Request, provider: Provider) -> bytes:
    """Return a hash of what is asked, by which another process knows it again.

    What was learned about the endpoint (fields it refuses, how many samples it gives) is not part
    of it: the next process may not know it yet.
    """
    parameters = request.parameters
    asked = [
        provider.name,
        provider.base_url,
        request.model,
        [[message.role, message.content] for message in request.messages],
        [parameters.temperature, parameters.top_p, parameters.max_tokens, dict(parameters.extra)],
        dict(request.schema),
        request.schema_name,
        request.seed,
    ]
    return hashlib.sha256(orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)).digest()


class Batcher:
    """The batches of one run; use it as a context, inside of which dialogues are played.

    Requests are gathered until nobody asks anything new, the oldest has waited for long enough, or
    a batch is full. When the run stops, requests that were not sent are given back and batches are
    left at the provider; only a run that stops for its budget waits for them, because they are paid.
    """

    def __init__(
        self,
        log: BatchLog,
        ledger: Ledger,
        stop: Stop,
        notice: Callable[[str], None],
        *,
        warn: Callable[[str], None] = lambda _: None,
        writing: Callable[[], bool] = lambda: False,
        rules: BatchRules | None = None,
        waits: WaitRules | None = None,
    ) -> None:
        """Join what the batches need of the run.

        Args:
            log: of its batches.
            ledger: its budget.
            stop: its stop.
            notice: is told of batches that end, and of those that are left.
            warn: is told of batches that are waited for, and of outages.
            writing: says whether answers are being written down: who waits for that asks next.
            rules: when a batch is sent and how often it is asked about.
            waits: how long an endpoint is waited for.
        """
        self._log = log
        self._ledger = ledger
        self._stop = stop
        self._notice = notice
        self._warn = warn
        self._writing = writing
        self._rules = rules or BatchRules()
        self._waits = waits or WaitRules()
        self._leaving = Stop()
        self._leaving.on_request(self._stop_run)
        self._over = False
        self._gates = EndpointGates(self._leaving, self._waits, warn, awaited=stop.awaited)
        self._queues: dict[ModelAddress, Queue] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._looker: asyncio.Task[None] | None = None
        self._asked = 0
        self._quiet = 0

    async def __aenter__(self) -> Self:
        self._looker = asyncio.create_task(self._look_on())
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        """Leave what lies at the provider; a batch that is being sent is written down first."""
        self._over = True
        self._leave(self._stop.reason or "the run is over", self._stop.code)
        if self._looker is not None:
            self._looker.cancel()
        tasks = list(self._tasks)
        try:
            if kind is not asyncio.CancelledError:
                await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
        self._tell_left()

    def _tell_left(self) -> None:
        """Say what stays at the provider."""
        left = [row for row in self._log.rows(left=True) if row.state != "ended"]
        if left:
            count = sum(row.requests for row in left)
            batches = "a batch" if len(left) == 1 else f"{len(left)} batches"
            self._notice(
                f"{batches} of {plural(count, 'request')} in all stay at the provider and are paid for;"
                " the same command picks them up"
            )

    # What senders ask for

    def held(self, request: Request, provider: Provider, api: BatchApi) -> Reservation | None:
        """Return what is held back for a request that lies at the provider already."""
        queue = self._queue(request, provider, api)
        digest = digest_of(request, provider)
        left = queue.left.get(digest)
        if not left:
            return None
        found = left.pop()
        waiting = WaitingRequest(request, digest, found.reservation, _future())
        queue.claimed[found.reservation.number] = waiting
        stored = self._log.result(found.row)
        if stored is not None:
            waiting.line.set_result(stored)
            return found.reservation
        found.journey.waiting[found.place] = waiting
        if found.journey.over:
            self._start(queue, found.journey)  # it says what became of requests without a result
        return found.reservation

    async def send(
        self, request: Request, reservation: Reservation, provider: Provider, api: BatchApi
    ) -> Reply:
        """Return what comes of a request in a batch.

        Raises:
            ProviderError: no answer came of it.
            Unsettled: the run stops.
        """
        queue = self._queue(request, provider, api)
        waiting = queue.claimed.pop(reservation.number, None)
        while True:
            if waiting is None:
                if self._stop.requested:
                    raise Unsettled(self._stop, sent=False)
                reservation.id = None
                waiting = WaitingRequest(
                    request, digest_of(request, provider), reservation, _future()
                )
                self._gather(queue, waiting)
            line = await waiting.line
            if line is not None:
                return api.read(json_object(line), request)
            waiting = None

    # Gathering

    def _gather(self, queue: Queue, waiting: WaitingRequest) -> None:
        if not queue.gathered:
            queue.oldest = loop_time()
        queue.gathered.append(waiting)
        self._asked += 1

    async def _look_on(self) -> None:
        """Look again and again at the stop and at what is gathered."""
        asked = -1
        while True:
            is_quiet = self._asked == asked and not self._coming()
            self._quiet = self._quiet + 1 if is_quiet else 0
            asked = self._asked
            self._look()
            await asyncio.sleep(self._rules.look_s)

    def _coming(self) -> bool:
        """Whether somebody is about to ask: answers are being written down, or results coming in."""
        journeys = (journey for queue in self._queues.values() for journey in queue.under_way)
        return self._writing() or any(journey.storing for journey in journeys)

    def _look(self) -> None:
        """Give requests back where the run stops, and send those whose time has come."""
        if self._stop.requested:
            for queue in self._queues.values():
                gathered, queue.gathered = queue.gathered, []
                for waiting in gathered:
                    waiting.fail(Unsettled(self._stop, sent=False))
            if self._stop.code != BUDGET:
                self._leave(self._stop.reason or "", self._stop.code)
            elif not self._stop.gives_way:
                self._wait_on()
            return
        for queue in self._queues.values():
            while self._is_due(queue):
                try:
                    self._cut(queue)
                except Exception as error:  # noqa: BLE001 - of a plugin's; whoever waits raises it
                    gathered, queue.gathered = queue.gathered, []
                    for waiting in gathered:
                        waiting.fail(error)

    def _wait_on(self) -> None:
        """Say that the run, whose budget is spent, waits for what is paid; an interrupt ends that."""
        journeys = [journey for queue in self._queues.values() for journey in queue.under_way]
        count = sum(not w.line.done() for journey in journeys for w in journey.waiting.values())
        if count:
            self._stop.gives_way = True
            self._warn(
                f"{self._stop.reason}; waiting for {plural(count, 'request')} in batches that are"
                " paid; Ctrl-C leaves them at the provider"
            )

    def _is_due(self, queue: Queue) -> bool:
        if not queue.gathered:
            return False
        rests_until = queue.rests_until
        if rests_until is not None and (queue.under_way or loop_time() < rests_until):
            return False
        waited = loop_time() - queue.oldest
        return (
            len(queue.gathered) >= self._most(queue)
            or self._quiet >= self._rules.quiet_looks
            or waited >= self._rules.age_s
        )

    def _most(self, queue: Queue) -> int:
        most = min(queue.around.api.most_requests, self._rules.most_requests)
        return min(most, queue.most) if queue.most else most

    def _cut(self, queue: Queue) -> None:
        """Send the oldest of what is gathered, as much as one batch holds."""
        api, token = queue.around.api, secrets.token_hex(8)
        lines: list[BatchLine] = []
        size = 0
        for place, waiting in enumerate(queue.gathered[: self._most(queue)]):
            line = api.line(custom_id(token, place), waiting.request)
            size += len(line.content) + 2
            if lines and size > api.most_bytes:
                break
            lines.append(line)
        taken, queue.gathered = queue.gathered[: len(lines)], queue.gathered[len(lines) :]
        queue.oldest = loop_time()
        count, rest_s = len(lines), self._rules.poll_s
        journey = Journey(
            queue.around,
            token,
            waiting=dict(enumerate(taken)),
            lines=lines,
            no_room=lambda error: queue.too_large(count, error, rest_s),
            had_room=queue.fitted,
        )
        self._start(queue, journey)

    def _start(self, queue: Queue, journey: Journey) -> None:
        journey.over = False
        queue.under_way.add(journey)
        task = asyncio.create_task(journey.run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: queue.under_way.discard(journey))

    def _leave(self, reason: str, code: str) -> None:
        self._leaving.request(reason, code)

    def _stop_run(self) -> None:
        """Stop the run where an endpoint is away for too long, before those who wait are told."""
        if not self._over and not self._stop.requested:
            self._stop.request(self._leaving.reason or "", self._leaving.code)

    # What is left of earlier processes

    def _queue(self, request: Request, provider: Provider, api: BatchApi) -> Queue:
        """Return the queue of a model; when it is first asked for, its batches are picked up."""
        address = ModelAddress(provider.name, provider.base_url, request.model)
        queue = self._queues.get(address)
        if queue is None:
            calls = PatientCalls(
                self._gates.gate(address),
                self._leaving,
                wait_s=self._waits.wait_s,
                sleep=asyncio.sleep,
                clock=loop_time,
            )
            around = Surroundings(
                api,
                calls,
                self._log,
                self._stop,
                self._rules,
                self._notice,
                self._warn,
                f"{provider.name}/{request.model}",
                provider.base_url or "",
            )
            queue = self._queues[address] = Queue(around)
            self._pick_up(queue)
        return queue

    def _pick_up(self, queue: Queue) -> None:
        """Go on with the batches that earlier processes have sent to a model."""
        around = queue.around
        for row in self._log.rows(left=True):
            if (row.model, row.base_url) != (around.model, around.base_url):
                continue
            journey = Journey(around, row.token, row=row, sent=True)
            lefts: list[tuple[bytes, Left]] = []
            for placed in self._log.requests(row.seq):
                held = self._ledger.take_over(placed.usd, placed.tokens, placed.seq)
                left = Left(journey, placed.place, placed.seq, held)
                lefts.append((placed.digest, left))
                queue.left.setdefault(placed.digest, []).append(left)
            journey.voided = lambda lefts=lefts: self._forget(queue, lefts)  # type: ignore[misc]
            if row.state == "ended":
                journey.over = True
            else:
                self._start(queue, journey)

    def _forget(self, queue: Queue, lefts: list[tuple[bytes, Left]]) -> None:
        """Give back what is held for requests that were never sent and not asked for again."""
        for digest, left in lefts:
            unasked = queue.left.get(digest, [])
            if left in unasked:
                unasked.remove(left)
                self._ledger.release(left.reservation)


@dataclass(frozen=True, slots=True)
class BatchSender:
    """Sends the requests to one provider in batches; satisfies :class:`pipeline.endpoints.endpoint.Sender`."""

    batcher: Batcher
    provider: Provider
    api: BatchApi
    takes_permit: bool = False

    def held(self, request: Request) -> Reservation | None:
        """Return what is held back for a request that lies at the provider already."""
        return self.batcher.held(request, self.provider, self.api)

    async def send(self, request: Request, reservation: Reservation) -> Reply:
        """Return what comes of a request in a batch."""
        return await self.batcher.send(request, reservation, self.provider, self.api)


def _future() -> asyncio.Future[bytes | None]:
    return asyncio.get_running_loop().create_future()
