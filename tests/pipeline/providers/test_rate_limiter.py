import asyncio
from contextlib import asynccontextmanager

import pytest

from pipeline.providers.rate_limiter import (
    ModelAddress,
    RateLimiter,
    RateLimiters,
    RateLimits,
    pause,
)


def nothing():
    """Nobody asked to stop."""


@asynccontextmanager
async def inside_of(gate, tokens, check):
    await gate.enter(tokens, check)
    yield
    gate.leave()


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


class Clock:
    """A loop clock that only moves when told, for rates without waiting."""

    def __init__(self, loop, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr(loop, "time", lambda: self.now)


async def entered(gate, tokens, count):
    """Return how many of ``count`` get in before time moves."""
    done = 0

    async def enter():
        nonlocal done
        async with inside_of(gate, tokens, nothing):
            done += 1

    tasks = [asyncio.ensure_future(enter()) for _ in range(count)]
    for _ in range(50):
        await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return done


@pytest.mark.anyio
async def test_a_request_rate_lets_in_one_seconds_worth_at_once(monkeypatch):
    clock = Clock(asyncio.get_running_loop(), monkeypatch)
    gate = RateLimiter(RateLimits(max_concurrency=100, requests_per_minute=300))
    assert await entered(gate, 1, 20) == 5
    clock.now += 0.41
    assert await entered(gate, 1, 20) == 2


@pytest.mark.anyio
async def test_a_token_rate_counts_estimates_and_books_the_difference_later(monkeypatch):
    clock = Clock(asyncio.get_running_loop(), monkeypatch)
    gate = RateLimiter(RateLimits(max_concurrency=100, tokens_per_minute=6000))
    assert await entered(gate, 100, 20) == 10  # ten seconds' worth: 1,000 tokens
    for _ in range(10):
        gate.correct(100, 50)  # each used half: 500 tokens to the good
    assert await entered(gate, 100, 20) == 5
    clock.now += 1.01
    assert await entered(gate, 100, 20) == 1


@pytest.mark.anyio
async def test_a_request_larger_than_the_bucket_passes_and_is_paid_for_afterwards(monkeypatch):
    clock = Clock(asyncio.get_running_loop(), monkeypatch)
    gate = RateLimiter(RateLimits(tokens_per_minute=600))
    assert await entered(gate, 150, 1) == 1  # the bucket holds 100, so that 50 are owed
    clock.now += 10.1
    assert await entered(gate, 50, 2) == 1  # 50 + 50 owed fill it again


@pytest.mark.anyio
async def test_a_closed_gate_makes_everybody_wait():
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    gate = RateLimiter(RateLimits(), sleep)
    gate.close_for(2.0)
    async with inside_of(gate, 1, nothing):
        pass
    assert sum(slept) == pytest.approx(2.0, abs=0.1)


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
