"""What a failed request means for the next one, and what a call that waits for its endpoint holds."""

import asyncio
from dataclasses import replace

import pytest

from pipeline.endpoints.signs import CallSign
from pipeline.endpoints.wait_rules import WaitRules
from pipeline.providers.context_size import ContextSizes
from pipeline.providers.errors import ContextExceeded, ServerFault, TimedOut
from pipeline.providers.failures import NotConnected, NoTls, WrongPlace, timed_out
from pipeline.providers.rate_limiter import RateLimits
from pipeline.providers.retry import RetryPolicy
from pipeline.spending.budget import Ledger
from pipeline.stopping.stop import Stop, Stopped
from scenarios.errors import UsageError
from tests.pipeline.endpoint_bench import ORIGIN, Bench, Scripted, reply

AWAY = NotConnected("no connection")
NO_TLS = NoTls("the certificate of u is not trusted", hint="name its file in SSL_CERT_FILE")
QUICK = WaitRules(confirm_s=0.001, probe_s=0.001)
TOO_LONG = ContextExceeded("too long", status=400, sizes=ContextSizes(2302, 2048))


@pytest.mark.anyio
async def test_a_call_that_timed_out_gets_twice_the_time_and_at_most_four_times():
    provider = Scripted(*[TimedOut("late")] * 3, reply("a"))
    b, asked = Bench(provider), []
    permit = b.endpoint.link.permit
    b.endpoint.link.permit = lambda request: asked.append(request.patience) or permit(request)
    await b.ask()
    assert [request.patience for request in provider.requests] == [1, 2, 4, 4]
    assert asked == [1, 2, 4, 4], "how long it may be out is known where it is waited for"


@pytest.mark.anyio
async def test_the_time_that_was_doubled_is_that_of_the_call_alone():
    provider = Scripted(TimedOut("late"), reply("a"), reply("b"))
    b = Bench(provider)
    await b.ask()
    await b.ask()
    assert [request.patience for request in provider.requests] == [1, 2, 1]


def test_a_timeout_says_what_to_turn():
    assert "raise --timeout or lower --max-concurrency" in str(timed_out(600.0))


@pytest.mark.anyio
async def test_an_outage_uses_up_no_attempt():
    provider = Scripted(*[AWAY] * 20, reply("a"))
    b = Bench(
        provider,
        retry=RetryPolicy(max_attempts=2),
        rules=WaitRules(confirm_s=0.001, probe_s=0.001),
    )
    assert (await b.ask())[0].text == "a"
    assert b.codes == ["unreachable"] * 20 + ["ok"]


@pytest.mark.anyio
async def test_the_first_call_of_a_role_does_not_wait_behind_those_of_another():
    """All who ask as this role wait for it alone."""
    release = asyncio.Event()

    async def slow():
        await release.wait()
        return reply("a")

    provider = Scripted(reply("first"), *[slow] * 9)
    b = Bench(provider, limits=RateLimits(max_concurrency=2))
    await b.ask(seed=1)
    initiators = [asyncio.ensure_future(b.ask(seed=seed)) for seed in range(2, 9)]
    for _ in range(9):
        await asyncio.sleep(0)
    responder = asyncio.ensure_future(b.ask(seed=99, origin=replace(ORIGIN, role="responder")))
    for _ in range(9):
        await asyncio.sleep(0)
    release.set()
    await asyncio.gather(responder, *initiators)
    seeds = [request.seed for request in provider.requests]
    assert seeds.index(99) <= 4, "two were under way, and one more was first in the line"


@pytest.mark.anyio
async def test_refusals_to_serve_use_up_no_attempt_while_others_are_served():
    busy = ServerFault("busy", status=503)
    provider = Scripted(reply("first"), *[busy] * 5, reply("a"))
    b = Bench(provider, retry=RetryPolicy(max_attempts=2))
    await b.ask()
    assert (await b.ask())[0].text == "a"


@pytest.mark.anyio
async def test_a_request_that_alone_is_never_served_fails_in_the_end():
    busy = ServerFault("busy", status=503)
    provider = Scripted(reply("first"), *[busy] * 100)
    b = Bench(provider, retry=RetryPolicy(max_attempts=2, max_total_s=100.0))
    await b.ask()
    with pytest.raises(ServerFault):
        await b.ask()
    assert sum(b.slept) <= 100.0


@pytest.mark.anyio
async def test_a_call_that_waits_for_its_endpoint_holds_no_place_and_no_budget():
    ledger, stop, failed = Ledger(budget_usd=1.0), Stop(), asyncio.Event()

    async def fails():
        if len(provider.requests) == 3:
            failed.set()
        return AWAY

    provider = Scripted(reply("first"), fails, fails)
    b = Bench(
        provider,
        ledger=ledger,
        stop=stop,
        limits=RateLimits(max_concurrency=1),
        rules=WaitRules(confirm_s=0.001, probe_s=600.0),
    )
    await b.ask()
    calls = [asyncio.ensure_future(b.ask(seed=seed)) for seed in range(3)]
    await failed.wait()
    for _ in range(20):
        await asyncio.sleep(0)
    assert not any(call.done() for call in calls)
    assert ledger.held_usd == ledger.held_tokens == 0
    limiter = b.endpoint.link._limiters.limiter(b.endpoint.address)
    place = await asyncio.wait_for(limiter.enter(1, stop.check), 10)  # the only one there is
    limiter.withdraw(place)
    stop.request("interrupted")
    ended = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(end, Stopped) for end in ended)


@pytest.mark.anyio
async def test_without_tls_nothing_is_waited_for_until_the_endpoint_has_answered():
    with pytest.raises(UsageError) as raised:
        await Bench(Scripted(NO_TLS)).ask()
    assert (raised.value.message, raised.value.hint) == (NO_TLS.message, NO_TLS.hint)
    b = Bench(Scripted(reply("a"), NO_TLS, NO_TLS, reply("b")), rules=QUICK)
    await b.ask()
    assert (await b.ask())[0].text == "b", "an outage like any other"


@pytest.mark.anyio
async def test_an_endpoint_that_another_worker_had_an_answer_of_is_known_to_speak_tls():
    b = Bench(Scripted(NO_TLS, NO_TLS, reply("b")), rules=QUICK)
    gate = b.endpoint.link._gate(b.endpoint.address)
    gate.settle(await gate.enter("initiator"), CallSign("answered"))
    assert (await b.ask())[0].text == "b"


@pytest.mark.anyio
async def test_a_page_of_a_proxy_is_waited_out_where_the_run_had_answers_before():
    page = WrongPlace("a web page", hint="is the path right?")
    with pytest.raises(UsageError, match="a web page"):
        await Bench(Scripted(page)).ask()
    b = Bench(Scripted(page, reply("b")), rules=QUICK)
    b.endpoint.link._gates.answered_before = lambda _model, role: role == ORIGIN.role
    assert (await b.ask())[0].text == "b"


@pytest.mark.anyio
async def test_what_an_error_says_of_a_connection_is_why_the_run_stops():
    stop = Stop()
    unknown = NotConnected("no address is known for llm.lan", hint="is the name spelt right?")
    rules = WaitRules(wait_s=0.0, confirm_s=0.001)
    b = Bench(Scripted(*[unknown] * 2), stop=stop, rules=rules)
    with pytest.raises(Stopped):
        await b.ask()
    assert stop.reason == "no address is known for llm.lan (is the name spelt right?)"


@pytest.mark.anyio
async def test_a_context_that_not_one_prompt_of_the_role_fits_into_is_for_the_user_to_mend():
    with pytest.raises(UsageError) as raised:
        await Bench(Scripted(TOO_LONG)).ask()
    assert "it holds 2,048 tokens, and 2,302 are needed" in raised.value.message
    assert "larger -c" in raised.value.hint


@pytest.mark.anyio
async def test_a_prompt_beyond_the_context_fails_its_case_once_the_role_was_answered():
    b = Bench(Scripted(reply("a"), TOO_LONG))
    await b.ask()
    with pytest.raises(ContextExceeded):
        await b.ask()
    assert len(b.attempts) == 2, "it was sent again"
