"""Endpoints that misbehave in every way seen so far, over real HTTP, without waiting."""

import asyncio

import pytest

from pipeline.endpoints.wait_rules import WaitRules
from pipeline.providers.errors import (
    BadRequest,
    FieldRejected,
    RateLimited,
    ServerFault,
    Unauthorised,
    UnknownModel,
)
from pipeline.providers.protocol import Usage
from pipeline.providers.rate_limiter import RateLimits
from pipeline.providers.retry import RetryPolicy
from tests.pipeline.endpoint_bench import PRICE, bench, said, seeds
from tests.wire.faults import Faults


@pytest.mark.anyio
async def test_samples_come_back_by_index_from_one_request(server):
    async with bench(server) as b:
        assert said(await b.ask(0, 1, 2)) == seeds(0, 1, 2)
        (attempt,) = b.attempts
        assert (attempt.n_asked, attempt.n_got, attempt.structured) == (3, 3, "native")
        usage = Usage(attempt.prompt_tokens, attempt.completion_tokens)
        assert attempt.cost_usd == pytest.approx(PRICE.cost(usage))


@pytest.mark.anyio
async def test_no_seed_is_larger_than_what_endpoints_take(server):
    async with bench(server) as b:
        assert said(await b.ask(4, seed=2**31 - 1)) == {4: "seed 3"}


@pytest.mark.anyio
async def test_only_the_missing_samples_are_asked_for_in_consecutive_runs(server):
    async with bench(server) as b:
        assert said(await b.ask(4, 1, 2)) == seeds(1, 2, 4)
        assert sorted(tuple(choices) for choices in b.choices) == [(1, 2), (4,)]


@pytest.mark.anyio
async def test_a_provider_without_n_is_asked_sample_by_sample(server):
    async with bench(server, "anthropic") as b:
        assert said(await b.ask(0, 1, 2)) == seeds(0, 1, 2)
        assert server.count == 3


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["openai", "anthropic", "compatible"])
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("rate_limited", "rate_limited"),
        ("server_error", "server_fault"),
        ("broken_json", "server_fault"),
        ("empty_choices", "empty_reply"),
        ("dropped", "unreachable"),
    ],
)
async def test_a_passing_fault_is_retried_and_recorded(server, name, fault, code):
    server.faults = Faults(script=(fault,))
    async with bench(server, name) as b:
        assert said(await b.ask()) == seeds(0)
        assert b.codes == [code, "ok"]


@pytest.mark.anyio
async def test_a_hanging_request_is_given_up_and_tried_again(server):
    server.faults = Faults(script=("hang",))
    async with bench(server, timeout_s=0.2) as b:
        assert said(await b.ask()) == seeds(0)
        assert b.codes == ["timeout", "ok"]
        assert b.attempts[0].cost_usd is None
        assert b.attempts[0].charged_usd > b.attempts[1].cost_usd


@pytest.mark.anyio
async def test_the_pause_a_429_asks_for_is_kept_by_the_call_that_got_it_alone(server):
    server.faults = Faults(script=("rate_limited",), retry_after="20")
    async with bench(server) as b:
        await b.ask()
        assert 20 <= sum(b.slept) <= 23
        b.slept.clear()
        await b.ask()
        assert sum(b.slept) < 2, "the next request waited for the pause of another one"


@pytest.mark.anyio
async def test_a_call_that_is_not_tried_again_makes_no_other_wait(server):
    server.faults = Faults(script=("rate_limited",), retry_after="50")
    async with bench(server, retry=RetryPolicy(max_refused_s=10)) as b:
        with pytest.raises(RateLimited):
            await b.ask()
        await b.ask()
        assert sum(b.slept) < 2


@pytest.mark.anyio
async def test_refusals_for_the_rate_use_up_no_attempt(server):
    server.faults = Faults(script=("rate_limited",) * 20, retry_after="0")
    async with bench(server, retry=RetryPolicy(max_attempts=2)) as b:
        assert said(await b.ask()) == seeds(0)
        assert b.codes == ["rate_limited"] * 20 + ["ok"]


@pytest.mark.anyio
async def test_retries_end(server):
    server.faults = Faults(rates={"server_error": 1.0})
    async with bench(server, structured="instruct") as b:
        with pytest.raises(ServerFault):
            await b.ask()
        assert server.count == 5
        assert b.codes == ["server_fault"] * 5


@pytest.mark.anyio
async def test_a_wrong_key_is_not_tried_twice(server):
    server.faults = Faults(key="another")
    async with bench(server) as b:
        with pytest.raises(Unauthorised):
            await b.ask()
        assert server.count == 1


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["openai", "anthropic", "compatible"])
async def test_a_rejected_field_is_left_out_recorded_and_remembered(server, name):
    server.faults = Faults(reject=frozenset({"temperature"}))
    async with bench(server, name) as b:
        assert said(await b.ask()) == seeds(0)
        await b.ask()
        assert [attempt.omitted for attempt in b.attempts] == [
            "",
            "temperature",
            "temperature",
        ]
        assert len(b.notices) == 1
        assert "'temperature'" in b.notices[0]


@pytest.mark.anyio
async def test_the_length_limit_changes_its_name_when_rejected(server):
    server.faults = Faults(reject=frozenset({"max_tokens"}))
    async with bench(server) as b:
        await b.ask()
        assert server.seen[-1].body["max_completion_tokens"] == 64


@pytest.mark.anyio
async def test_the_length_limit_is_never_dropped_altogether(server):
    server.faults = Faults(reject=frozenset({"max_tokens", "max_completion_tokens"}))
    async with bench(server) as b:
        with pytest.raises(FieldRejected):
            await b.ask()
        assert server.count == 2


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["openai", "anthropic", "compatible"])
@pytest.mark.parametrize("names_it", [True, False])
@pytest.mark.parametrize("status", [400, 404, 422, 500, 501])
async def test_structured_output_turned_down_falls_back_to_the_prompt(
    server, name, names_it, status
):
    server.faults = Faults(no_schema=status, names_schema=names_it)
    async with bench(server, name) as b:
        assert said(await b.ask()) == seeds(0)
        assert b.attempts[-1].structured == "instruct"
        before = server.count
        await b.ask()
        assert server.count == before + 1, "the lesson was forgotten"
        assert len(b.notices) == 1
        assert "structured output" in b.notices[0]


@pytest.mark.anyio
async def test_a_404_that_names_no_model_is_known_after_the_tries_of_one_call(server):
    server.faults = Faults(canned=(404, {"error": {"message": "Not Found"}}))
    async with bench(server, rules=WaitRules(), bounds_texts=True) as b:
        calls = [asyncio.create_task(b.ask(seed=number)) for number in range(8)]
        ended, waiting = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        for call in waiting:
            call.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        with pytest.raises(UnknownModel, match=f"m at {server.openai_url}: status 404: Not Found"):
            await ended.pop()
        assert [attempt.structured for attempt in b.attempts] == ["native", "native", "instruct"]


@pytest.mark.anyio
@pytest.mark.parametrize("names_it", [True, False])
@pytest.mark.parametrize("status", [400, 404])
async def test_what_an_endpoint_does_not_take_is_found_out_by_one_call(server, status, names_it):
    server.faults = Faults(no_schema=status, names_schema=names_it)
    async with bench(server, rules=WaitRules(), bounds_texts=True) as b:
        await asyncio.gather(*(b.ask(seed=number) for number in range(8)))
        forms = [attempt.structured for attempt in b.attempts]
        assert forms == ["native", "native", *["instruct"] * 8]


@pytest.mark.anyio
async def test_structured_output_that_is_insisted_on_is_not_given_up(server):
    server.faults = Faults(no_schema=400)
    async with bench(server, structured="native") as b:
        with pytest.raises(FieldRejected):
            await b.ask()
        assert server.count == 1


@pytest.mark.anyio
async def test_a_passing_500_does_not_cost_an_endpoint_its_structured_output(server):
    server.faults = Faults(script=("server_error",))
    async with bench(server) as b:
        await b.ask()
        assert [attempt.structured for attempt in b.attempts] == ["native", "native"]
        server.faults = Faults(rates={"server_error": 1.0})
        with pytest.raises(ServerFault):
            await b.ask()
        assert {attempt.structured for attempt in b.attempts} == {"native"}


@pytest.mark.anyio
async def test_a_refusal_that_has_nothing_to_do_with_the_schema_stays_what_it_is(server):
    server.faults = Faults(canned=(400, {"error": "the prompt offends"}))
    async with bench(server) as b:
        with pytest.raises(BadRequest, match="offends"):
            await b.ask()
        assert [attempt.structured for attempt in b.attempts] == ["native", "instruct"]
        server.faults = Faults()
        await b.ask()
        assert b.attempts[-1].structured == "native"
        assert not b.notices


@pytest.mark.anyio
async def test_an_endpoint_that_ignores_n_is_topped_up_and_remembered(server):
    server.faults = Faults(ignore_n=True)
    async with bench(server) as b:
        assert said(await b.ask(0, 1, 2, 3)) == seeds(0, 1, 2, 3)
        assert server.count == 4
        assert said(await b.ask(0, 1, 2, 3)) == seeds(0, 1, 2, 3)
        assert server.count == 8
        assert [attempt.n_asked for attempt in b.attempts] == [4, 1, 1, 1, 1, 1, 1, 1]
        assert len(b.notices) == 1


@pytest.mark.anyio
async def test_an_endpoint_that_rejects_n_is_asked_sample_by_sample(server):
    server.faults = Faults(reject=frozenset({"n"}))
    async with bench(server) as b:
        assert said(await b.ask(0, 1, 2)) == seeds(0, 1, 2)
        assert server.count == 4


@pytest.mark.anyio
async def test_a_short_reply_is_topped_up_and_nothing_is_asked_twice(server):
    server.faults = Faults(short_by=2)
    async with bench(server) as b:
        assert said(await b.ask(0, 1, 2, 3, 4)) == seeds(0, 1, 2, 3, 4)
        assert (tuple(b.choices[0]), b.attempts[1].n_asked) == ((0, 1, 2), 2)
        assert sum(attempt.n_got for attempt in b.attempts) == 5


@pytest.mark.anyio
async def test_choices_nobody_asked_for_are_ignored(server):
    server.faults = Faults(extra_choices=2)
    async with bench(server) as b:
        assert said(await b.ask(0, 1)) == seeds(0, 1)
        assert b.attempts[0].n_got == 2


@pytest.mark.anyio
async def test_prose_and_unknown_labels_are_left_to_the_reader(server):
    server.faults = Faults(script=("prose", "unknown_label"))
    async with bench(server) as b:
        assert "I hope that helps" in (await b.ask())[0].text
        assert "Sideways" in (await b.ask())[0].text
        assert server.count == 2


@pytest.mark.anyio
async def test_no_more_requests_fly_at_once_than_permitted(server):
    server.latency_s = 0.01
    async with bench(server, limits=RateLimits(max_concurrency=3)) as b:
        await asyncio.gather(*(b.ask(seed=i) for i in range(12)))
        assert server.most_at_once == 3


@pytest.mark.anyio
async def test_many_faults_at_once_lose_no_sample(server):
    rates = {"rate_limited": 0.1, "server_error": 0.1, "broken_json": 0.1, "empty_choices": 0.1}
    server.faults = Faults(rates=rates, seed=3)
    async with bench(server, retry=RetryPolicy(max_attempts=20, max_total_s=1e6)) as b:
        results = await asyncio.gather(*(b.ask(0, 1, 2, seed=1000 * i) for i in range(40)))
        for i, result in enumerate(results):
            assert said(result) == {j: f"seed {1000 * i + j}" for j in range(3)}
        assert b.codes.count("ok") == 40
        assert len(b.codes) > 50
