import pytest

from benchmarks.verified import games, measured
from pipeline.offline_reasoner.reasoner import Rates


@pytest.mark.anyio
async def test_what_is_listed_and_wrong_never_passes_and_mending_helps():
    first, last, attempts = await measured(Rates(error=0.3), 60)
    assert all(passed is true for passed, true in (*first, *last))
    assert sum(true for _, true in last) > sum(true for _, true in first)
    assert 1 < attempts < 5


@pytest.mark.anyio
async def test_what_nobody_lists_passes():
    first, _, _ = await measured(Rates(error=0.5, missed=1), 20)
    assert all(passed for passed, _ in first)
    assert not all(true for _, true in first)


def test_games_are_those_that_ship_and_others():
    payoffs = [game.payoffs for game in games(16)]
    assert payoffs[0]["R"]["B"] == (5, 0)
    assert len({str(one) for one in payoffs}) > 12
