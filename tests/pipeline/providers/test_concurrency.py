import asyncio
import random

import pytest

from pipeline.providers.concurrency import AUTO_CEILING, ConcurrencyWindow
from pipeline.providers.places import places_at
from pipeline.providers.rate_limiter import RateLimiter, RateLimits
from tests.virtual_time import run_virtually

GOOD = ("answered", False)


class Server:
    """Works at ``slots`` requests together, each for about a second; the others queue."""

    def __init__(self, slots, latency=lambda dice: 1.0):
        self.slots = asyncio.Semaphore(slots)
        self.answered = []
        self.latencies = []
        self.slower = 1.0
        self.fault = None
        """(outcome, whether it timed out, seconds) that every request comes to."""
        self._dice, self._latency = random.Random(0), latency

    async def answer(self):
        loop = asyncio.get_running_loop()
        began = loop.time()
        if self.fault is not None:
            *result, seconds = self.fault
            await asyncio.sleep(seconds)
            return result
        async with self.slots:
            await asyncio.sleep(self._latency(self._dice) * self.slower)
        self.answered.append(loop.time())
        self.latencies.append((loop.time(), loop.time() - began))
        return GOOD

    def per_second(self, since, until):
        return sum(since <= at < until for at in self.answered) / (until - since)

    def mean_latency_s(self, since):
        latencies = [latency for at, latency in self.latencies if at >= since]
        return sum(latencies) / len(latencies)


def ask(server, seconds, changes=(), begin_with=4, ceiling=64):
    """Ask with as many calls as may fly at once and a few more; return the places over time."""
    places = []

    async def work():
        limiter = RateLimiter(RateLimits(max_concurrency=ceiling), begin_with=begin_with)
        loop = asyncio.get_running_loop()

        async def calls():
            while True:
                entry = await limiter.enter(1, lambda: None)
                began = loop.time()
                outcome, timed_out = await server.answer()
                latency_s = loop.time() - began
                limiter.leave(entry, outcome, latency_s=latency_s, timed_out=timed_out)

        running = [asyncio.ensure_future(calls()) for _ in range(round(1.25 * ceiling))]
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


def steady(dice):
    return 1.0


def varied(dice):
    return dice.uniform(0.5, 1.5)


def heavy(dice):
    return dice.lognormvariate(-0.5, 1.0)


@pytest.mark.parametrize("latency", [steady, heavy])
def test_places_grow_to_a_thousand_within_seconds_where_there_is_no_limit(latency):
    server = Server(10_000, latency)
    places = ask(server, 45, ceiling=AUTO_CEILING)
    assert places[30] == AUTO_CEILING
    assert server.per_second(30, 45) >= 0.9 * AUTO_CEILING


@pytest.mark.parametrize(
    ("slots", "latency"), [(5, steady), (16, steady), (16, varied), (50, varied)]
)
def test_a_queueing_server_is_kept_busy_at_hardly_more_than_the_latency_without_a_queue(
    slots, latency
):
    server = Server(slots, latency)
    ask(server, 600, ceiling=128)
    assert server.per_second(100, 600) >= 0.95 * slots
    assert server.mean_latency_s(100) <= 1.3


@pytest.mark.parametrize("slots", [8, 16])
def test_the_search_for_the_number_of_places_leaves_hardly_a_slot_idle(slots):
    server = Server(slots)
    ask(server, 60, ceiling=AUTO_CEILING)
    assert server.per_second(5, 60) >= 0.95 * slots


@pytest.mark.parametrize(("slots", "most"), [(1, 2), (2, 3)])
def test_a_server_that_works_at_one_or_two_gets_hardly_more(slots, most):
    server = Server(slots)
    places = ask(server, 400)
    assert server.per_second(50, 400) >= 0.95 * slots
    assert sorted(places)[len(places) // 2] <= most


def test_answers_of_very_different_length_do_not_starve_a_server():
    server = Server(16, heavy)
    ask(server, 600)
    assert server.per_second(100, 600) >= 0.9 * 16


@pytest.mark.parametrize("slower", [2.0, 0.5])
def test_a_server_that_changes_its_speed_is_kept_busy(slower):
    server = Server(16, varied)
    ask(server, 400, changes=[(100, lambda: setattr(server, "slower", slower))])
    assert server.per_second(200, 400) >= 0.93 * 16 / slower


def test_a_server_that_has_fewer_slots_all_at_once_gets_fewer_requests():
    server = Server(32)
    others = []

    def shrink():
        others.extend(asyncio.ensure_future(server.slots.acquire()) for _ in range(28))

    places = ask(server, 400, changes=[(60, shrink)])
    assert max(places[:60]) >= 32
    assert sorted(places[200:])[100] <= 8
    assert server.per_second(100, 400) >= 0.9 * 4


@pytest.mark.parametrize(
    "fault",
    [("slow_down", False, 0.1), ("failed", False, 0.1), ("failed", True, 10.0)],
    ids=["429", "5xx", "no answer in time"],
)
def test_after_bursts_of_failures_as_much_is_sent_as_before(fault):
    server = Server(10_000, varied)
    bursts = [
        (at + length, lambda f=f: setattr(server, "fault", f))
        for at in (30, 60, 90)
        for length, f in ((0, fault), (10, None))
    ]
    places = ask(server, 240, changes=bursts)
    assert places[180] == 64
    assert server.per_second(180, 240) >= 0.95 * 64


def test_single_requests_that_are_not_answered_in_time_take_no_places_away():
    server = Server(10_000)
    dice = random.Random(1)

    async def answer(usual=server.answer):
        if dice.random() < 0.02:
            await asyncio.sleep(10)
            return ("failed", True)
        return await usual()

    server.answer = answer
    places = ask(server, 200)
    assert min(places[50:]) >= 32


def test_requests_that_are_not_answered_in_time_halve_the_places_once_a_round():
    window = ConcurrencyWindow(32, begin_with=16)
    seats = [window.seat(flying) for flying in range(1, 17)]
    for seat in seats:
        window.timed_out(seat, 120.0)
    assert window.places == 8


def test_a_number_that_the_user_named_stays():
    assert places_at("compatible", 12).most == 12
    assert set(ask(Server(2), 60, begin_with=None, ceiling=12)) == {12}


def test_places_are_found_out_for_models_that_are_reached_over_a_network():
    assert places_at("compatible", None).begin_with == 4
    assert places_at("openai", None).begin_with == 32
    assert places_at("openai", None).most > 32
    assert places_at("hf", None).begin_with is None


def test_places_that_nobody_needs_do_not_double():
    window = ConcurrencyWindow(32, begin_with=4)
    for _ in range(100):
        window.answered(window.seat(2), 1.0)
    assert window.places == 4


def test_places_that_nobody_needs_any_more_are_given_up():
    window = ConcurrencyWindow(1024, begin_with=4)
    seats = []
    while window.places < 1024:
        seats.append(window.seat(window.places))
        window.answered(seats[-1], 1.0)
    for _ in range(2048):
        window.seat(3)
    assert window.places == 6
