from __future__ import annotations

import asyncio

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.spending.budget import BudgetReached, Ledger
from pipeline.stopping.stop import Stop, Stopped
from pipeline.store.flight_mark import Queued
from scenarios.errors import UsageError
from tests.virtual_time import run_virtually


class Log:
    """Remembers what was written down, as a store would."""

    def __init__(self):
        self.rows = {}
        self.written = 0
        self.marks = []
        self.queued = Queued()

    async def mark_flight(self, mark):
        self.marks.append((mark.requests, mark.usd, mark.tokens))

    async def reserve(self, usd, tokens):
        await asyncio.sleep(0)
        self.written += 1
        self.rows[self.written] = (usd, tokens)
        return self.written

    def release(self, reservation):
        del self.rows[reservation]


@pytest.mark.anyio
async def test_a_request_that_cannot_fit_is_refused_with_the_figures():
    ledger = Ledger(budget_usd=1.0, budget_tokens=5000, spent_usd=0.75, spent_tokens=10)
    with pytest.raises(BudgetReached, match=r"\$0.7500 of \$1.0000 spent.*up to \$0.3000.*4,990"):
        await ledger.reserve(0.3, 4990)
    ledger.settle(await ledger.reserve(0.25, 4990), 0.25, 4990)
    with pytest.raises(BudgetReached):
        await ledger.reserve(0.0, 1)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("spent", "held", "next_usd", "advice"),
    [
        (0.75, 0.1, 0.3, "raise --budget-usd above $1.15"),
        (0.99, 0.0, 0.010001, "raise --budget-usd above $1.01"),
        (0.9, 0.0, 0.10003, "raise --budget-usd above $1.01"),
    ],
)
async def test_the_budget_that_is_advised_is_enough_for_the_request_that_was_refused(
    spent, held, next_usd, advice
):
    ledger = Ledger(budget_usd=1.0, budget_tokens=10_000, spent_usd=spent)
    if held:
        await ledger.reserve(held, 10)
    with pytest.raises(BudgetReached) as raised:
        await ledger.reserve(next_usd, 20)
    assert raised.value.advice == advice
    again = Ledger(budget_usd=float(advice.partition("$")[2]), spent_usd=spent + held)
    await again.reserve(next_usd, 20)


@pytest.mark.anyio
async def test_the_advice_names_every_budget_that_is_too_small_and_no_other():
    ledger = Ledger(budget_usd=1.0, budget_tokens=100, spent_usd=0.9, spent_tokens=80)
    with pytest.raises(BudgetReached) as raised:
        await ledger.reserve(0.05, 30)
    assert raised.value.advice == "raise --budget-tokens above 110"
    with pytest.raises(BudgetReached) as raised:
        await ledger.reserve(0.2, 30)
    assert raised.value.advice == (
        "raise --budget-usd above $1.10 and raise --budget-tokens above 110"
    )


@pytest.mark.anyio
async def test_it_waits_for_others_before_it_gives_up():
    ledger = Ledger(budget_usd=1.0)
    first = await ledger.reserve(0.9, 10)
    second = asyncio.ensure_future(ledger.reserve(0.9, 10))
    await anyio.wait_all_tasks_blocked()
    assert not second.done()
    ledger.settle(first, 0.05, 3)
    reservation = await second
    third = asyncio.ensure_future(ledger.reserve(0.9, 10))
    await anyio.wait_all_tasks_blocked()
    assert not third.done()
    ledger.settle(reservation, None, None)
    with pytest.raises(BudgetReached):
        await third
    assert ledger.spent_usd == pytest.approx(0.95)
    assert ledger.spent_tokens == 13


@pytest.mark.anyio
async def test_the_worst_case_is_charged_where_the_cost_is_unknown():
    ledger = Ledger(budget_usd=1.0)
    ledger.settle(await ledger.reserve(0.5, 100), None, None)
    assert (ledger.spent_usd, ledger.spent_tokens) == (0.5, 100)


@pytest.mark.anyio
async def test_settling_twice_counts_once():
    ledger = Ledger(budget_usd=1.0)
    reservation = await ledger.reserve(0.5, 100)
    ledger.settle(reservation, 0.2, 10)
    ledger.settle(reservation, 0.3, 10)
    ledger.release(reservation)
    assert (ledger.spent_usd, ledger.held_usd) == (0.2, 0.0)


@pytest.mark.anyio
async def test_a_model_without_a_price_cannot_be_paid_from_a_budget_in_dollars():
    with pytest.raises(UsageError, match="needs a price"):
        await Ledger(budget_usd=1.0).reserve(None, 10)
    await Ledger(budget_tokens=10).reserve(None, 10)


@pytest.mark.anyio
async def test_without_a_budget_nothing_is_refused_or_written_for_each_request():
    log = Log()
    ledger = Ledger(log=log)
    reservation = await ledger.reserve(1e9, 10**9)
    assert reservation.id is None
    assert log.written == 0


@pytest.mark.anyio
async def test_without_a_budget_the_most_that_was_in_flight_at_once_is_written_down():
    log = Log()
    ledger = Ledger(log=log)
    for _ in range(100):
        several = [await ledger.reserve(0.1, 1_000) for _ in range(4)]
        for one in several:
            ledger.settle(one, 0.01, 100)
    assert len(log.marks) == 4, "it grows with what is in flight, not with what was sent"
    requests, usd, tokens = log.marks[-1]
    assert requests == 4
    assert 0.4 <= usd <= 0.5
    assert 4_000 <= tokens <= 5_000
    await ledger.reserve(None, 10)
    assert len(log.marks) == 4
    log.queued.requests = 7
    await ledger.reserve(None, 10)
    assert log.marks[-1][0] == 9, "what is answered and not on disk yet would be lost, too"


def test_without_a_budget_what_is_written_down_follows_a_run_that_has_become_narrow():
    log = Log()

    async def fly(ledger, requests, seconds):
        for _ in range(seconds):
            several = [await ledger.reserve(0.1, 1_000) for _ in range(requests)]
            await asyncio.sleep(1.0)
            for one in several:
                ledger.settle(one, 0.01, 100)

    async def narrow():
        ledger = Ledger(log=log)
        hangs = await ledger.reserve(0.1, 1_000)
        await fly(ledger, 256, 5)
        written = len(log.marks)
        await fly(ledger, 200, 70)
        assert len(log.marks) == written, "less than half is worth a write"
        await fly(ledger, 4, 61)
        assert len(log.marks) == written + 1
        assert log.marks[-1] == (5, pytest.approx(0.5), 5_000), "what still hangs counts"
        await fly(ledger, 8, 1)
        assert log.marks[-1][0] == 9
        ledger.settle(hangs, 0.01, 100)

    run_virtually(narrow())


@pytest.mark.anyio
async def test_what_is_in_a_batch_or_computed_here_is_not_in_flight():
    log = Log()
    ledger = Ledger(log=log)
    await ledger.reserve(0.1, 1_000, durable=False)
    await ledger.reserve(0.0, 1_000, travels=False)
    assert log.marks == []


@pytest.mark.anyio
async def test_under_a_budget_a_reservation_is_written_down_before_it_is_granted():
    log = Log()
    ledger = Ledger(budget_tokens=1000, log=log)
    reservation = await ledger.reserve(0.1, 10)
    assert log.rows == {reservation.id: (0.1, 10)}
    ledger.release(reservation)
    assert log.rows == {}
    assert ledger.held_tokens == ledger.spent_tokens == 0


@pytest.mark.anyio
async def test_a_cancelled_reservation_holds_nothing():
    ledger = Ledger(budget_usd=1.0, log=Log())
    task = asyncio.ensure_future(ledger.reserve(1.0, 1))
    await asyncio.sleep(0)
    assert ledger.held_usd == 1.0
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert ledger.held_usd == 0.0
    await ledger.reserve(1.0, 1)


@settings(deadline=None, max_examples=20)
@given(
    st.lists(st.tuples(st.integers(1, 50), st.floats(0, 1)), min_size=1, max_size=25),
    st.integers(1, 200),
)
def test_whatever_is_asked_at_once_the_budget_is_never_overrun(requests, budget):
    ledger = Ledger(budget_tokens=budget)
    most = []

    async def one(worst, share):
        try:
            reservation = await ledger.reserve(None, worst)
        except BudgetReached:
            return 0
        most.append(ledger.spent_tokens + ledger.held_tokens)
        await asyncio.sleep(0)
        used = int(worst * share)
        ledger.settle(reservation, None, used)
        return used

    async def everyone():
        return await asyncio.wait_for(asyncio.gather(*(one(*r) for r in requests)), 10)

    used = asyncio.run(everyone())
    assert max(most, default=0) <= budget
    assert ledger.spent_tokens == sum(used)
    assert ledger.held_tokens == 0


def test_a_stop_keeps_its_first_reason():
    stop = Stop()
    stop.check()
    assert not stop.requested
    stop.request("budget")
    stop.request("interrupted")
    with pytest.raises(Stopped, match="stopped: budget") as stopped:
        stop.check()
    assert (stop.requested, stopped.value.reason) == (True, "budget")
