"""Driver and workers in one event loop: who plays what, and what becomes of what a worker held."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from pipeline.budget import Ledger
from pipeline.engine import Player
from pipeline.executors import driver as driver_module
from pipeline.executors import frames, worker_session
from pipeline.executors.driver import MOST_LOST, WORKER_LOST, Driver
from pipeline.executors.frames import Stream, StreamBroken
from pipeline.executors.messages import (
    AskPermit,
    Bye,
    FromDriver,
    FromWorker,
    GiveBack,
    Granted,
    Hits,
    Ready,
    Report,
    Settled,
    from_driver,
)
from pipeline.executors.messages import Play as PlayJob
from pipeline.executors.remote_run import RemoteRun
from pipeline.executors.worker import work
from pipeline.providers.rate_limiter import ModelAddress, RateLimiters, RateLimits
from pipeline.run_link import LocalRun, PermitRequest, RunLink, Settlement
from pipeline.runner import JobFailed
from pipeline.stop import BUDGET, STORE, Stop, Stopped
from pipeline.store.call_rows import CallReport
from pipeline.store.run_store import RunStore
from scenarios.case import Case
from scenarios.dialogue import Dialogue, Turn
from scenarios.errors import UsageError
from scenarios.run_configuration import RunConfiguration
from tests.factories import make_case, make_choice_row, make_request_row
from tests.pipeline.integration.records import count, rows

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


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore.create(tmp_path / "run", RunConfiguration()) as opened:
        yield opened


def said(dialogue: Dialogue) -> str:
    return dialogue.turns[0].text


HTTP = ModelAddress("compatible", "http://127.0.0.1:9/v1", "m")


@pytest.fixture
def looking_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a worker be asked every few milliseconds whether it is there."""
    monkeypatch.setattr(worker_session, "LOOK_S", 0.01)
    monkeypatch.setattr(worker_session, "DOUBTED_S", 0.05)


def watched(store: RunStore, told: list[str], silent_s: float = 0.05) -> Bench:
    """Return a run whose workers may be silent for a moment, or for long."""
    return Bench(store, driver=Driver({"players": "two"}, notice=told.append, silent_s=silent_s))


async def until(wanted: type[M], worker: Stream[FromDriver]) -> M:
    """Wait until a worker that does nothing by itself is sent a message of a kind."""
    while True:
        for message in await worker.receive():
            if isinstance(message, wanted):
                return message


@pytest.mark.anyio
@pytest.mark.usefixtures("looking_often")
@pytest.mark.parametrize("request_out", [True, False], ids=["a request out", "in a pause"])
async def test_what_a_halted_worker_has_is_charged_and_played_by_another(
    store: RunStore, *, request_out: bool
) -> None:
    told, killed = list[str](), list[str]()
    bench = watched(store, told)
    async with bench.driving(0) as players:
        worker = await bench.join_by_hand("halted")
        with bench.driver.ended_by("halted", lambda: killed.append("halted")):
            playing = asyncio.ensure_future(players["a"].play(make_case(), 0))
            await until(PlayJob, worker)
            if request_out:
                worker.send(AskPermit(1, WORST))
                await until(Granted, worker)
            bench.join()
            time.sleep(0.1)  # where the driver itself stands still, nobody is silent
            assert said(await asyncio.wait_for(playing, 10)) == "0"
    assert told == ["worker halted does not answer any more: it counts as gone"]
    assert killed == ["halted"]
    lost = "select charged_usd from requests where code = 'lost'"
    assert rows(store.folder, lost) == ([(0.5,)] if request_out else [])
    assert bench.ledger.held_usd == 0.0


@pytest.mark.anyio
@pytest.mark.usefixtures("looking_often")
async def test_what_a_halted_worker_has_stays_pending_where_a_run_stops_with_nothing_in_flight(
    store: RunStore,
) -> None:
    bench = watched(store, [], silent_s=600.0)
    async with bench.driving(0) as players:
        worker = await bench.join_by_hand("halted")
        playing = asyncio.ensure_future(players["a"].play(make_case(), 0))
        await until(PlayJob, worker)
        bench.stop.request("interrupted")
        with pytest.raises(Stopped):
            await asyncio.wait_for(playing, 10)


@pytest.mark.anyio
@pytest.mark.usefixtures("looking_often")
async def test_others_do_not_wait_for_a_call_that_a_halted_worker_makes_alone(
    store: RunStore,
) -> None:
    first = PermitRequest(HTTP, 10, 0.5, 100, "responder")
    bench = watched(store, [], silent_s=600.0)
    async with bench.driving(0):
        worker = await bench.join_by_hand("halted")
        worker.send(AskPermit(1, first))
        await until(Granted, worker)
        bench.link.give_back(await asyncio.wait_for(bench.link.permit(first), 10))


@pytest.mark.anyio
async def test_what_a_stop_waits_for_takes_as_long_as_the_request_may(store: RunStore) -> None:
    bench = Bench(store)
    async with bench.driving(0):
        worker = await bench.join_by_hand("slow")
        worker.send(AskPermit(1, PermitRequest(HTTP, 10, 0.5, 100, "responder", patience=4)))
        await until(Granted, worker)
        assert 200.0 < bench.stop.in_flight.summary().left_s <= 240.0


@pytest.mark.anyio
async def test_workers_that_have_not_joined_or_do_not_leave_are_ended_once_a_run_is_over(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver_module, "FAREWELL_S", 0.01)
    killed = list[str]()
    bench = Bench(store)
    async with bench.driving(1):
        await bench.join_by_hand("halted")
        with ExitStack() as processes:
            for name in ("w", "halted", "starting"):
                kill = partial(killed.append, name)
                processes.enter_context(bench.driver.ended_by(name, kill))
            await bench.driver.close()
    assert killed == ["starting", "halted"]


@pytest.mark.anyio
async def test_jobs_are_shared_and_those_of_a_case_under_way_go_to_one_worker(
    store: RunStore,
) -> None:
    go = asyncio.Event()

    async def wait(_: Asking, __: Case) -> None:
        await go.wait()

    bench = Bench(store, wait)
    cases = [make_case(repetition=number) for number in range(4)]
    async with bench.driving(2) as players:
        playing = [
            asyncio.ensure_future(players[arm].play(case, 0))
            for arm in ("a", "b")
            for case in cases
        ]
        while bench.stop.in_flight.count < 8:
            await asyncio.sleep(0)
        go.set()
        by_arm = [said(dialogue) for dialogue in await asyncio.gather(*playing)]
    assert by_arm[:4] == by_arm[4:] == ["0", "1", "0", "1"]
    assert bench.stop.in_flight.count == 0
    assert bench.ledger.spent_usd == pytest.approx(0.8)
    assert count(store.folder, "reservations") == 0


@pytest.mark.anyio
async def test_what_a_lost_worker_held_is_charged_at_its_worst_and_its_job_played_by_another(
    store: RunStore,
) -> None:
    async def end_the_first(player: Asking, _: Case) -> None:
        if player.worker == 0:
            bench.workers[0].cancel()
            await asyncio.Event().wait()

    bench = Bench(store, end_the_first)
    async with bench.driving(2) as players:
        assert said(await players["a"].play(make_case(), 0)) == "1"
        assert said(await players["b"].play(make_case(), 0)) == "1"
    assert bench.hits == [1]  # what the other arm had drawn travelled with the job
    assert bench.ledger.spent_usd == pytest.approx(0.6)
    lost = "select code, charged_usd, charged_tokens from requests order by code"
    # broken off in an orderly way here, a request is charged by the worker or else by the driver
    assert rows(store.folder, lost) == [("lost", 0.5, 100), ("ok", 0.1, 7)]
    assert count(store.folder, "reservations") == 0


@pytest.mark.anyio
async def test_a_request_that_was_settled_and_not_reported_is_recorded_all_the_same(
    store: RunStore,
) -> None:
    bench = Bench(store)
    async with bench.driving(1):
        killed = await bench.join_by_hand("killed")
        killed.send(AskPermit(1, WORST))
        granted = await until(Granted, killed)
        row = make_request_row(charged_usd=0.1, charged_tokens=7, reservation=granted.reservation)
        killed.send(Settled(1, row, "answered", None))
        await killed.close()
    store.set_state("running")  # durable, as is then all that was queued before
    charged = "select prompt, code, charged_usd, charged_tokens from requests"
    assert rows(store.folder, charged) == [(None, "ok", 0.1, 7)]
    assert count(store.folder, "reservations") == 0
    assert bench.ledger.spent_usd == pytest.approx(0.1)


@pytest.mark.anyio
async def test_a_job_under_which_every_worker_ends_fails_in_the_end(store: RunStore) -> None:
    async def end(player: Asking, _: Case) -> None:
        bench.workers[player.worker].cancel()
        bench.join()
        await asyncio.Event().wait()

    bench = Bench(store, end)
    async with bench.driving(1) as players:
        with pytest.raises(JobFailed) as failed:
            await players["a"].play(make_case(), 0)
    assert (failed.value.failure.kind, failed.value.failure.code) == ("failed", WORKER_LOST)
    assert len(bench.links) in {MOST_LOST, MOST_LOST + 1}


@pytest.mark.anyio
async def test_a_job_that_is_cancelled_from_within_is_not_waited_for_without_end(
    store: RunStore,
) -> None:
    async def let_out(_: Asking, __: Case) -> None:
        raise asyncio.CancelledError

    async with Bench(store, let_out).driving(1) as players:
        with pytest.raises(JobFailed) as failed:
            await asyncio.wait_for(players["a"].play(make_case(), 0), 20)
    assert "cancelled from within" in failed.value.failure.reason


@pytest.mark.anyio
async def test_a_stop_reaches_workers_and_what_is_in_flight_finishes(store: RunStore) -> None:
    async def stop(_: Asking, __: Case) -> None:
        bench.stop.request("enough", BUDGET)
        while not bench.links[0].stop.requested:
            await asyncio.sleep(0)

    bench = Bench(store, stop)
    async with bench.driving(1) as players:
        assert said(await players["a"].play(make_case(), 0)) == "0"
        with pytest.raises(Stopped, match="enough"):
            await bench.links[0].permit(WORST)
        with pytest.raises(Stopped, match="enough"):
            await players["a"].play(make_case(repetition=1), 0)
    assert rows(store.folder, "select code from requests") == [("ok",)]


@pytest.mark.anyio
async def test_without_the_stream_nothing_is_sent_and_no_reply_is_used(store: RunStore) -> None:
    used: list[str] = []

    async def lose_the_driver(player: Asking, _: Case) -> None:
        await bench.driver.close()
        used.append("the reply came")

    bench = Bench(store, lose_the_driver)
    async with bench.driving(1) as players:
        with pytest.raises(Exception, match="gone"):
            await players["a"].play(make_case(), 0)
        await asyncio.gather(*bench.workers, return_exceptions=True)
        with pytest.raises(Stopped):
            await bench.links[0].permit(WORST)
    assert count(store.folder, "choices") == 0


@pytest.mark.anyio
async def test_a_reply_that_cannot_be_stored_stops_the_run(store: RunStore) -> None:
    async def close(_: Asking, __: Case) -> None:
        await asyncio.to_thread(store.close)

    bench = Bench(store, close)
    async with bench.driving(1) as players:
        with pytest.raises(JobFailed) as failed:
            await players["a"].play(make_case(), 0)
    assert (failed.value.failure.kind, failed.value.failure.code) == ("stop", STORE)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "said_by_it",
    [
        Settled(99, make_request_row(), "answered", None),
        Report(1, KEY.hex(), (), (), (99,), (make_choice_row(),)),
        Report(1, KEY.hex(), ("told",), (("user", (1,)),), (), (make_choice_row(),)),
    ],
)
async def test_a_worker_that_tells_of_what_it_was_not_granted_is_sent_away_and_no_other(
    store: RunStore, said_by_it: FromWorker
) -> None:
    bench = Bench(store)
    async with bench.driving(1) as players:
        rogue = await bench.join_by_hand("rogue")
        rogue.send(said_by_it)
        with pytest.raises(StreamBroken):
            await until(Bye, rogue)
        assert said(await players["a"].play(make_case(), 0)) == "0"


@pytest.mark.anyio
async def test_a_worker_that_reads_nothing_is_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(driver_module, "FAREWELL_S", 0.01)
    monkeypatch.setattr(frames, "CLOSING_S", 0.01)
    driver = Driver({"scenarios": "x" * 20_000_000})  # more than the sockets take
    reader, writer = await asyncio.open_connection("127.0.0.1", await driver.listen())
    halted: Stream[FromDriver] = Stream(reader, writer, from_driver)
    await halted.join(driver.token)
    async with asyncio.timeout(20):
        await driver.close()
    await halted.close()


def test_material_that_no_worker_would_read_is_refused() -> None:
    with pytest.raises(UsageError, match="64 MiB; at most 64 can be sent"):
        Driver({"scenarios": "x" * frames.MOST_BYTES})


@pytest.mark.anyio
async def test_a_worker_that_cannot_build_its_players_says_why(store: RunStore) -> None:
    bench = Bench(store)

    @asynccontextmanager
    async def refuse(*_: Any) -> AsyncIterator[Mapping[str, Player]]:
        raise UsageError("no such plugin here", "install it")
        yield {}

    bench.build = refuse  # type: ignore[method-assign]
    with pytest.raises(UsageError, match="no such plugin here") as refused:
        async with bench.driving(1):
            raise AssertionError
    assert refused.value.hint == "install it"


@pytest.mark.anyio
async def test_a_permit_of_a_rate_that_travelled_too_long_goes_back_once() -> None:
    sent: list[object] = []

    class Late:
        """Answers each question at once, as if the answer had been on its way for a second."""

        def send(self, message: Any) -> None:
            sent.append(message)
            if not isinstance(message, GiveBack | Hits):
                asyncio.get_running_loop().call_soon(
                    run.take, Granted(message.number, None, None, paced=True, waited_s=-1.0)
                )

    run = RemoteRun(Late())  # type: ignore[arg-type]
    permit = await run.permit(WORST)
    assert permit.reservation.number == 2
    assert [type(message).__name__ for message in sent] == ["AskPermit", "GiveBack", "AskPermit"]
    assert sent[1] == GiveBack(1)
