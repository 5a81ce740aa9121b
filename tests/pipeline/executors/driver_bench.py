"""A driver and its workers in one event loop, and the run that they play."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pipeline.endpoints.run_link import LocalRun, PermitRequest, RunLink, Settlement
from pipeline.executors.driver import Driver
from pipeline.executors.frames import Stream
from pipeline.executors.messages import (
    FromDriver,
    Ready,
    from_driver,
)
from pipeline.executors.worker import work
from pipeline.playing.engine import Player
from pipeline.providers.rate_limiter import ModelAddress, RateLimiters, RateLimits
from pipeline.spending.budget import Ledger
from pipeline.stopping.stop import Stop
from pipeline.store.call_rows import CallReport
from pipeline.store.run_store import RunStore
from scenarios.case import Case
from scenarios.dialogue import Dialogue, Turn
from tests.factories import make_choice_row, make_request_row

WORST = PermitRequest(None, 10, 0.5, 100, "responder")
KEY = b"\x01" * 32
M = TypeVar("M")
Play = Callable[["Asking", Case], Awaitable[None]]


@dataclass(slots=True)
class Asking:
    """Plays by asking the run for one permit; ``before`` is done while it is held."""

    link: RunLink
    arm: str
    worker: int
    before: Play
    hits: list[int]

    async def play(self, case: Case, epoch: int) -> Dialogue:
        if self.link.known(KEY, [0], epoch):
            self.hits.append(self.worker)
            self.link.count_hits(1)
        else:
            permit = await self.link.permit(WORST)
            await self.before(self, case)
            row = make_request_row(
                case=case.id, charged_usd=0.1, charged_tokens=7, reservation=permit.reservation.id
            )
            self.link.settle(Settlement(permit, row, "answered"))
            report = CallReport(KEY, (("user", (case.id,)),), (row,), (make_choice_row(),))
            await self.link.record(report)
        return Dialogue(case, self.arm, (Turn(0, "initiator", str(self.worker), "opening"),))


async def _at_once(_: Asking, __: Case) -> None:
    """Hold the permit no longer."""


@dataclass
class Bench:
    """A driver, workers in the same loop, and the run that they play."""

    store: RunStore
    before: Play = _at_once
    stop: Stop = field(default_factory=Stop)
    driver: Driver = field(default_factory=lambda: Driver({"players": "two"}))
    workers: list[asyncio.Task[None]] = field(default_factory=list)
    links: list[RunLink] = field(default_factory=list)
    hits: list[int] = field(default_factory=list)
    by_hand: list[Stream[FromDriver]] = field(default_factory=list)
    port: int = 0

    def __post_init__(self) -> None:
        self.ledger = Ledger(budget_usd=10.0, log=self.store.calls)
        self.link = LocalRun(self.store.calls, self.ledger, RateLimiters(RateLimits()), self.stop)

    @asynccontextmanager
    async def build(
        self, material: Mapping[str, Any], link: RunLink, notice: Callable[[str], None]
    ) -> AsyncIterator[Mapping[str, Player]]:
        assert material == {"players": "two"}
        worker = len(self.links)
        self.links.append(link)
        yield {arm: Asking(link, arm, worker, self.before, self.hits) for arm in ("a", "b")}

    def join(self) -> None:
        joining = work("127.0.0.1", self.port, self.driver.token, self.build, name="w")
        self.workers.append(asyncio.ensure_future(joining))

    async def join_by_hand(self, name: str) -> Stream[FromDriver]:
        """Join as a worker that is ready, and does nothing by itself from now on."""
        before = len(self.driver._sessions)
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        stream: Stream[FromDriver] = Stream(reader, writer, from_driver)
        await stream.join(self.driver.token)
        stream.send(Ready(name))
        await self.driver.ready(before + 1)
        self.by_hand.append(stream)
        return stream

    @asynccontextmanager
    async def driving(self, workers: int) -> AsyncIterator[Mapping[str, Player]]:
        self.port = await self.driver.listen()
        for _ in range(workers):
            self.join()
        try:
            await self.driver.ready(workers)
            yield self.driver.players(("a", "b"), self.link, timeout_for=lambda _: 60.0)
        finally:
            for worker in self.by_hand:
                await worker.close()
            await self.driver.close()
            await asyncio.gather(*self.workers, return_exceptions=True)


def said(dialogue: Dialogue) -> str:
    return dialogue.turns[0].text


HTTP = ModelAddress("compatible", "http://127.0.0.1:9/v1", "m")


async def until(wanted: type[M], worker: Stream[FromDriver]) -> M:
    """Wait until a worker that does nothing by itself is sent a message of a kind."""
    while True:
        for message in await worker.receive():
            if isinstance(message, wanted):
                return message
