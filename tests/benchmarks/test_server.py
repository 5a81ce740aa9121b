"""The server of the benchmarks answers what their clients send."""

from __future__ import annotations

import asyncio

import orjson
import pytest

from benchmarks.server import _Connection

BODY = b'{"messages": "veracity_rationale"}'


async def _answers(*asked: bytes, until: bytes | None) -> bytes:
    """Send requests over one connection; return what is read up to a mark, or to its end."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(0.0), "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(b"".join(asked))
        found = await (reader.readuntil(until) if until else reader.read())
        writer.close()
        await writer.wait_closed()
    return found


def _request(verb: bytes, *headers: bytes, body: bytes = b"") -> bytes:
    """Return a request as clients write it."""
    lines = [verb + b" /v1/x HTTP/1.1", b"Host: here", *headers]
    if body:
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join([*lines, b"", body])


@pytest.mark.parametrize("header", [b"Connection: close", b"connection:close"])
@pytest.mark.parametrize("verb", [b"POST", b"GET"])
def test_a_client_that_reads_to_the_end_of_the_connection_comes_to_it(verb, header) -> None:
    asked = _request(verb, header, body=BODY if verb == b"POST" else b"")
    answer = asyncio.run(asyncio.wait_for(_answers(asked, until=None), 20))
    assert orjson.loads(answer.partition(b"\r\n\r\n")[2])["object"] in ("chat.completion", "list")


def test_other_connections_stay_open_for_the_next_request() -> None:
    asked = [_request(b"POST", b"Connection: keep-alive", body=BODY), _request(b"GET")]
    answers = asyncio.run(asyncio.wait_for(_answers(*asked, until=b'"object":"list"'), 20))
    assert answers.startswith(b"HTTP/1.1 200 OK")
