"""What an endpoint turns out not to do: several samples at once, schemas, staying the same model."""

import asyncio
import logging

import pytest

from pipeline.endpoints.schema_evidence import keeps_to_schema
from pipeline.providers.errors import (
    BadRequest,
    FieldRejected,
    Moderated,
    OutOfFunds,
    RateLimited,
    Unauthorised,
)
from pipeline.providers.failures import from_status
from pipeline.providers.protocol import Choice, Reply, Usage
from pipeline.spending.budget import BudgetReached, Ledger
from scenarios.errors import UsageError
from tests.pipeline.endpoint_bench import PRICE, Bench
from tests.pipeline.providers.asking import SCHEMA

SOUND = '{"utterance": "yes"}'


class ByRule:
    """A provider that answers by a function of the request and of how many there were."""

    name = "compatible"
    base_url = "http://127.0.0.1/v1"
    samples_per_request = True

    def __init__(self, answer):
        self.answer = answer
        self.requests = []

    async def send(self, request, timeout_s):
        self.requests.append(request)
        answer = self.answer(request)
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def asked(self):
        return [(request.n, request.structured) for request in self.requests]


def reply(*texts, model=None, fingerprint=None, finish="stop"):
    choices = tuple(Choice(text, finish) for text in texts)
    return Reply(choices, Usage(10, 5), "req", model, fingerprint)


def refusal(message, status=400):
    body = b'{"error": {"message": "%s"}}' % message.encode()
    return from_status(status, {}, body, sent={"n", "messages", "response_format"})


OUT_OF_RANGE = refusal("Field 'n': Value must be between 1 <= value <= 2, but got 4")


@pytest.mark.anyio
@pytest.mark.parametrize("message", ["Field 'n': Value must be between 1 <= value <= 2", "no", ""])
@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_refusal_of_several_samples_is_tried_once_with_one_whatever_it_says(
    message, status
):
    provider = ByRule(lambda r: refusal(message, status) if r.n > 1 else reply(SOUND))
    bench = Bench(provider)
    assert len(await bench.ask(0, 1, 2, 3)) == 4
    assert provider.asked == [(4, "native")] + [(1, "native")] * 4
    await bench.ask(4, 5)
    assert [n for n, _ in provider.asked[5:]] == [1, 1], "the lesson was forgotten"
    assert bench.notices == [
        "the endpoint rejects n = 4; samples are asked for one by one from now on"
    ]


@pytest.mark.anyio
async def test_several_samples_beyond_a_limit_of_tokens_a_minute_are_asked_for_singly():
    large = refusal("Request too large for m on tokens per min (TPM): Limit 9, Requested 40", 429)
    provider = ByRule(lambda r: large if r.n > 1 else reply(SOUND))
    assert len(await Bench(provider).ask(0, 1, 2, 3)) == 4
    assert provider.asked == [(4, "native")] + [(1, "native")] * 4


@pytest.mark.anyio
async def test_a_mistake_that_one_sample_has_too_surfaces_and_teaches_nothing():
    provider = ByRule(lambda r: refusal("the temperature is too high"))
    bench = Bench(provider, structured="native")
    with pytest.raises(BadRequest, match="temperature is too high"):
        await bench.ask(0, 1, 2, 3)
    assert [n for n, _ in provider.asked] == [4, 1]
    assert not bench.endpoint.capabilities.one_by_one
    assert not bench.notices


@pytest.mark.anyio
async def test_a_filter_that_turns_a_prompt_down_is_asked_once_and_teaches_nothing():
    filtered = refusal("Your prompt was flagged as potentially violating our usage policy")
    provider = ByRule(lambda r: filtered)
    bench = Bench(provider)
    with pytest.raises(Moderated):
        await bench.ask(0, 1, 2, 3)
    assert provider.asked == [(4, "native")]
    assert not bench.endpoint.capabilities.one_by_one
    assert bench.codes == ["refusal"]


@pytest.mark.anyio
async def test_a_schema_that_is_refused_is_not_taken_for_a_refusal_of_several_samples():
    provider = ByRule(
        lambda r: refusal("no") if r.structured == "native" else reply(*[SOUND] * r.n)
    )
    bench = Bench(provider)
    assert len(await bench.ask(0, 1, 2)) == 3
    assert not bench.endpoint.capabilities.one_by_one
    assert bench.endpoint.capabilities.native_refused


@pytest.mark.anyio
@pytest.mark.parametrize("bounds_texts", [True, False])
async def test_a_model_in_this_process_that_takes_no_schema_is_asked_by_the_prompt(bounds_texts):
    """Its refusal has no status."""
    refused = FieldRejected("a package is not installed", field="response_format")
    provider = ByRule(lambda r: refused if r.structured == "native" else reply(SOUND))
    bench = Bench(provider, bounds_texts=bounds_texts)
    await bench.ask(0)
    tries = 2 if bounds_texts else 1
    assert provider.asked == [(1, "native")] * tries + [(1, "instruct")]
    await bench.ask(1)
    assert provider.asked[-2:] == [(1, "instruct")] * 2, "the lesson was forgotten"
    (notice,) = bench.notices
    assert "does not take structured output (a package is not installed); the prompt" in notice


@pytest.mark.anyio
@pytest.mark.parametrize("bounds_texts", [True, False])
async def test_where_the_schema_is_insisted_on_such_a_model_is_not_asked_without(bounds_texts):
    refused = FieldRejected("a package is not installed", field="response_format")
    provider = ByRule(lambda r: refused)
    bench = Bench(provider, structured="native", bounds_texts=bounds_texts)
    with pytest.raises(FieldRejected, match="not installed"):
        await bench.ask(0)
    assert {mode for _, mode in provider.asked} == {"native"}


@pytest.mark.anyio
async def test_several_samples_that_came_before_are_not_given_up_for_one_refusal():
    provider = ByRule(lambda r: reply(*[SOUND] * r.n))
    bench = Bench(provider, structured="native")
    await bench.ask(0, 1, 2)
    provider.answer = lambda r: refusal("content policy")
    with pytest.raises(BadRequest):
        await bench.ask(3, 4, 5)
    assert [n for n, _ in provider.asked] == [3, 3]


@pytest.mark.anyio
async def test_a_passing_fault_does_not_end_the_try_with_one_sample():
    answers = [OUT_OF_RANGE, RateLimited("slow down", status=429), reply(SOUND), reply(SOUND)]
    provider = ByRule(lambda r: answers.pop(0))
    bench = Bench(provider)
    assert len(await bench.ask(0, 1)) == 2
    assert [n for n, _ in provider.asked] == [2, 1, 1, 1]
    assert bench.endpoint.capabilities.one_by_one


@pytest.mark.anyio
async def test_a_prompt_beyond_the_context_is_not_sent_again_in_other_ways():
    provider = ByRule(lambda r: refusal("maximum context length is 512 tokens"))
    bench = Bench(provider)
    with pytest.raises(UsageError, match="it holds 512 tokens"):
        await bench.ask(0, 1)
    assert len(provider.requests) == 1


@pytest.mark.parametrize(
    ("text", "finish", "keeps"),
    [
        (SOUND, "stop", True),
        (f"  {SOUND}\n", "stop", True),
        (f"<think>hm {{</think>\n{SOUND}", "stop", True),
        ('{"utterance": "a", "more": 1}', "stop", True),
        (f"```json\n{SOUND}\n```", "stop", False),
        ("Yes, I do.", "stop", False),
        ("Yes, I", "length", False),
        ('{"answer": "yes"}', "stop", False),
        ('{"utterance": "ye', "stop", False),
        ('{"utterance": "ye', "length", None),
        ("", "stop", None),
        ("I cannot help with that.", "refusal", None),
    ],
)
def test_only_what_an_enforcing_endpoint_never_sends_counts_against_it(text, finish, keeps):
    assert keeps_to_schema(Choice(text, finish), SCHEMA) is keeps


@pytest.mark.anyio
async def test_a_schema_that_is_silently_ignored_is_noticed_and_no_longer_sent():
    provider = ByRule(lambda r: reply("Yes, I do."))
    bench = Bench(provider)
    for sample in range(5):
        await bench.ask(sample)
    assert [mode for _, mode in provider.asked] == ["native"] * 3 + ["instruct"] * 2
    assert [row.structured for row in bench.attempts] == ["ignored"] * 3 + ["instruct"] * 2
    (notice,) = bench.notices
    assert "do not keep to the schema" in notice


@pytest.mark.anyio
async def test_bad_samples_of_an_endpoint_that_kept_to_a_schema_change_nothing():
    texts = [SOUND, *["Yes, I do."] * 9]
    provider = ByRule(lambda r: reply(texts.pop(0)))
    bench = Bench(provider)
    for sample in range(10):
        await bench.ask(sample)
    assert {mode for _, mode in provider.asked} == {"native"}
    assert [row.structured for row in bench.attempts] == ["native"] + ["ignored"] * 9
    assert not bench.notices


@pytest.mark.anyio
async def test_a_schema_that_is_insisted_on_is_still_sent_and_its_being_ignored_told_once():
    provider = ByRule(lambda r: reply("Yes, I do."))
    bench = Bench(provider, structured="native")
    for sample in range(6):
        await bench.ask(sample)
    assert {mode for _, mode in provider.asked} == {"native"}
    assert bench.notices == ["the endpoint ignores the schema that it is sent"]


@pytest.mark.anyio
async def test_who_answered_is_recorded_and_a_change_told_once(caplog):
    said = [("a", "fp1"), (None, None), ("a", "fp1"), ("b", "fp1"), ("a", "fp2")]
    provider = ByRule(lambda r: reply(SOUND, model=said[0][0], fingerprint=said.pop(0)[1]))
    bench = Bench(provider)
    with caplog.at_level(logging.WARNING, "hipo"):
        for sample in range(5):
            await bench.ask(sample)
    assert [row.reply_model for row in bench.attempts] == ["a", None, "a", "b", "a"]
    assert [row.system_fingerprint for row in bench.attempts] == ["fp1", None, "fp1", "fp1", "fp2"]
    change = "the model that answers has changed from a fp1 to b fp1"
    assert bench.notices == [change]
    assert [record.getMessage() for record in caplog.records] == [change]


@pytest.mark.anyio
async def test_who_answers_at_more_length_than_asked_for_raises_what_a_budget_holds_back():
    long = Reply((Choice(SOUND, "stop"),), Usage(10, 640), "req")
    ledger = Ledger()
    b = Bench(ByRule(lambda r: long), ledger=ledger)
    held = []
    reserve = ledger.reserve

    async def noted(usd, tokens, **how):
        held.append(usd)
        return await reserve(usd, tokens, **how)

    ledger.reserve = noted
    for seed in range(3):
        await b.ask(seed=seed)
    assert held[1] == held[2] == pytest.approx(held[0] + (640 - 64) * 10 / 1e6)
    (told,) = b.notices
    assert "640 answer tokens" in told
    assert "10.0 times" in told


class Slowly(ByRule):
    """Takes so long that all who may send have sent before the first of them is answered."""

    async def send(self, request, timeout_s):
        for _ in range(100):
            await asyncio.sleep(0)
        return await super().send(request, timeout_s)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("usage", "lesson"),
    [(Usage(10, 640), "640 answer tokens"), (Usage(20_000, 5), "20,000 prompt tokens")],
)
async def test_whoever_waits_while_an_endpoint_counts_more_than_it_may_keeps_the_budget_too(
    usage, lesson
):
    provider = Slowly(lambda r: Reply((Choice(SOUND, "stop"),), usage, "req"))
    one = PRICE.cost(usage)
    ledger = Ledger(budget_usd=4 * one)
    b = Bench(provider, ledger=ledger)
    came = await asyncio.gather(*(b.ask(seed=seed) for seed in range(16)), return_exceptions=True)
    refused = [error for error in came if isinstance(error, BudgetReached)]
    answered = len(came) - len(refused)
    assert 0 < answered < 16
    assert ledger.spent_usd == pytest.approx(answered * one)
    assert ledger.spent_usd <= 4 * one
    assert ledger.held_usd == 0
    (told,) = b.notices
    assert lesson in told


NO_SYSTEM = refusal("System role not supported")


@pytest.mark.anyio
async def test_a_model_that_knows_no_system_role_is_told_once_and_asked_without_it():
    provider = ByRule(lambda r: reply(SOUND) if "system_role" in r.omit else NO_SYSTEM)
    b = Bench(provider)
    await b.ask(seed=1)
    await b.ask(seed=2)
    assert [sorted(request.omit) for request in provider.requests] == [
        [],
        ["system_role"],
        ["system_role"],
    ]
    (told,) = b.notices
    assert "takes no messages of the system" in told


@pytest.mark.anyio
async def test_who_refuses_the_roles_without_a_system_message_too_is_not_asked_for_ever():
    provider = ByRule(lambda r: NO_SYSTEM)
    with pytest.raises(FieldRejected, match="System role not supported"):
        await Bench(provider).ask()
    assert len(provider.requests) <= 3


@pytest.mark.anyio
@pytest.mark.parametrize("kind", [OutOfFunds, Unauthorised])
async def test_an_account_that_is_refused_is_not_asked_again_without_the_schema(kind):
    provider = ByRule(lambda r: kind("no", status=400))
    with pytest.raises(kind):
        await Bench(provider).ask()
    assert len(provider.requests) == 1
