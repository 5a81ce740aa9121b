"""Endpoints over TLS: whose certificates are trusted, and what is said of others."""

import asyncio
import ssl
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import aiohttp
import pytest
from aiohttp import web

from pipeline.providers.compatible import CompatibleProvider
from pipeline.providers.connection import connection_failure
from pipeline.providers.errors import ProviderError
from pipeline.providers.failures import NotConnected, NoTls
from pipeline.providers.openai import OpenAIProvider
from tests.pipeline.providers.asking import make_request

TLS = Path(__file__).parents[2] / "wire" / "tls"
"""A certificate for 127.0.0.1 that it signed itself, and its key: for tests alone."""
ANSWER = {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": '{"a":1}'}}]}


@asynccontextmanager
async def served(*, tls):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "certificate.pem", TLS / "key.pem")
    app = web.Application()
    app.router.add_post("/v1/chat/completions", lambda _: _answered())
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context if tls else None).start()
    try:
        yield f"https://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


async def _answered():
    return web.json_response(ANSWER)


def both(url):
    return CompatibleProvider(url, None, 4, {}), OpenAIProvider(url, "sk-test", 4, {})


@pytest.mark.anyio
async def test_an_authority_of_the_users_own_is_trusted_once_it_is_named(monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(TLS / "certificate.pem"))
    monkeypatch.setattr("aiohttp.connector._SSL_CONTEXT_VERIFIED", ssl.create_default_context())
    async with served(tls=True) as url:
        for provider in both(url):
            reply = await provider.send(make_request(), 5.0)
            assert [choice.text for choice in reply.choices] == ['{"a":1}']
            await provider.close()


@pytest.mark.anyio
async def test_a_certificate_that_nobody_vouches_for_is_named_as_the_cause():
    async with served(tls=True) as url:
        for provider in both(url):
            with pytest.raises(NoTls, match=r"certificate of .* not trusted .*SSL_CERT_FILE"):
                await provider.send(make_request(), 5.0)
            await provider.close()


@pytest.mark.anyio
async def test_a_server_without_tls_is_named_as_one():
    async with served(tls=False) as url:
        for provider in both(url):
            with pytest.raises(NoTls, match="speak http, not https"):
                await provider.send(make_request(), 5.0)
            await provider.close()


@pytest.mark.anyio
async def test_a_proxy_that_hangs_up_may_do_so_for_a_while_only():
    async def hang_up(reader, writer):
        await reader.read(1)
        writer.close()

    listener = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    url = f"https://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
    for provider in both(url):
        with pytest.raises(ProviderError) as raised:
            await provider.send(make_request(), 5.0)
        assert not isinstance(raised.value, NoTls)
        await provider.close()
    listener.close()


def test_a_name_without_an_address_is_named_as_the_cause():
    key = SimpleNamespace(host="llm.lan", port=443, ssl=True, is_ssl=True)
    error = aiohttp.ClientConnectorDNSError(key, OSError(-2, "Name or service not known"))
    failure = connection_failure(error, "https://llm.lan/v1", 5.0)
    assert isinstance(failure, NotConnected)
    assert str(failure).startswith("no address is known for llm.lan (is the name spelt right")
