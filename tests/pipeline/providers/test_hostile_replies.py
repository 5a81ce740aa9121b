"""Whatever comes over the wire is a reply or an error of the tree, through every adapter."""

import itertools
import json
import resource

import pytest

from pipeline.providers.anthropic import AnthropicProvider
from pipeline.providers.body import LONGEST_BODY, read_capped
from pipeline.providers.compatible import CompatibleProvider
from pipeline.providers.errors import ProviderError, ServerFault
from pipeline.providers.failures import was_surely_free
from pipeline.providers.openai import OpenAIProvider
from tests.pipeline.providers.asking import make_request
from tests.wire.hostile import HOSTILE
from tests.wire.hostile_reply import REPLY
from tests.wire.hostile_server import HostileServer

TIMEOUT_S = 20.0
PATIENCE_S = 0.3
"""For what takes for ever."""


@pytest.fixture(scope="module")
def server():
    with HostileServer() as hostile:
        yield hostile


def providers(server):
    return {
        "compatible": CompatibleProvider(f"{server.url}/v1", "key-of-the-test", 4, {}),
        "openai": OpenAIProvider(f"{server.url}/v1", "key-of-the-test", 4, {}),
        "anthropic": AnthropicProvider(server.url, "key-of-the-test", 4, {}),
    }


async def outcome_of(provider, name):
    timeout_s = PATIENCE_S if HOSTILE[name].outcome == "timeout" else TIMEOUT_S
    try:
        reply = await provider.send(make_request(model=name), timeout_s)
    except ProviderError as error:
        leaks = "key-of-the-test" in f"{error} {error.body}"
        return "leaks the key" if leaks else error.code
    texts = all(isinstance(choice.text, str) for choice in reply.choices)
    return REPLY if texts else "a text that is none"


@pytest.mark.anyio
@pytest.mark.parametrize("adapter", ["compatible", "openai", "anthropic"])
async def test_every_hostile_reply_has_the_outcome_of_the_table(server, adapter):
    provider = providers(server)[adapter]
    wire = "anthropic" if adapter == "anthropic" else "openai"
    expected, found = {}, {}
    for reply in HOSTILE.values():
        if wire in reply.wires:
            expected[reply.name] = reply.outcome
            try:
                found[reply.name] = await outcome_of(provider, reply.name)
            except Exception as error:
                found[reply.name] = repr(error)[:200]
    await provider.close()
    assert found == expected
    assert len(found) > 123


@pytest.mark.anyio
@pytest.mark.parametrize("adapter", ["compatible", "openai", "anthropic"])
async def test_an_answer_without_end_is_hung_up_on_soon_after_the_cap(server, adapter):
    server.sent.clear()
    provider = providers(server)[adapter]
    with pytest.raises(ServerFault, match="longer than 4 MiB") as caught:
        await provider.send(make_request(model="endless"), TIMEOUT_S)
    await provider.close()
    # what both sides of the connection hold on their way counts as sent
    assert server.sent["endless"] < 8 * LONGEST_BODY
    assert caught.value.body.startswith('{"a": "xxx')


@pytest.mark.anyio
@pytest.mark.parametrize("adapter", ["compatible", "openai"])
async def test_a_megabyte_that_inflates_to_a_gigabyte_is_not_inflated(server, adapter):
    provider = providers(server)[adapter]
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ServerFault, match="longer than 4 MiB"):
        await provider.send(make_request(model="gzip-bomb"), TIMEOUT_S)
    await provider.close()
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib
    assert grown_kib < 200 * 1024


@pytest.mark.anyio
async def test_a_body_is_read_no_further_than_its_cap():
    taken = itertools.count()

    async def pieces():
        while True:
            next(taken)
            yield b"x" * 2**16

    with pytest.raises(ServerFault, match="longer than 4 MiB"):
        await read_capped(pieces(), cut=False)
    assert next(taken) == LONGEST_BODY // 2**16 + 1
    assert len(await read_capped(pieces(), cut=True)) == LONGEST_BODY + 2**16


@pytest.mark.anyio
@pytest.mark.parametrize("adapter", ["compatible", "openai", "anthropic"])
async def test_an_error_that_is_cut_may_have_been_billed(server, adapter):
    provider = providers(server)[adapter]
    with pytest.raises(ProviderError) as cut:
        await provider.send(make_request(model="error-beyond-the-cap"), TIMEOUT_S)
    with pytest.raises(ProviderError) as whole:
        await provider.send(make_request(model="status-500"), TIMEOUT_S)
    await provider.close()
    assert (cut.value.billed, cut.value.usage) == (True, None)
    assert (was_surely_free(cut.value), was_surely_free(whole.value)) == (False, True)


@pytest.mark.anyio
@pytest.mark.parametrize("adapter", ["compatible", "openai"])
async def test_the_start_of_an_answer_of_no_use_is_kept_for_the_store(server, adapter):
    provider = providers(server)[adapter]
    with pytest.raises(ServerFault) as caught:
        await provider.send(make_request(model="body-nested-objects"), TIMEOUT_S)
    assert caught.value.body.startswith('{"choices":{"choices":')
    assert "[... cut by hipo: 1040000 of 1100000 characters ...]" in caught.value.body
    reply = await provider.send(make_request(model="choices-none"), TIMEOUT_S)
    assert reply.choices == ()
    assert json.loads(reply.body)["choices"] == []
    sound = await provider.send(make_request(model="sound"), TIMEOUT_S)
    assert sound.body == ""
    await provider.close()
