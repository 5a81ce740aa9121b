"""Driver and workers in one event loop: who plays what, and what becomes of what a worker held."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from pipeline.endpoints.run_link import PermitRequest
from pipeline.executors import frames
from pipeline.executors.driver import MOST_LOST, WORKER_LOST, Driver
from pipeline.executors.frames import StreamBroken
from pipeline.executors.messages import (
    AskPermit,
    Bye,
    FromWorker,
    GiveBack,
    Granted,
    Hits,
    Report,
    Settled,
)
from pipeline.executors.remote_run import RemoteRun
from pipeline.playing.engine import Player
from pipeline.playing.runner import JobFailed
from pipeline.stopping.stop import BUDGET, STORE, Stopped
from pipeline.store.excess import NO_EXCESS, Excess
from pipeline.store.run_store import RunStore
from scenarios.case import Case
from scenarios.errors import UsageError
from tests.factories import make_case, make_choice_row, make_request_row
from tests.pipeline.executors.driver_bench import HTTP, KEY, WORST, Asking, Bench, said, until
from tests.pipeline.integration.records import count, rows


@pytest.mark.anyio
async def test_what_a_stop_waits_for_takes_as_long_as_the_request_may(store: RunStore) -> None:
    bench = Bench(store)
    async with bench.driving(0):
        worker = await bench.join_by_hand("slow")
        worker.send(AskPermit(1, PermitRequest(HTTP, 10, 0.5, 100, "responder", patience=4)))
        await until(Granted, worker)
        assert 200.0 < bench.stop.in_flight.summary().left_s <= 240.0


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
async def test_what_a_worker_learns_of_an_endpoint_comes_with_the_permits_of_all(
    store: RunStore,
) -> None:
    bench, to_endpoint = Bench(store), replace(WORST, address=HTTP)
    async with bench.driving(1):
        first, second = [await bench.join_by_hand(name) for name in ("first", "second")]
        first.send(AskPermit(1, to_endpoint))
        granted = await until(Granted, first)
        assert granted.excess == NO_EXCESS
        second.send(AskPermit(1, to_endpoint))  # and waits: the first call goes alone
        row = make_request_row(charged_usd=0.1, charged_tokens=7, reservation=granted.reservation)
        first.send(Settled(1, row, "answered", None, excess=Excess(0, 4.0)))
        assert (await until(Granted, second)).excess == Excess(0, 4.0)
        second.send(GiveBack(1))


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


def test_material_that_no_worker_would_read_is_refused() -> None:
    with pytest.raises(UsageError, match="64 MiB; at most 64 can be sent"):
        Driver({"scenarios": "x" * frames.MOST_BYTES})


@pytest.mark.anyio
async def test_a_worker_that_cannot_build_its_players_says_where_and_why(store: RunStore) -> None:
    bench = Bench(store)

    @asynccontextmanager
    async def refuse(*_: Any) -> AsyncIterator[Mapping[str, Player]]:
        raise UsageError("no such plugin here", "install it")
        yield {}

    bench.build = refuse  # type: ignore[method-assign]
    said = f"on {socket.gethostname()}, where a worker runs: no such plugin here"
    with pytest.raises(UsageError, match=re.escape(said)) as refused:
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
