from __future__ import annotations

import asyncio
from dataclasses import replace
from inspect import signature

import pytest

from pipeline.calls.client import EPOCH_STRIDE, AnswerUnusable, Client
from pipeline.calls.records import CallContext
from pipeline.providers.prices import Price
from pipeline.providers.protocol import Choice
from prompts.question import Message
from scenarios.arms import Parameters
from tests.pipeline.scripted import (
    QUESTION,
    Scripted,
    ask,
    ask_many,
    at_epoch,
    client_of,
    endpoint_of,
    link_of,
    requests_of,
    says,
    statuses_of,
)


@pytest.mark.anyio
async def test_what_was_asked_before_is_not_asked_again(store):
    client, provider = client_of(store, lambda r, n: [says("Why?")])
    assert await ask(client) == "Why?"
    assert await ask(client) == "Why?"
    assert len(provider.requests) == 1
    store.calls.flush()
    await store.calls.reserve(None, 0)  # waits until the count is written
    assert (store.state().calls, store.state().cached_calls) == (1, 1)


@pytest.mark.anyio
async def test_a_request_is_recorded_with_what_it_was_for(store):
    client, _ = client_of(store, lambda r, n: [says("Why?")], price=Price(1.0, 10.0))
    await ask(client)
    (row,) = requests_of(store)
    assert (row.role, row.arm, row.case, row.turn, row.purpose) == (
        "initiator", "arm", "c1", 2, "initiator"
    )  # fmt: skip
    assert (row.model, row.code, row.prompt_tokens, row.completion_tokens) == (
        "compatible/m", "ok", 100, 10
    )  # fmt: skip
    assert row.cost_usd == pytest.approx(0.0002)
    (record,) = store.calls.of_case("c1")
    assert record.messages == (("system", "# Task\nAsk.\n"), ("user", "# Now\nSpeak.\n"))


@pytest.mark.anyio
async def test_the_same_question_asked_at_once_by_two_arms_is_one_request(store):
    async def slowly(request, n):
        await asyncio.sleep(0.01)
        return [says("Why?")] * request.n

    provider = Scripted(slowly)
    link, in_flight = link_of(store), {}
    endpoint = endpoint_of(provider, link)
    clients = [Client(link, {"initiator": endpoint}, arm, in_flight) for arm in ("a", "b", "c")]
    assert await asyncio.gather(*(ask(client) for client in clients)) == ["Why?"] * 3
    assert len(provider.requests) == 1
    assert in_flight == {}
    assert await ask_many(clients[1], 2) == ["Why?", "Why?"]
    assert [(r.n, r.seed) for r in provider.requests] == [(1, 11), (1, 12)]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "changes",
    [
        {"parameters": Parameters(temperature=0.5)},
        {"parameters": Parameters(extra={"top_k": 3})},
        {"structured": "instruct"},
    ],
)
async def test_other_parameters_are_another_question(store, changes):
    first, _ = client_of(store, lambda r, n: [says("one")])
    other, _ = client_of(store, lambda r, n: [says("two")], **changes)
    assert (await ask(first), await ask(other)) == ("one", "two")


@pytest.mark.anyio
async def test_another_seed_prompt_or_schema_is_another_question(store):
    client, provider = client_of(store, lambda r, n: [says("Why?")])
    messages = QUESTION.messages
    swapped = replace(QUESTION, messages=tuple(Message(m.role, m.content[::-1]) for m in messages))
    joined = replace(QUESTION, messages=(Message("system", "".join(m.content for m in messages)),))
    await ask(client)
    await ask(client, CallContext("initiator", 12, 0, "c1", "initiator"))
    await ask(client, question=swapped)
    await ask(client, question=joined)
    assert len(provider.requests) == 4


@pytest.mark.anyio
async def test_an_unreadable_answer_is_handed_back_with_the_reason(store):
    client, provider = client_of(
        store, lambda r, n: ["I would rather not"] if n == 1 else [says("Why?")]
    )
    assert await ask(client) == "Why?"
    assistant, correction = provider.requests[1].messages[-2:]
    assert (assistant.role, assistant.content) == ("assistant", "I would rather not")
    assert "no JSON object" in correction.content
    assert statuses_of(store) == ["unparseable", "ok"]
    assert [r.purpose for r in requests_of(store)] == ["initiator", "initiator/repair-1"]


@pytest.mark.anyio
async def test_an_answer_that_is_wanted_as_it_comes_is_never_repaired(store):
    client, provider = client_of(store, lambda r, n: ["I would rather not"])
    ctx = CallContext("initiator", 11, 0, "c1", "initiator")
    sample = await client.ask_once(QUESTION, ctx)
    assert (sample.row.text, sample.row.status) == ("I would rather not", "unparseable")
    assert await client.ask_once(QUESTION, ctx) == sample
    assert len(provider.requests) == 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("choice", "code"),
    [
        (Choice("no", "stop"), "unparseable"),
        (Choice(says("Why?"), "length"), "truncated"),
        (Choice("I cannot help with that.", "refusal"), "refusal"),
        (Choice(" \n", "stop"), "empty"),
        (Choice('{"utterance": 5}', "stop"), "invalid"),
    ],
)
async def test_an_answer_that_stays_unusable_has_a_code_and_is_kept(store, choice, code):
    client, provider = client_of(store, lambda r, n: [choice])
    with pytest.raises(AnswerUnusable) as error:
        await ask(client)
    assert error.value.code == code
    assert str(error.value).startswith("initiator: ")
    assert len(provider.requests) == 3
    assert statuses_of(store) == [code] * 3
    with pytest.raises(AnswerUnusable):  # it was paid for: the same epoch does not ask again
        await ask(client)
    assert len(provider.requests) == 3


@pytest.mark.anyio
async def test_who_reads_of_an_answer_that_was_cut_off_reads_how_long_it_may_be(store):
    client, provider = client_of(store, lambda r, n: [Choice(says("Why?"), "length")])
    with pytest.raises(AnswerUnusable) as error:
        await ask(client)
    assert str(error.value).endswith(
        "cut off, expected a complete one: use fewer words (max_tokens is 512)"
    )
    assert "max_tokens" not in provider.requests[1].messages[-1].content


@pytest.mark.anyio
async def test_a_retry_asks_again_with_another_seed_unless_there_is_a_readable_answer(store):
    client, provider = client_of(store, lambda r, n: ["no"] if n <= 3 else [says("Why?")])
    with pytest.raises(AnswerUnusable):
        await ask(client)
    assert await ask(client, at_epoch(1)) == "Why?"
    assert [r.seed for r in provider.requests] == [11, 11, 11, 11 + EPOCH_STRIDE]
    assert await ask(client, at_epoch(2)) == "Why?"
    assert len(provider.requests) == 4


@pytest.mark.anyio
async def test_only_missing_samples_are_asked_for(store):
    client, provider = client_of(
        store, lambda r, n: [says(f"sample {r.seed - 11 + i}") for i in range(r.n)]
    )
    assert await ask_many(client, 2) == ["sample 0", "sample 1"]
    assert await ask_many(client, 4) == [f"sample {i}" for i in range(4)]
    assert [(r.n, r.seed) for r in provider.requests] == [(2, 11), (2, 13)]


@pytest.mark.anyio
async def test_a_short_reply_is_topped_up_and_every_part_recorded(store):
    client, _ = client_of(store, lambda r, n: [says("x")] * min(r.n, 2))
    assert await ask_many(client, 3) == ["x"] * 3
    assert [(r.n_asked, r.n_got) for r in requests_of(store)] == [(3, 2), (1, 1)]


@pytest.mark.anyio
async def test_two_readable_candidates_are_enough_and_the_others_stay_in_place(store):
    client, provider = client_of(store, lambda r, n: [says("a"), "torn", says("c"), ""])
    first, second, third, fourth = await ask_many(client, 4)
    assert (first, third) == ("a", "c")
    assert (second.code, fourth.code) == ("unparseable", "empty")
    assert len(provider.requests) == 1


@pytest.mark.anyio
async def test_with_fewer_than_two_the_first_unreadable_ones_are_repaired(store):
    client, provider = client_of(
        store, lambda r, n: ["torn", says("b"), "torn"] if n == 1 else [says("mended")]
    )
    mended, second, third = await ask_many(client, 3)
    assert (mended, second, third.code) == ("mended", "b", "unparseable")
    assert len(provider.requests) == 2


@pytest.mark.anyio
async def test_candidates_that_no_repair_helps_fail_with_the_commonest_reason(store):
    client, provider = client_of(
        store,
        lambda r, n: (
            [says("a"), "torn", "torn", Choice("", "refusal")][: r.n] if n == 1 else ["torn"]
        ),
    )
    with pytest.raises(AnswerUnusable, match="1 of 4 candidates") as error:
        await ask_many(client, 4)
    assert error.value.code == "unparseable"
    assert len(provider.requests) == 1 + 3 * 2


@pytest.mark.anyio
async def test_half_a_surrogate_pair_is_replaced_before_anything_reads_it(store):
    client, _ = client_of(store, lambda r, n: [says("odd \ud83d end")])
    assert await ask(client) == await ask(client) == "odd ? end"


@pytest.mark.anyio
async def test_a_text_of_ten_million_characters_is_stored_cut_and_says_so(store):
    client, _ = client_of(store, lambda r, n: [says("x" * 10_000_000)])
    with pytest.raises(AnswerUnusable):
        await ask(client)
    (record, *_) = store.calls.of_case("c1")
    (choice,) = record.choices
    assert len(choice.text) < 60_100
    assert "\n[... cut by hipo: 9940017 of 10000017 characters ...]\n" in choice.text
    assert choice.text.endswith('"}')


@pytest.mark.anyio
async def test_what_was_paid_is_stored_even_if_reading_it_is_a_fault_of_the_format(store):
    def build(answer, findings):
        raise ZeroDivisionError("a plugin's format")

    client, _ = client_of(store, lambda r, n: [says("a")])
    question = replace(QUESTION, answer=replace(QUESTION.answer, build=build))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            await ask(client, question=question)
    assert [(r.code, r.prompt_tokens) for r in requests_of(store)] == [("ok", 100)]
    assert statuses_of(store) == ["unparseable"]


def test_a_format_or_a_repair_cannot_be_paired_with_another_question():
    assert list(signature(Client.ask).parameters) == ["self", "question", "ctx"]
    assert list(signature(Client.ask_many).parameters) == ["self", "question", "ctx", "k"]
