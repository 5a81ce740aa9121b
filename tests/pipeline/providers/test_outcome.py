import pytest

from pipeline.providers.errors import RateLimited, ServerFault, TimedOut, Unreachable
from pipeline.providers.failures import NotConnected, from_status
from pipeline.providers.outcome import outcome_of


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (RateLimited("no"), "slow_down"),
        (NotConnected("no"), "unavailable"),
        (Unreachable("it broke"), "failed"),
        (TimedOut("no answer"), "failed"),
        (ServerFault("no", status=500), "failed"),
        (KeyboardInterrupt(), "failed"),
    ],
)
def test_an_error_says_what_it_means_for_the_next_requests(error, outcome):
    assert outcome_of(error) == outcome


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (429, "slow_down"),
        (529, "slow_down"),
        (503, "unavailable"),
        (502, "unavailable"),
        (521, "unavailable"),
        (522, "unavailable"),
        (523, "unavailable"),
        (530, "unavailable"),
        (500, "failed"),
        (520, "failed"),
        (524, "failed"),
        (400, "failed"),
    ],
)
def test_a_status_says_what_it_means_for_the_next_requests(status, outcome):
    assert outcome_of(from_status(status, {}, b"", sent=())) == outcome
