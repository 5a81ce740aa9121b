import asyncio
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest

from pipeline.providers.rate_limiter import (
    ModelAddress,
    RateLimiter,
    RateLimiters,
    RateLimits,
    pause,
)
from tests.virtual_time import run_virtually


def nothing():
    """Nobody asked to stop."""


@asynccontextmanager
async def inside_of(gate, tokens, check):
    entry = await gate.enter(tokens, check)
    yield
    gate.leave(entry, "answered", latency_s=0.1)


class Halt(Exception):
    pass


def halt():
    raise Halt


@pytest.mark.parametrize("name", ["max_concurrency", "requests_per_minute", "tokens_per_minute"])
def test_a_limit_that_lets_nothing_through_is_refused(name):
    with pytest.raises(ValueError, match=name):
        RateLimits(**{name: 0})


@pytest.mark.anyio
async def test_no_more_than_the_permitted_number_are_inside():
    gate, inside, most = RateLimiter(RateLimits(max_concurrency=3)), 0, 0

    async def enter():
        nonlocal inside, most
        async with inside_of(gate, 1, nothing):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(enter() for _ in range(20)))
    assert most == 3


def entries(limits, seconds, tokens=1, uses=None):
    """Return when requests get in that all want to at once, in virtual time."""
    at = []

    async def work():
        gate = RateLimiter(limits)

        async def enter():
            entry = await gate.enter(tokens, nothing)
            at.append(asyncio.get_running_loop().time())
            gate.leave(entry, "answered", latency_s=0.1, used_tokens=uses)

        tasks = [asyncio.ensure_future(enter()) for _ in range(1000)]
        await asyncio.sleep(seconds)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    run_virtually(work())
    return at


@pytest.mark.parametrize("per_minute", [10, 300, 600])
def test_no_minute_has_more_requests_than_allowed_not_even_the_first(per_minute):
    at = entries(RateLimits(max_concurrency=100, requests_per_minute=per_minute), 90)
    assert sum(moment < 60 for moment in at) == per_minute
    assert max(sum(a <= b < a + 60 for b in at) for a in at) == per_minute


def test_requests_of_a_minute_are_spread_evenly():
    at = entries(RateLimits(max_concurrency=100, requests_per_minute=300), 10)
    assert {round(b - a, 1) for a, b in pairwise(at)} == {0.2}


def test_a_token_rate_counts_estimates():
    at = entries(RateLimits(max_concurrency=100, tokens_per_minute=6000), 59, tokens=100)
    assert len(at) == 59  # one a second, and the slack of a twentieth of one


def test_tokens_that_were_not_used_are_there_for_the_next_requests():
    limits = RateLimits(max_concurrency=100, tokens_per_minute=6000)
    assert len(entries(limits, 59, tokens=100, uses=50)) == pytest.approx(118, abs=1)


def test_a_request_larger_than_a_minute_passes_and_is_paid_for_afterwards():
    at = entries(RateLimits(max_concurrency=100, tokens_per_minute=600), 400, tokens=1500)
    assert at == pytest.approx([0, 150, 300], abs=1)


@pytest.mark.anyio
async def test_who_waits_for_a_rate_leaves_when_a_stop_is_asked_for():
    gate, calls = RateLimiter(RateLimits(requests_per_minute=1)), 0
    async with inside_of(gate, 1, nothing):
        pass

    def check():
        nonlocal calls
        calls += 1
        if calls == 2:
            raise Halt

    with pytest.raises(Halt):
        async with inside_of(gate, 1, check):
            pytest.fail("entered")


@pytest.mark.anyio
async def test_a_stopped_run_gives_its_permit_back():
    gate = RateLimiter(RateLimits(max_concurrency=1))
    with pytest.raises(Halt):
        async with inside_of(gate, 1, halt):
            pytest.fail("entered")
    async with inside_of(gate, 1, nothing):
        pass


@pytest.mark.anyio
async def test_who_is_cancelled_in_the_line_holds_up_nobody():
    gate = RateLimiter(RateLimits(max_concurrency=1))
    entry = await gate.enter(1, nothing)
    first, second = (asyncio.ensure_future(gate.enter(1, nothing)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    gate.leave(entry, "answered", latency_s=0.1)
    gate.withdraw(await second)
    async with inside_of(gate, 1, nothing):
        assert first.cancelled()


async def let_in(gate, tasks, steps):
    """Return how many have a place after so many steps of the event loop."""
    for _ in range(steps):
        await asyncio.sleep(0)
    return sum(task.done() for task in tasks)


@pytest.mark.anyio
async def test_places_that_become_free_together_are_taken_together():
    """One after the other, a step of the loop each, would leave them empty while replies are read."""
    gate = RateLimiter(RateLimits(max_concurrency=64))
    inside = [await gate.enter(1, nothing) for _ in range(64)]
    waiting = [asyncio.ensure_future(gate.enter(1, nothing)) for _ in range(100)]
    assert await let_in(gate, waiting, 2) == 0
    for entry in inside[:40]:
        gate.leave(entry, "answered", latency_s=0.1)
    assert await let_in(gate, waiting, 3) == 40
    assert [task.done() for task in waiting] == [True] * 40 + [False] * 60
    for entry in inside[40:]:
        gate.leave(entry, "answered", latency_s=0.1)
    assert await let_in(gate, waiting, 3) == 64
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


@pytest.mark.anyio
async def test_who_is_waited_for_goes_ahead_of_the_line():
    gate = RateLimiter(RateLimits(max_concurrency=1))
    inside, order = await gate.enter(1, nothing), []

    async def enter(name, **how):
        entry = await gate.enter(1, nothing, **how)
        order.append(name)
        gate.leave(entry, "answered", latency_s=0.1)

    tasks = [asyncio.ensure_future(enter(name)) for name in "abc"]
    await asyncio.sleep(0)
    tasks += [asyncio.ensure_future(enter(name, ahead=True)) for name in ("urgent", "too")]
    await asyncio.sleep(0)
    gate.leave(inside, "answered", latency_s=0.1)
    await asyncio.gather(*tasks)
    said = "a is no longer in the line: it is the first"
    assert order == ["a", "urgent", "too", "b", "c"], said


@pytest.mark.anyio
@pytest.mark.parametrize("free", [1, 2])
async def test_a_place_of_somebody_who_is_called_off_in_that_moment_is_not_lost(free):
    """Called off as its place is ready (two are free), or as it becomes the first (one is)."""
    gate = RateLimiter(RateLimits(max_concurrency=2))
    inside = [await gate.enter(1, nothing) for _ in range(2)]
    first, second, third = (asyncio.ensure_future(gate.enter(1, nothing)) for _ in range(3))
    await asyncio.sleep(0)
    for entry in inside[:free]:
        gate.withdraw(entry)
    first.add_done_callback(lambda _: second.cancel())
    await asyncio.sleep(0)
    second.cancel()
    gate.withdraw(await first)
    for entry in inside[free:]:
        gate.withdraw(entry)
    gate.withdraw(await asyncio.wait_for(third, 10))
    assert second.cancelled()
    again = [await asyncio.wait_for(gate.enter(1, nothing), 10) for _ in range(2)]
    assert len(again) == 2


@pytest.mark.anyio
async def test_who_is_let_in_behind_another_still_looks_whether_to_stop():
    gate, stopped = RateLimiter(RateLimits(max_concurrency=2)), []
    inside = [await gate.enter(1, nothing) for _ in range(2)]

    def check():
        if stopped:
            raise Halt

    waiting = [asyncio.ensure_future(gate.enter(1, check)) for _ in range(2)]
    await asyncio.sleep(0)
    stopped.append(True)
    for entry in inside:
        gate.withdraw(entry)
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [Halt, Halt]
    assert [await asyncio.wait_for(gate.enter(1, nothing), 10) for _ in range(2)]


def test_a_pause_that_an_endpoint_asks_one_call_for_holds_up_no_other():
    async def work():
        gate = RateLimiter(RateLimits())
        refused = await gate.enter(1, nothing)
        gate.leave(refused, "slow_down", latency_s=0.1, retry_after_s=60.0)
        await gate.enter(1, nothing)
        return asyncio.get_running_loop().time()

    assert run_virtually(work()) < 30


def test_the_rate_that_was_learned_is_told_once(caplog):
    caplog.set_level("INFO", logger="hipo")

    async def work():
        gate = RateLimiter(RateLimits(max_concurrency=32))
        sent = [await gate.enter(1, nothing) for _ in range(32)]
        await asyncio.sleep(0.05)
        for number, entry in enumerate(sent):
            gate.leave(entry, "answered" if number < 5 else "slow_down", latency_s=0.1)
        assert gate.held_back_to is None
        waiting = [asyncio.ensure_future(gate.enter(1, nothing)) for _ in range(10)]
        await asyncio.sleep(0.05)
        for task in waiting:
            task.cancel()
        return gate.held_back_to

    assert run_virtually(work()) == pytest.approx(5, rel=0.1)
    assert caplog.messages[-1] == "the endpoint allows about 5 requests a second"


@pytest.mark.anyio
async def test_a_pause_is_slept_in_pieces_that_add_up():
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    await pause(1.2, nothing, sleep)
    assert sum(slept) == pytest.approx(1.2)
    assert max(slept) <= 0.5


def test_who_talks_to_the_same_model_shares_a_gate():
    limiters = RateLimiters(RateLimits())
    one, same, other = (ModelAddress("openai", url, "m") for url in ("u", "u", "v"))
    assert limiters.limiter(one) is limiters.limiter(same)
    assert limiters.limiter(one) is not limiters.limiter(other)


def test_progress_is_asked_for_by_another_thread_while_a_model_is_asked_for_the_first_time(
    monkeypatch,
):
    limiters = RateLimiters(RateLimits())

    def held_back_to(limiter):
        limiters.limiter(ModelAddress("compatible", "http://127.0.0.1:1", "second"))
        return 2.5

    monkeypatch.setattr(RateLimiter, "held_back_to", property(held_back_to))
    limiters.limiter(ModelAddress("compatible", "http://127.0.0.1:1", "first"))
    assert limiters.held_back_to == 2.5
