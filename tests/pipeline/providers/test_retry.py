import random
from datetime import UTC, datetime
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.providers.errors import BadRequest, RateLimited, ServerFault
from pipeline.providers.retry import Backoff, RetryPolicy, retry_after, until_reset

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def pauses(policy, error, seed=0):
    backoff = Backoff(policy, random.Random(seed))
    return list(islice(iter(lambda: backoff.after(error), None), 10_000))


@given(st.integers(0, 1000))
def test_pauses_double_within_their_jitter_up_to_the_longest(seed):
    policy = RetryPolicy(max_attempts=7, initial_s=1, max_pause_s=10, max_total_s=1000)
    found = pauses(policy, ServerFault("no"), seed)
    assert len(found) == 6
    for pause, step in zip(found, [1, 2, 4, 8, 10, 10], strict=True):
        assert step / 2 <= pause <= step


def test_an_error_that_will_not_pass_is_not_retried():
    assert pauses(RetryPolicy(), BadRequest("no")) == []


def test_one_attempt_means_no_retry():
    assert pauses(RetryPolicy(max_attempts=1), ServerFault("no")) == []


def test_the_pause_the_endpoint_asks_for_is_kept():
    error = RateLimited("slow down", retry_after_s=5)
    assert all(5 <= pause <= 5.5 for pause in pauses(RetryPolicy(), error))


def test_an_endpoint_that_keeps_asking_for_no_pause_is_not_stormed():
    first, *later = pauses(RetryPolicy(), RateLimited("slow down", retry_after_s=0))
    assert first == 0
    assert all(pause >= 1 for pause in later)


def test_no_endpoint_can_ask_for_more_than_the_longest_pause():
    error = RateLimited("slow down", retry_after_s=86_400)
    assert set(pauses(RetryPolicy(max_pause_s=30), error)) == {30}


def test_the_pauses_of_one_request_are_bounded_together():
    policy = RetryPolicy(max_attempts=100, max_pause_s=60, max_total_s=150)
    assert sum(pauses(policy, ServerFault("no", retry_after_s=60))) <= 150


def test_refusals_for_the_rate_use_up_no_attempt():
    backoff = Backoff(RetryPolicy(max_attempts=2), random.Random(0))
    assert all(backoff.after(RateLimited("no", retry_after_s=1)) for _ in range(100))
    assert backoff.after(ServerFault("no")) is not None
    assert backoff.after(ServerFault("no")) is None


@pytest.mark.parametrize(
    "asked", [None, 1, 60, 2.5e11], ids=["nothing", "1 s", "60 s", "year 9999"]
)
def test_the_pauses_of_a_request_that_is_refused_for_ever_are_bounded_together(asked):
    policy = RetryPolicy(max_pause_s=60, max_refused_s=3600)
    found = pauses(policy, RateLimited("no", retry_after_s=asked))
    assert 3600 - 66 < sum(found) <= 3600
    assert max(found) <= 60


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"Retry-After": "Sun, 01 Mar 2026 12:00:30 GMT"}, 30.0),
        ({"Retry-After": "Sun, 01 Mar 2026 11:59:00 GMT"}, None),
        ({"Retry-After": "Fri, 31 Dec 99999999999999999999 23:59:59 GMT"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "1m26.4s"}, 86.4),
        ({"X-RateLimit-Reset": "30"}, None),
        ({"Retry-After": "2026-03-01T13:00:30.5+01:00"}, 30.5),
        ({"Retry-After": "2026-03-01T11:59:00Z"}, None),
        ({"Retry-After": "Sun Mar  1 12:00:30 2026"}, 30.0),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "86400"}, 86_400.0),
        ({"Retry-After": "1e5"}, None),
        ({"Retry-After": "1e308"}, None),
        ({"retry-after-ms": "1e11"}, None),
        ({"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"}, None),
        ({"Retry-After": "Sun, 01 Mar 2026 12:00:30 +" + "9" * 30}, None),
        ({"Retry-After": "Sun, 01 Mar 99999 12:00:30 GMT"}, None),
        ({}, None),
    ],
)
def test_every_spelling_of_retry_after_is_read(headers, seconds):
    assert retry_after(headers, now=NOW) == seconds


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("30", 30.0),
        ("1772366430", 30.0),
        ("1772366430000", 30.0),
        ("1772366399", None),
        ("2026-03-01T12:00:30Z", 30.0),
        ("1e300", None),
        ("soon", None),
    ],
)
def test_every_spelling_of_when_a_limit_is_lifted_is_read(reset, seconds):
    assert until_reset({"X-RateLimit-Reset": reset}, now=NOW) == seconds


REQUESTS, TOKENS = (
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("X-RateLimit-Remaining-Tokens", "X-RateLimit-Reset-Tokens"),
)


@pytest.mark.parametrize(
    ("requests", "tokens", "seconds"),
    [
        (("0", "1m26.4s"), ("100", "6ms"), 86.4),
        (("12", "2m59.56s"), ("0", "6ms"), 0.006),
        (("0", "1m26.4s"), ("0", "7.66s"), 7.66),
        (("0", "30"), ("9", "1"), 30.0),
        (("0", "2026-03-01T12:00:30Z"), ("9", "1s"), 30.0),
        (("0", "soon"), ("0", "7s"), 7.0),
        (("1", "1m26.4s"), ("100", "6ms"), None),
        (("", "1m26.4s"), ("none", "6ms"), None),
    ],
)
def test_of_limits_those_that_are_used_up_say_how_long_to_wait(requests, tokens, seconds):
    headers = dict(zip(REQUESTS + TOKENS, requests + tokens, strict=True))
    assert until_reset(headers, now=NOW) == pytest.approx(seconds)
    assert retry_after(headers, now=NOW) is None


@given(st.text())
def test_any_header_value_is_survived(text):
    until_reset({REQUESTS[0]: "0", REQUESTS[1]: text}, now=NOW)
    value = retry_after({"Retry-After": text}, now=NOW)
    assert value is None or value >= 0
