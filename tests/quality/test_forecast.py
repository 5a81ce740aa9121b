"""Forecasts: what a pilot promises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality.forecast import Pilot, forecast, wilson


def test_the_interval_is_that_of_the_textbook():
    low, high = wilson(8, 10)
    assert (low, high) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 10)[0] == 0.0
    assert wilson(10, 10)[1] == pytest.approx(1.0)


@given(st.integers(1, 5_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_share_and_stays_within_bounds(counts):
    successes, trials = counts
    low, high = wilson(successes, trials)
    assert 0 <= low <= successes / trials + 1e-12
    assert successes / trials - 1e-12 <= high <= 1


def test_no_trials_promise_nothing():
    with pytest.raises(ValueError, match="0 trials"):
        wilson(0, 0)


def test_a_pilot_is_scaled_to_what_is_wanted():
    told = forecast(Pilot(generated=45, failed=5, accepted=25, pending=15, discarded=5, cost_usd=2))
    assert told.yield_share == 0.5
    assert told.cost_per_dialogue == pytest.approx(0.04)
    assert told.cost_per_accepted == pytest.approx(0.08)
    expected, best, worst = told.dialogues_for(100)
    assert expected == 200
    assert best < expected < worst
    assert told.cost_of(expected) == pytest.approx(8.0)


def test_where_nothing_is_accepted_nothing_can_be_promised():
    told = forecast(Pilot(10, 0, 0, 10, 0, cost_usd=1.0))
    assert told.cost_per_accepted is None
    assert told.dialogues_for(5)[0] is None
    assert told.cost_of(None) is None


def test_an_unknown_cost_stays_unknown():
    told = forecast(Pilot(10, 0, 5, 5, 0, cost_usd=None))
    assert (told.cost_per_dialogue, told.cost_of(20)) == (None, None)
