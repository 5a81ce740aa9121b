"""Workers that are there and do nothing: how long others wait for them."""

from __future__ import annotations

import asyncio
import time
from contextlib import ExitStack
from functools import partial

import pytest

from pipeline.endpoints.run_link import PermitRequest
from pipeline.executors import driver as driver_module
from pipeline.executors import frames, worker_session
from pipeline.executors.driver import Driver
from pipeline.executors.frames import Stream
from pipeline.executors.messages import (
    AskPermit,
    FromDriver,
    Granted,
    from_driver,
)
from pipeline.executors.messages import Play as PlayJob
from pipeline.stopping.stop import Stopped
from pipeline.store.run_store import RunStore
from tests.factories import make_case
from tests.pipeline.executors.driver_bench import HTTP, WORST, Bench, said, until
from tests.pipeline.integration.records import rows


@pytest.fixture
def looking_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a worker be asked every few milliseconds whether it is there."""
    monkeypatch.setattr(worker_session, "LOOK_S", 0.01)
    monkeypatch.setattr(worker_session, "DOUBTED_S", 0.05)


def watched(store: RunStore, told: list[str], silent_s: float = 0.05) -> Bench:
    """Return a run whose workers may be silent for a moment, or for long."""
    return Bench(store, driver=Driver({"players": "two"}, notice=told.append, silent_s=silent_s))


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
async def test_workers_that_have_not_joined_or_do_not_leave_are_ended_once_a_run_is_over(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver_module, "FAREWELL_S", 1.0)
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
