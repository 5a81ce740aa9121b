import asyncio
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.providers.rate_limiter import ModelAddress, RateLimiters, RateLimits
from pipeline.providers.send_rate import SLOWEST_PER_S, SendRate
from tests.pipeline.providers.rate_simulation import (
    Away,
    Bucket,
    Chance,
    FixedWindow,
    NoLimit,
    Simulation,
    SlidingWindow,
    TokenBucket,
)
from tests.virtual_time import run_virtually


@pytest.mark.parametrize("retry_after", [True, False], ids=["Retry-After", "no Retry-After"])
@pytest.mark.parametrize(("rate", "latency_s"), [(5, 0.2), (5, 2.0), (20, 1.0), (200, 0.1)])
def test_a_bucket_is_emptied_as_fast_as_it_fills_and_hardly_anything_is_refused(
    rate, latency_s, retry_after
):
    seconds = 120 if rate < 100 else 60
    traffic = Simulation(Bucket(rate), seconds, latency_s, retry_after).run()
    assert traffic.failed == 0
    assert traffic.per_second(15, seconds) >= 0.95 * rate
    assert traffic.refused_share(15) < 0.02


@pytest.mark.parametrize(
    ("limit", "rate", "least"),
    [
        (Bucket(5, size=300), 5, 0.97),
        (Bucket(5, size=1), 5, 0.85),
        (FixedWindow(50, 10), 5, 0.95),
        (FixedWindow(300, 60), 5, 0.95),
        (SlidingWindow(300, 60), 5, 0.95),
        (TokenBucket(8750, size=8750), 5, 0.95),
        (TokenBucket(8750, size=525_000), 5, 0.95),
    ],
    ids=[
        "large bucket",
        "no bucket",
        "10 s windows",
        "minutes",
        "sliding minute",
        "tokens",
        "tokens of a minute",
    ],
)
def test_whatever_way_the_endpoint_counts_its_limit_is_used(limit, rate, least):
    traffic = Simulation(limit, 600).run()
    assert traffic.failed == 0
    assert traffic.per_second(120, 600) >= least * rate
    assert traffic.refused_share(120) < 0.05


@pytest.mark.parametrize(
    ("latency_s", "retry_after"), [(0.2, False), (1.0, True)], ids=["0.2 s", "1 s, Retry-After"]
)
@pytest.mark.parametrize(
    "limit", [FixedWindow, SlidingWindow], ids=["fixed windows", "sliding windows"]
)
@pytest.mark.parametrize(("count", "window_s", "least"), [(50, 10, 0.95), (300, 60, 0.9)])
def test_windows_that_256_calls_at_once_use_up_are_used_evenly_later_on(
    count, window_s, least, limit, latency_s, retry_after
):
    traffic = Simulation(limit(count, window_s), 900, latency_s, retry_after, places=256).run()
    assert traffic.failed == 0
    assert traffic.per_second(180, 900) >= least * 5
    assert traffic.refused_share(180) < 0.02


def test_windows_that_shrink_to_a_fifth_are_followed():
    window = FixedWindow(300, 60)

    def shrink():
        window.count = 60

    traffic = Simulation(window, 1200, places=256, changes={300: shrink}).run()
    assert traffic.failed == 0
    assert traffic.per_second(600, 1200) >= 0.85
    assert traffic.refused_share(600) < 0.1


def test_a_model_that_is_throttled_takes_nothing_from_another_of_the_same_run():
    limiters = RateLimiters(RateLimits(max_concurrency=32))
    throttled, free = (
        Simulation(limit, 60, limiter=limiters.limiter(ModelAddress("p", "http://x", name)))
        for name, limit in (("slow", Bucket(2)), ("fast", NoLimit()))
    )

    async def both():
        return await asyncio.gather(throttled.traffic(), free.traffic())

    slow, fast = run_virtually(both())
    assert slow.per_second(15, 60) >= 0.95 * 2
    assert fast.per_second(1, 59) >= 0.97 * 32 / 0.2


def test_an_endpoint_that_always_says_a_minute_is_used_all_the_same():
    traffic = Simulation(Bucket(20), 240, retry_after=60.0).run()
    assert traffic.failed == 0
    assert traffic.per_second(60, 240) >= 0.95 * 20
    assert traffic.refused_share(60) < 0.05


def test_minutes_of_nothing_are_survived_without_a_word_of_how_long_they_last():
    traffic = Simulation(FixedWindow(300, 60), 600, retry_after=False).run()
    assert traffic.failed == 0
    assert traffic.per_second(120, 600) >= 0.95 * 5
    assert traffic.refused_share(120) < 0.05


@pytest.mark.parametrize("rate", [20, 60])
def test_a_bucket_is_not_taken_for_chance_where_calls_come_back_slowly(rate):
    traffic = Simulation(Bucket(rate), 45, 0.05, retry_after=False, begin_with=4).run()
    assert traffic.per_second(15, 45) >= 0.95 * rate
    assert traffic.refused_share(15) < 0.05


@pytest.mark.parametrize(
    ("rate", "latency_s", "live"), [(60, 0.05, 128), (60, 1.0, 300), (200, 1.0, 300)]
)
def test_a_limit_is_found_soon_while_the_number_of_places_still_grows(rate, latency_s, live):
    for seed in range(3):
        traffic = Simulation(
            Bucket(rate), 40, latency_s, False, places=1024, begin_with=4, live=live, seed=seed
        ).run()
        assert traffic.failed == 0
        assert traffic.per_second(20, 38) >= 0.95 * rate
        assert traffic.refused_share(20) < 0.02


@pytest.mark.parametrize(
    ("rate", "latency_s", "live"), [(60, 1.0, 256), (40, 2.0, 300), (200, 1.0, 600)]
)
def test_a_limit_is_found_soon_where_all_calls_come_in_step(rate, latency_s, live):
    """On a fast machine as many as there are places come at once, then for a second nothing."""
    for seed in range(3):
        traffic = Simulation(
            Bucket(rate), 40, latency_s, False, places=1024, begin_with=4, live=live, seed=seed,
            spread=0.02,
        ).run()  # fmt: skip
        assert traffic.per_second(10, 38) >= 0.95 * rate
        assert traffic.refused_share(10) < 0.02


def test_a_limit_that_falls_to_a_fifth_is_followed():
    def fall():
        bucket.rate = bucket.size = 4

    refused = []
    for seed in range(4):
        bucket = Bucket(20)
        traffic = Simulation(bucket, 180, changes={60: fall}, seed=seed).run()
        assert traffic.failed == 0
        assert traffic.per_second(75, 180) >= 0.95 * 4
        refused.append(traffic.refused_share(75))
    assert mean(refused) < 0.05


@pytest.mark.parametrize("retry_after", [True, False], ids=["Retry-After", "no Retry-After"])
@pytest.mark.parametrize("away_s", [6, 20, 60])
def test_an_endpoint_that_takes_nothing_at_first_is_used_fully_soon_after(away_s, retry_after):
    traffic = Simulation(Away(Bucket(20), away_s), away_s + 120, retry_after=retry_after).run()
    assert traffic.failed == 0
    assert traffic.per_second(away_s + 60, away_s + 120) >= 0.9 * 20


def test_a_limit_that_rises_to_ten_times_is_found_within_a_minute():
    bucket = Bucket(5)

    def rise():
        bucket.rate = bucket.size = 50

    traffic = Simulation(bucket, 180, changes={60: rise}).run()
    assert traffic.per_second(120, 180) >= 0.95 * 50
    assert traffic.refused_share(60) < 0.05


@pytest.mark.parametrize("share", [0.02, 0.2])
def test_refusals_that_have_nothing_to_do_with_the_rate_do_not_bring_it_down(share):
    traffic = Simulation(Chance(share), 180).run()
    assert traffic.failed == 0
    # 40 calls at a time, of which each refused one waits a second: without any limit
    free = 40 / (0.2 + share / (1 - share) * 1.1)
    assert traffic.per_second(90, 180) >= 0.6 * min(free, 32 / 0.2)


def test_a_few_refusals_by_chance_are_told_from_a_limit_though_few_requests_are_sent():
    for seed in range(4):
        traffic = Simulation(Chance(0.05, seed), 240, 2.0, live=8, seed=seed).run()
        assert traffic.failed == 0
        assert traffic.per_second(60, 240) >= 0.85 * 8 / (2.0 + 0.05), seed


@pytest.mark.parametrize("live", [2, 4])
def test_a_few_calls_at_a_time_that_are_refused_by_chance_do_not_come_to_a_stop(live):
    for seed in range(4):
        limit = Chance(0.2, seed)
        traffic = Simulation(limit, 360, 0.2, retry_after=False, live=live, begin_with=4).run()
        assert traffic.per_second(240, 360) >= 0.3 * live / 0.2 * 0.8, seed


def test_an_endpoint_that_refuses_nothing_has_no_rate():
    traffic = Simulation(NoLimit(), 30).run()
    assert traffic.learned is None
    assert traffic.per_second(1, 29) >= 0.97 * 32 / 0.2


def test_a_window_in_which_only_requests_of_the_one_before_were_refused_has_a_rate():
    rate, now, flying = SendRate(), 0.0, []
    for event in "ssssrsrrrsss-rrasrsrrsssrsr-ra":  # sent, refused, answered; 20 s without any
        now += 20 if event == "-" else rate.wait_s(now) if event == "s" else 0
        if event == "s":
            flying.append(rate.sent(now, waited=True))
        elif event == "r":
            rate.refused(flying.pop(0), now)
        elif event == "a":
            rate.answered(flying[-1], now)
    assert rate.per_second() >= SLOWEST_PER_S


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["sent", "answered", "refused"]), st.floats(0, 100), st.floats(0, 1e9)
    ),
    max_size=200,
)


@given(EVENTS)
def test_whatever_happens_a_request_goes_out_every_quarter_of_a_minute(events):
    rate, now, flying = SendRate(), 0.0, []
    for what, passed, horizon in events:
        now += passed
        if what == "sent":
            now += rate.wait_s(now)
            flying.append(rate.sent(now, waited=True))
        elif flying and what == "answered":
            rate.answered(flying.pop(), now)
        elif flying:
            rate.refused(flying.pop(0), now, horizon)
    assert rate.wait_s(now) <= 1.001 / SLOWEST_PER_S
