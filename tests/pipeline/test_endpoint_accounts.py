"""What an endpoint's requests cost, and how it stops, with a provider that says what it is told."""

import asyncio
import json

import pytest

from pipeline.providers.errors import (
    BadRequest,
    EmptyReply,
    ProviderError,
    RateLimited,
    ServerFault,
    TimedOut,
    Unreachable,
)
from pipeline.providers.prices import Price
from pipeline.providers.protocol import Choice, Usage
from pipeline.providers.rate_limiter import RateLimits
from pipeline.providers.retry import RetryPolicy
from pipeline.spending.accounting import bound_of
from pipeline.spending.budget import BudgetReached, Ledger
from pipeline.stopping.stop import Stop, Stopped
from pipeline.store.call_rows import lost_row
from pipeline.store.excess import NO_EXCESS
from scenarios.arms import Parameters
from tests.pipeline.endpoint_bench import PRICE, Bench, Scripted, bench, reply
from tests.pipeline.providers.asking import make_request
from tests.wire.faults import Faults


@pytest.mark.anyio
async def test_without_usage_the_cost_is_unknown_and_the_budget_bears_the_worst(server):
    server.faults = Faults(no_usage=True)
    ledger = Ledger(budget_usd=1.0)
    async with bench(server, ledger=ledger) as b:
        await b.ask()
        assert b.attempts[0].cost_usd is None
        assert b.attempts[0].prompt_tokens is None
        assert b.attempts[0].charged_usd == ledger.spent_usd > 0.00064


@pytest.mark.anyio
async def test_without_a_price_the_cost_is_unknown_but_tokens_are_counted(server):
    ledger = Ledger(budget_tokens=10_000)
    async with bench(server, ledger=ledger, price=None) as b:
        await b.ask()
        (attempt,) = b.attempts
        assert attempt.cost_usd is attempt.charged_usd is None
        used = attempt.prompt_tokens + attempt.completion_tokens
        assert ledger.spent_tokens == attempt.charged_tokens == used


@pytest.mark.anyio
async def test_a_model_that_costs_nothing_costs_nothing_without_usage_either(server):
    server.faults = Faults(no_usage=True)
    async with bench(server, price=Price(0.0, 0.0)) as b:
        await b.ask()
        assert [attempt.cost_usd for attempt in b.attempts] == [0.0]
    b = Bench(Scripted(TimedOut("no answer"), reply("late")), price=Price(0.0, 0.0))
    await b.ask()
    assert [attempt.cost_usd for attempt in b.attempts] == [0.0, 0.0]
    assert lost_row(sent_at=0.0, usd=0.0, tokens=9).cost_usd == 0.0
    assert lost_row(sent_at=0.0, usd=None, tokens=9).cost_usd is None


@pytest.mark.anyio
async def test_the_budget_is_charged_what_was_used_and_never_exceeded(server):
    ledger = Ledger(budget_usd=0.01)
    async with bench(server, ledger=ledger) as b:
        with pytest.raises(BudgetReached):
            await asyncio.gather(*(b.ask(0, 1, seed=i) for i in range(200)))
        assert ledger.spent_usd == pytest.approx(sum(a.cost_usd for a in b.attempts))
        assert 0.005 < ledger.spent_usd <= 0.01
        assert ledger.held_usd == 0


@pytest.mark.anyio
async def test_a_prompt_that_is_counted_as_long_is_charged_as_such():
    price = Price(1.0, 2.0, long_above=9, long_input=10.0, long_output=20.0)
    ledger = Ledger(budget_usd=1.0)
    b = Bench(Scripted(reply("a")), price=price, ledger=ledger)
    await b.ask()
    assert b.attempts[0].prompt_tokens == 10
    assert b.attempts[0].cost_usd == pytest.approx((10 * 10 + 5 * 20) / 1e6)
    assert ledger.spent_usd == b.attempts[0].cost_usd


@pytest.mark.anyio
async def test_an_error_the_endpoint_reported_costs_nothing(server):
    server.faults = Faults(script=("server_error", "rate_limited"))
    ledger = Ledger(budget_usd=1.0)
    async with bench(server, ledger=ledger) as b:
        await b.ask()
        assert [attempt.cost_usd for attempt in b.attempts[:2]] == [0.0, 0.0]
        assert ledger.spent_usd == b.attempts[2].cost_usd


OPENAI = {"prompt_tokens": 10, "completion_tokens": 5}
ANTHROPIC = {"input_tokens": 10, "output_tokens": 5}
ODD = {"prompt_tokens": 10, "completion_tokens": 30_000_000}
NOTHING = {"prompt_tokens": 0, "completion_tokens": 0}
SAID = {"message": "the worker died", "type": "server_error"}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "status", "body", "used"),
    [
        ("compatible", 500, {"error": SAID, "usage": OPENAI}, Usage(10, 5)),
        ("compatible", 500, {"error": {**SAID, "usage": OPENAI}}, Usage(10, 5)),
        ("openai", 500, {"error": SAID, "usage": OPENAI}, Usage(10, 5)),
        ("anthropic", 500, {"type": "error", "error": SAID, "usage": ANTHROPIC}, Usage(10, 5)),
        ("compatible", 429, {"error": SAID, "usage": OPENAI}, Usage(10, 5)),
        ("compatible", 504, {"error": SAID, "usage": OPENAI}, Usage(10, 5)),
        ("compatible", 400, {"error": SAID, "usage": OPENAI}, Usage(10, 5)),
        ("compatible", 200, {"error": {"code": 429, "message": "no"}, "usage": OPENAI}, Usage(10, 5)),
        ("compatible", 200, {"object": "error", "usage": OPENAI}, Usage(10, 5)),
        ("compatible", 500, {"error": SAID, "usage": ODD}, None),
        ("compatible", 500, {"error": SAID, "usage": NOTHING}, Usage(0, 0)),
        ("compatible", 500, {"error": SAID, "usage": "none"}, Usage(0, 0)),
        ("compatible", 500, {"error": SAID, "usage": {"requests_today": 9}}, Usage(0, 0)),
    ],
)  # fmt: skip
async def test_an_error_costs_what_its_endpoint_says_was_used(
    server, monkeypatch, name, status, body, used
):
    for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(key, "a-key")
    server.faults = Faults(canned=(status, body))
    ledger = Ledger(budget_usd=1.0)
    once = RetryPolicy(max_attempts=1, max_refused_s=0)
    async with bench(server, name, ledger=ledger, retry=once, structured="instruct") as b:
        with pytest.raises(ProviderError):
            await b.ask()
    attempt = b.attempts[0]
    if used is None:
        assert attempt.cost_usd is attempt.prompt_tokens is None
        assert ledger.spent_usd == ledger.bound_usd > 0.0006
    else:
        assert attempt.cost_usd == attempt.charged_usd == pytest.approx(PRICE.cost(used))
        assert attempt.charged_tokens == used.prompt + used.completion
        assert (attempt.prompt_tokens or 0, attempt.completion_tokens or 0) == (
            used.prompt,
            used.completion,
        )
        assert ledger.spent_usd == pytest.approx(len(b.attempts) * PRICE.cost(used))
        assert ledger.bound_usd == 0


@pytest.mark.anyio
async def test_what_an_error_counts_too_much_is_held_back_for_from_then_on(server):
    told = {"prompt_tokens": 10, "completion_tokens": 640}
    server.faults = Faults(canned=(500, {"error": SAID, "usage": told}))
    once = RetryPolicy(max_attempts=1)
    async with bench(server, retry=once, structured="instruct") as b:
        with pytest.raises(ServerFault):
            await b.ask()
        assert b.endpoint.capabilities.excess.answers == 10.0
        assert b.endpoint.link.excess_of(b.endpoint.address).answers == 10.0


@pytest.mark.anyio
async def test_choices_that_arrived_before_a_failure_are_on_record():
    provider = Scripted(reply("a", "b"), BadRequest("no", status=413))
    b = Bench(provider, structured="instruct")
    with pytest.raises(BadRequest):
        await b.ask(0, 1, 2)
    assert b.choices[0] == {0: Choice("a", "stop"), 1: Choice("b", "stop")}


@pytest.mark.anyio
async def test_one_failing_sample_does_not_break_the_others_off():
    arrived = asyncio.Event()

    async def late():
        await arrived.wait()
        return reply("late")

    async def fails():
        arrived.set()
        return BadRequest("no", status=413)

    b = Bench(Scripted(fails, late), structured="instruct")
    b.endpoint.capabilities.one_by_one = True
    with pytest.raises(BadRequest):
        await b.ask(0, 1)
    assert sorted(b.codes) == ["bad_request", "ok"]


@pytest.mark.anyio
async def test_an_empty_reply_is_paid_for_and_not_an_answer():
    ledger = Ledger(budget_usd=1.0)
    b = Bench(Scripted(*[reply()] * 5), ledger=ledger)
    with pytest.raises(EmptyReply):
        await b.ask()
    assert b.codes == ["empty_reply"] * 5
    assert ledger.spent_usd == pytest.approx(5 * PRICE.cost(Usage(10, 5)))


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("error", "billed"),
    [
        (TimedOut("late"), True),
        (Unreachable("broke"), True),
        (ServerFault("unreadable"), True),
        (RateLimited("slow", status=429), False),
    ],
)
async def test_what_may_have_been_billed_is_charged_at_its_worst(error, billed):
    ledger = Ledger(budget_usd=1.0)
    once = RetryPolicy(max_attempts=1, max_refused_s=0)
    b = Bench(Scripted(error), ledger=ledger, retry=once)
    with pytest.raises(ProviderError):
        await b.ask()
    (attempt,) = b.attempts
    assert attempt.cost_usd == (None if billed else 0.0)
    assert (ledger.spent_usd > 0.0006) is billed
    assert ledger.held_usd == 0


@pytest.mark.anyio
async def test_a_stop_prevents_the_next_request_but_not_the_answer_in_flight():
    stop = Stop()

    async def meanwhile():
        stop.request("interrupted")
        return reply("a")

    b = Bench(Scripted(meanwhile), stop=stop)
    assert (await b.ask())[0].text == "a"
    with pytest.raises(Stopped):
        await b.ask()
    assert len(b.attempts) == 1


@pytest.mark.anyio
async def test_a_stop_ends_the_wait_for_a_retry():
    stop = Stop()

    async def meanwhile():
        stop.request("interrupted")
        return RateLimited("slow", status=429, retry_after_s=50)

    b = Bench(Scripted(meanwhile), stop=stop)
    with pytest.raises(Stopped):
        await b.ask()
    assert not b.slept


@pytest.mark.anyio
async def test_a_stop_while_waiting_for_the_budget_gives_the_reservation_back():
    stop = Stop()

    class Slow(Ledger):
        async def reserve(self, usd, tokens, **how):
            stop.request("interrupted")
            return await super().reserve(usd, tokens, **how)

    ledger = Slow(budget_usd=1.0)
    b = Bench(Scripted(), ledger=ledger, stop=stop)
    with pytest.raises(Stopped):
        await b.ask()
    assert ledger.spent_usd == ledger.held_usd == 0


@pytest.mark.anyio
async def test_a_cancelled_request_is_recorded_and_charged():
    started = asyncio.Event()

    async def forever():
        started.set()
        await asyncio.Event().wait()

    ledger = Ledger(budget_usd=1.0)
    b = Bench(Scripted(forever), ledger=ledger)
    task = asyncio.ensure_future(b.ask())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert b.codes == ["cancelled"]
    assert ledger.spent_usd > 0


@pytest.mark.parametrize(
    ("mark", "share"),
    [
        ({"type": "ephemeral"}, 1.25),
        ({"type": "ephemeral", "ttl": "5m"}, 1.25),
        (None, 1.25),
        ({"type": "ephemeral", "ttl": "1h"}, 2.0),
        ({"type": "ephemeral", "ttl": "1d"}, 2.0),
        ("forever", 2.0),
    ],
)
def test_only_what_the_cache_keeps_for_longer_than_minutes_is_held_back_at_twice_the_price(
    mark, share
):
    parameters = Parameters(max_tokens=64, extra={"cache_control": mark})
    bound = bound_of(make_request(parameters=parameters), PRICE, NO_EXCESS)
    assert bound.usd == pytest.approx((share * bound.prompt_tokens + 10 * 64) / 1e6)


@pytest.mark.anyio
async def test_the_permit_is_free_while_a_request_waits_for_its_retry():
    provider = Scripted(ServerFault("no", status=503), reply("b"), reply("a"))
    b = Bench(provider, limits=RateLimits(max_concurrency=1))
    other = []

    async def sleep(seconds):
        if not other:
            other.append(True)
            other.append(await b.ask(seed=5))

    b.endpoint.sleep = sleep
    assert (await b.ask())[0].text == "a"
    assert other[1][0].text == "b"


def test_the_identity_holds_what_decides_an_answer_and_nothing_else():
    parameters = Parameters(0.7, None, 64, {"top_k": 5})
    first = Bench(Scripted(), parameters=parameters, price=None).endpoint.identity()
    second = Bench(Scripted(), parameters=parameters, timeout_s=1.0).endpoint.identity()
    third = Bench(Scripted(), parameters=Parameters(0.8)).endpoint.identity()
    assert first == second != third
    assert json.loads(json.dumps(first)) == first
