from __future__ import annotations

import asyncio

import anyio
import pytest

from pipeline.calls.records import CallContext
from pipeline.providers.errors import BadRequest, ServerFault, TimedOut
from pipeline.providers.prices import Price
from pipeline.spending.budget import Ledger
from pipeline.stopping.stop import Stop, Stopped
from pipeline.store.run_store import RunStore
from scenarios.run_configuration import RunConfiguration
from tests.pipeline.scripted import (
    ask,
    ask_many,
    client_of,
    requests_of,
    says,
    statuses_of,
)


@pytest.mark.anyio
async def test_failed_attempts_are_recorded_before_the_error_goes_on(store):
    down = ServerFault("down", status=500)
    client, _ = client_of(store, lambda r, n: down, structured="instruct")
    with pytest.raises(ServerFault):
        await ask(client)
    assert [(r.code, r.status, r.n_got) for r in requests_of(store)] == [
        ("server_fault", 500, 0)
    ] * 3
    assert store.state().calls == 3


@pytest.mark.anyio
async def test_an_attempt_is_on_record_before_the_next_one_is_sent(store):
    """Else a kill during the wait would leave its reservation behind, charged at its worst."""
    recorded = []

    def answer(request, n):
        recorded.append(store.state().calls)
        return ServerFault("broken", status=500) if n < 3 else [says("Why?")]

    async def wait_for_the_writer(_):
        for _ in range(500):
            if store.state().calls == len(recorded):
                return
            await asyncio.sleep(0.01)

    client, _ = client_of(store, answer, sleep=wait_for_the_writer, structured="instruct")
    assert await ask(client) == "Why?"
    assert recorded == [0, 1, 2]
    assert store.state().calls == 3


@pytest.mark.anyio
async def test_choices_that_came_before_another_request_failed_are_kept(store):
    def answer(request, n):
        if request.n == 3:
            return [says("a")]  # an endpoint that ignores n
        return BadRequest("no") if request.seed == 13 else [says("b")]

    client, provider = client_of(store, answer)
    with pytest.raises(BadRequest):
        await ask_many(client, 3)
    provider.answer = lambda r, n: [says("c")]
    assert await ask_many(client, 3) == ["a", "b", "c"]


@pytest.mark.anyio
async def test_those_who_wait_for_a_failing_request_fail_with_it(store):
    async def fail(request, n):
        await asyncio.sleep(0.01)
        return BadRequest("no")

    client, provider = client_of(store, fail)
    results = await asyncio.gather(*(ask(client) for _ in range(3)), return_exceptions=True)
    assert [type(result) for result in results] == [BadRequest] * 3
    assert len(provider.requests) == 1


@pytest.mark.anyio
async def test_who_waits_for_a_cancelled_request_asks_in_its_place(store):
    gate = asyncio.Event()

    async def first_hangs(request, n):
        if n == 1:
            await gate.wait()
        return [says("Why?")]

    client, provider = client_of(store, first_hangs)
    leader = asyncio.ensure_future(ask(client))
    await asyncio.sleep(0)
    follower, impatient = (asyncio.ensure_future(ask(client)) for _ in range(2))
    await anyio.wait_all_tasks_blocked()
    assert len(provider.requests) == 1
    impatient.cancel()
    leader.cancel()
    assert await follower == "Why?"
    assert len(provider.requests) == 2
    assert [r.code for r in requests_of(store)] == ["cancelled", "ok"]


@pytest.mark.anyio
async def test_a_reply_in_hand_is_kept_when_its_task_is_cancelled(tmp_path):
    hang = asyncio.Event()

    async def second_sample_hangs(request, n):
        if request.seed == 12:
            await hang.wait()
        return [says("kept")]

    with RunStore.create(tmp_path / "run", RunConfiguration()) as store:
        client, provider = client_of(store, second_sample_hangs)
        provider.samples_per_request = False
        task = asyncio.ensure_future(ask_many(client, 2))
        await anyio.wait_all_tasks_blocked()
        assert len(provider.requests) == 2
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()
    with RunStore.open(tmp_path / "run") as store:
        client, provider = client_of(store, lambda r, n: [says("new")])
        assert await ask(client) == "kept"
        assert provider.requests == []
        assert sorted(r.code for r in requests_of(store)) == ["cancelled", "ok"]


@pytest.mark.anyio
async def test_after_a_stop_nothing_is_sent_but_what_is_known_is_told(store):
    stop = Stop()
    client, provider = client_of(store, lambda r, n: [says("Why?")], stop=stop)
    await ask(client)
    stop.request("interrupted")
    assert await ask(client) == "Why?"
    with pytest.raises(Stopped):
        await ask(client, CallContext("initiator", 99, 0, "c1", "initiator"))
    assert len(provider.requests) == 1


@pytest.mark.anyio
async def test_a_stop_lets_what_is_in_flight_be_recorded_and_ends_before_the_repair(store):
    stop = Stop()

    def answer(request, n):
        stop.request("interrupted")
        return ["torn"]

    client, _ = client_of(store, answer, stop=stop)
    with pytest.raises(Stopped):
        await ask(client)
    assert statuses_of(store) == ["unparseable"]


@pytest.mark.anyio
async def test_under_a_budget_the_worst_is_on_disk_while_a_request_is_in_flight(store):
    spent = []

    def answer(request, n):
        spent.append(store.spent())
        return [says("Why?")]

    ledger = Ledger(budget_usd=1.0, log=store.calls)
    client, _ = client_of(store, answer, ledger=ledger, price=Price(1.0, 10.0))
    await ask(client)
    in_flight_usd, in_flight_tokens = spent[0]
    assert in_flight_usd > 0.0002
    assert in_flight_tokens > 512
    assert store.spent() == (pytest.approx(0.0002), 110)
    assert ledger.spent_usd == pytest.approx(0.0002)


@pytest.mark.anyio
async def test_the_store_and_the_ledger_charge_the_same_for_calls_that_timed_out(store):
    ledger = Ledger(budget_tokens=10**6, log=store.calls)
    client, _ = client_of(
        store, lambda r, n: TimedOut("late"), ledger=ledger, price=Price(1.0, 10.0)
    )
    with pytest.raises(TimedOut):
        await ask(client)
    usd, tokens = store.spent()
    assert usd == pytest.approx(ledger.spent_usd)
    assert tokens == ledger.spent_tokens > 3 * 512
    assert store.state().unpriced_calls == 3
