"""Every networked provider, with its real SDK, against the local endpoint."""

import asyncio
import json
import socket
import time
from contextlib import ExitStack, asynccontextmanager

import pytest

from pipeline.providers import allowed_time, connection
from pipeline.providers.errors import (
    BadRequest,
    FieldRejected,
    OutOfFunds,
    ProviderError,
    RateLimited,
    ServerFault,
    TimedOut,
    Unauthorised,
    UnknownModel,
    Unreachable,
)
from pipeline.providers.failures import NotConnected
from pipeline.providers.registry import build_provider, parse_model
from scenarios.arms import Parameters
from tests.pipeline.providers.asking import echo, make_request
from tests.wire.faults import Faults
from tests.wire.server import WireServer

KEY = "sk-test-0123456789"
NAMES = ["openai", "anthropic", "compatible"]


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("HIPO_TEST_KEY", KEY)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-never-send-this-one")


@pytest.fixture
def server():
    with WireServer(answer=echo) as running:
        yield running


def url_of(server, name):
    return server.anthropic_url if name == "anthropic" else server.openai_url


@asynccontextmanager
async def connected(name, url, **options):
    options.setdefault("api_key_env", "HIPO_TEST_KEY")
    provider = build_provider(parse_model(f"{name}/m"), base_url=url, **options)
    try:
        yield provider
    finally:
        await provider.close()


async def send(server, name, request=None, timeout_s=10.0, **options):
    async with connected(name, url_of(server, name), **options) as provider:
        return await provider.send(request or make_request(), timeout_s)


async def refusal(server, name, request=None, timeout_s=10.0):
    with pytest.raises(ProviderError) as caught:
        await send(server, name, request, timeout_s)
    return caught.value


def utterances(reply):
    return [json.loads(choice.text)["utterance"] for choice in reply.choices]


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_an_answer_arrives_with_its_usage_and_request_id(server, name):
    reply = await send(server, name)
    assert utterances(reply) == ["seed 7"]
    assert reply.choices[0].finish == "stop"
    assert reply.usage.prompt > 60
    assert reply.usage.completion > 0
    assert reply.request_id == "req-0"


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_an_answer_that_comes_while_the_process_stands_still_is_used(
    server, name, monkeypatch
):
    monkeypatch.setattr(allowed_time, "LATE_S", 0.1)
    async with connected(name, url_of(server, name)) as provider:
        await provider.send(make_request(), 10.0)
        server.latency_s = 0.2
        asking = asyncio.ensure_future(provider.send(make_request(), 0.6))
        while server.count < 2:
            await asyncio.sleep(0.01)
        time.sleep(0.9)
        assert utterances(await asking) == ["seed 7"]


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_a_prefix_seen_before_counts_as_cached(server, name):
    first, second = await send(server, name), await send(server, name)
    assert first.usage.cached == 0
    assert 0 < second.usage.cached < second.usage.prompt == first.usage.prompt


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["openai", "compatible"])
async def test_one_request_brings_n_seeded_samples(server, name):
    reply = await send(server, name, make_request(n=3))
    assert utterances(reply) == ["seed 7", "seed 8", "seed 9"]


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_the_schema_and_the_sampling_parameters_reach_the_endpoint(server, name):
    parameters = Parameters(0.3, 0.8, 64, {"top_k": 20})
    await send(server, name, make_request(parameters=parameters))
    body = server.seen[0].body
    assert (body["temperature"], body["top_p"], body["top_k"]) == (0.3, 0.8, 20)
    assert ("output_config" if name == "anthropic" else "response_format") in body
    assert body["max_completion_tokens" if name == "openai" else "max_tokens"] == 64


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_only_the_key_the_user_named_is_sent(server, name):
    await send(server, name)
    headers = server.seen[0].headers
    assert KEY in {headers.get("x-api-key"), headers.get("authorization", "")[len("Bearer ") :]}
    assert "never-send-this-one" not in str(headers) + server.seen[0].raw


@pytest.mark.anyio
async def test_compatible_sends_no_key_unless_one_was_named(server):
    await send(server, "compatible", api_key_env=None)
    assert "authorization" not in server.seen[0].headers
    assert "never-send-this-one" not in str(server.seen[0])


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_a_redirect_is_not_followed(server, name):
    with WireServer(answer=echo) as elsewhere:
        target = url_of(elsewhere, name)
        tail = "/v1/messages" if name == "anthropic" else "/chat/completions"
        server.faults = Faults(redirect_to=target + tail)
        error = await refusal(server, name)
        assert isinstance(error, BadRequest)
        assert "redirect" in error.hint
        assert elsewhere.count == 0


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_a_wrong_key_is_said_without_repeating_it(server, name):
    server.faults = Faults(canned=(401, {"error": {"message": f"wrong key {KEY}"}}))
    error = await refusal(server, name)
    assert isinstance(error, Unauthorised)
    assert KEY not in str(error) + repr(error)
    assert "--api-key-env" in error.hint


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_a_key_that_a_server_repeats_in_its_answer_is_masked(server, name):
    server.answer = lambda messages, seed: f"You came with {KEY}."
    async with connected(name, url_of(server, name)) as provider:
        reply = await provider.send(make_request(), 5)
    assert reply.choices[0].text == "You came with [key]."
    assert KEY not in repr(reply)


@pytest.mark.anyio
async def test_a_key_in_an_answer_that_misses_the_schema_is_masked(server):
    error = {"code": "json_validate_failed", "failed_generation": f"You came with {KEY}."}
    server.faults = Faults(canned=(400, {"error": error}))
    async with connected("compatible", url_of(server, "compatible")) as provider:
        reply = await provider.send(make_request(), 5)
    assert reply.choices[0].text == "You came with [key]."


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("word", ["ollama", "secret", "content", "123456"])
async def test_a_placeholder_that_is_given_as_a_key_changes_no_answer(
    server, name, word, monkeypatch
):
    monkeypatch.setenv("HIPO_TEST_KEY", word)
    monkeypatch.setattr("scenarios.log._concealed", set())  # other tests log such words
    server.answer = lambda messages, seed: f"It's {word}, and 41234567 people know."
    async with connected(name, url_of(server, name)) as provider:
        reply = await provider.send(make_request(), 5)
    assert reply.choices[0].text == f"It's {word}, and 41234567 people know."


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, {"error": {"message": "quota", "code": "insufficient_quota"}}, OutOfFunds),
        (404, {"error": {"message": "no such model"}}, UnknownModel),
        (500, "oops", ServerFault),
        (529, {"type": "error", "error": {"message": "overloaded"}}, RateLimited),
        (422, {"detail": [{"loc": ["body", "temperature"], "msg": "not allowed"}]}, FieldRejected),
        (200, {"error": "sorry"}, ServerFault),
        (200, {"error": {"message": "slow down", "code": 429}}, RateLimited),
        (200, {"type": "error", "error": {"type": "overloaded_error"}}, RateLimited),
        (200, ["sorry"], ServerFault),
    ],
)
async def test_errors_come_out_as_one_tree(server, name, status, body, kind):
    server.faults = Faults(canned=(status, body))
    error = await refusal(server, name)
    assert type(error) is kind
    assert server.count == 1, "the SDK retried by itself"


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_a_429_says_how_long_to_wait(server, name):
    server.faults = Faults(script=("rate_limited",), retry_after="12")
    error = await refusal(server, name)
    assert isinstance(error, RateLimited)
    assert error.retry_after_s == 12
    assert error.request_id == "req-0"


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_a_hanging_endpoint_is_given_up_in_time(server, name):
    server.faults = Faults(script=("hang",))
    assert isinstance(await refusal(server, name, timeout_s=0.05), TimedOut)


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_a_broken_body_is_a_server_fault(server, name):
    server.faults = Faults(script=("broken_json",))
    assert isinstance(await refusal(server, name), ServerFault)


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_a_connection_that_breaks_may_have_been_billed(server, name):
    server.faults = Faults(script=("dropped",))
    error = await refusal(server, name)
    assert isinstance(error, Unreachable)
    assert not isinstance(error, NotConnected)


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_an_address_where_nobody_listens_is_told_apart(server, name):
    server.port = 9  # discard: nothing listens there
    assert isinstance(await refusal(server, name), NotConnected)


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_no_usage_is_none(server, name):
    server.faults = Faults(no_usage=True)
    assert (await send(server, name)).usage is None


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_empty_choices_are_an_empty_reply(server, name):
    server.faults = Faults(script=("empty_choices",))
    assert (await send(server, name)).choices == ()


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_further_headers_are_sent_and_kept_out_of_messages(server, name):
    server.faults = Faults(canned=(400, {"error": "bad tenant tenant-4711"}))
    with pytest.raises(BadRequest) as caught:
        await send(server, name, headers={"X-Tenant": "tenant-4711"})
    assert server.seen[0].headers["x-tenant"] == "tenant-4711"
    assert "4711" not in str(caught.value)


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_a_provider_does_not_show_its_key(server, name):
    async with connected(name, url_of(server, name)) as provider:
        assert KEY not in repr(provider)


@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_a_connection_that_does_not_come_about_is_given_up_before_the_time_of_the_answer(
    server, name, monkeypatch
):
    """A listener whose queue is full answers no handshake: nothing has been sent."""
    monkeypatch.setattr(connection, "CONNECT_S", 0.2)
    with ExitStack() as open_sockets:
        full = open_sockets.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(3):
            waiting = open_sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        server.port = full.getsockname()[1]
        assert isinstance(await refusal(server, name, timeout_s=60.0), NotConnected)
