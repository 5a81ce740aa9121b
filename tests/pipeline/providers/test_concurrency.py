import asyncio
import random

import pytest

from pipeline.providers.concurrency import ConcurrencyWindow
from pipeline.providers.rate_limiter import RateLimiter, RateLimits
from tests.virtual_time import run_virtually


class Server:
    """Works at ``slots`` requests together, each for about a second; the others queue."""

    def __init__(self, slots, spread=0.0):
        self.slots = asyncio.Semaphore(slots)
        self.answered = []
        self._dice, self._spread = random.Random(0), spread

    async def answer(self):
        async with self.slots:
            await asyncio.sleep(1 + self._spread * self._dice.uniform(-1, 1))
        self.answered.append(asyncio.get_running_loop().time())

    def per_second(self, since, until):
        return sum(since <= at < until for at in self.answered) / (until - since)


def ask(server, seconds, changes=(), begin_with=4):
    """Ask with as many calls as may fly at once and a few more; return the places over time."""
    places = []

    async def work():
        limiter = RateLimiter(RateLimits(max_concurrency=32), begin_with=begin_with)
        loop = asyncio.get_running_loop()

        async def calls():
            while True:
                entry = await limiter.enter(1, lambda: None)
                began = loop.time()
                await server.answer()
                limiter.leave(entry, "answered", latency_s=loop.time() - began)

        running = [asyncio.ensure_future(calls()) for _ in range(40)]
        for second in range(seconds):
            await asyncio.sleep(1)
            places.append(limiter.places)
            for at, change in changes:
                if at == second:
                    change()
        for call in running:
            call.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    run_virtually(work())
    return places


@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_places_double_with_every_round_trip_while_latency_does_not_grow(spread):
    server = Server(100, spread)
    places = ask(server, 30)
    assert places[0] <= 8
    assert places[12] == 32
    assert server.per_second(15, 30) >= 0.95 * 32


@pytest.mark.parametrize(("slots", "most"), [(1, 4), (2, 4), (8, 16), (16, 32)])
def test_a_server_with_few_slots_is_kept_busy_without_a_long_queue(slots, most):
    server = Server(slots)
    places = ask(server, 200)
    assert server.per_second(20, 200) >= 0.95 * slots
    assert sorted(places)[len(places) // 2] <= most


def test_a_server_that_has_fewer_slots_all_at_once_gets_fewer_requests():
    server = Server(32)

    others = []

    def shrink():
        others.extend(asyncio.ensure_future(server.slots.acquire()) for _ in range(28))

    places = ask(server, 300, changes=[(30, shrink)])
    assert max(places[:30]) == 32
    assert min(places[100:]) <= 16
    assert server.per_second(100, 300) >= 0.85 * 4


def test_a_number_that_the_user_named_stays():
    places = ask(Server(2), 60, begin_with=None)
    assert set(places) == {32}


def test_requests_that_are_not_answered_in_time_halve_the_places_once_a_round():
    window = ConcurrencyWindow(32, begin_with=16)
    seats = [window.seat(flying) for flying in range(1, 17)]
    for seat in seats:
        window.timed_out(seat)
    assert window.places == 8


def test_places_that_nobody_needs_do_not_double():
    window = ConcurrencyWindow(32, begin_with=4)
    for _ in range(100):
        window.answered(window.seat(2), 1.0)
    assert window.places == 4
