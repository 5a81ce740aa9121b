"""Requests below aiohttp's sessions: which connections are used again, and what is sent."""

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace

import aiohttp
import pytest

from pipeline.providers.openai import OpenAIProvider
from pipeline.providers.posting import PostedAnswer, Poster, header_lines
from tests.pipeline.providers.asking import make_request

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Talk:
    """A server that says what it is told to, and what it was sent on how many connections."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.connections = 0
        self.heads = []

    async def serve(self, reader, writer):
        self.connections += 1
        while self.answers:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                break
            self.heads.append(head)
            length = next(
                int(x[15:]) for x in head.split(b"\r\n") if x.startswith(b"Content-Length:")
            )
            await reader.readexactly(length)
            writer.write(self.answers.pop(0))
        writer.close()


@asynccontextmanager
async def posting_to(talk, **settings):
    server = await asyncio.start_server(talk.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    poster = Poster(f"http://127.0.0.1:{port}/v1/ask?x=1", connections=2, **settings)
    try:
        yield poster
    finally:
        await poster.close()
        server.close()


async def read(poster, **given):
    with await poster.post(b"{}", 5.0, **given) as answer:
        return answer.status, await answer.content.read()


@pytest.mark.anyio
async def test_a_connection_is_used_again_once_its_answer_was_read():
    talk = Talk(OK, OK)
    async with posting_to(talk) as poster:
        assert [await read(poster), await read(poster)] == [(200, b"ok")] * 2
    assert talk.connections == 1


@pytest.mark.anyio
async def test_a_connection_with_an_unread_answer_is_closed():
    talk = Talk(OK.replace(b"2\r\n\r\nok", b"9\r\n\r\nok"), OK)
    async with posting_to(talk) as poster:
        with await poster.post(b"{}", 5.0) as answer:
            assert answer.status == 200
        assert await read(poster) == (200, b"ok")
    assert talk.connections == 2


@pytest.mark.anyio
async def test_a_request_that_is_broken_off_takes_its_connection_along():
    talk = Talk(b"HTTP/1.1 200 OK\r\n", OK)
    async with posting_to(talk) as poster:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await read(poster)
        assert await read(poster) == (200, b"ok")
    assert talk.connections == 2


@pytest.mark.anyio
async def test_interim_answers_are_passed_over():
    talk = Talk(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK)
    async with posting_to(talk) as poster:
        assert await read(poster) == (200, b"ok")


@pytest.mark.anyio
async def test_address_and_headers_are_sent_as_a_session_would():
    talk = Talk(OK, OK)
    async with posting_to(talk, headers={"Authorization": "Bearer \u00e9"}) as poster:
        await read(poster)
        await read(poster, lines=header_lines([(b"Host", b"other")]))
    first, second = talk.heads
    assert first.startswith(b"POST /v1/ask?x=1 HTTP/1.1\r\nHost: 127.0.0.1:")
    assert "Authorization: Bearer \u00e9\r\n".encode() in first
    assert b"User-Agent: Python/" in first
    assert b"Accept-Encoding: " in first
    assert second == b"POST /v1/ask?x=1 HTTP/1.1\r\nHost: other\r\nContent-Length: 2\r\n\r\n"


@pytest.mark.anyio
async def test_a_header_with_a_line_break_is_refused():
    with pytest.raises(ValueError, match="Newline"):
        Poster("http://127.0.0.1:1/", {"X-Mine": "a\r\nHost: b"}, connections=1)


@pytest.mark.anyio
async def test_what_is_no_address_is_an_error_of_the_client():
    with pytest.raises(aiohttp.ClientError):
        Poster("http://[1/", connections=1)


CHAT = b'{"choices":[{"message":{"content":"{}"},"finish_reason":"stop"}]}'
CHAT_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(CHAT), CHAT)


@pytest.mark.anyio
async def test_a_proxy_of_the_environment_is_used_by_the_sdk_of_openai(monkeypatch):
    talk = Talk(CHAT_ANSWER, CHAT_ANSWER)
    server = await asyncio.start_server(talk.serve, "127.0.0.1", 0)
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    provider = OpenAIProvider("http://models.invalid/v1", "key", 2, {})
    try:
        for _ in range(2):
            await provider.send(make_request(), 5.0)
    finally:
        await provider.close()
        server.close()
    for head in talk.heads:
        assert head.startswith(b"POST http://models.invalid/v1/chat/completions HTTP/1.1\r\n")


@pytest.mark.anyio
async def test_requests_of_the_sdk_of_openai_carry_its_headers_and_their_own_length():
    talk = Talk(CHAT_ANSWER, CHAT_ANSWER)
    server = await asyncio.start_server(talk.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    provider = OpenAIProvider(f"http://127.0.0.1:{port}/v1", "key", 2, {"X-Mine": "1"})
    try:
        await provider.send(make_request(model="m"), 5.0)
        await provider.send(make_request(model="another"), 5.0)
    finally:
        await provider.close()
        server.close()
    lines = [sorted(head.lower().split(b"\r\n")) for head in talk.heads]
    lengths = [[line for line in of_one if b"content-length" in line] for of_one in lines]
    assert [len(of_one) for of_one in lengths] == [1, 1]
    assert lengths[0] != lengths[1]
    for of_one in lines:
        assert {b"authorization: bearer key", b"x-mine: 1", b"x-stainless-lang: python"} <= set(
            of_one
        )
        assert b"content-type: application/json" in of_one
    assert talk.connections == 1


class Content:
    """A body that came with its head, and is not waited for."""

    def is_eof(self):
        return True

    def read_nowait(self):
        return b"ok"


def test_a_body_that_is_there_is_read_without_waiting():
    head = SimpleNamespace(code=200, headers={}, raw_headers=())
    answer = PostedAnswer(None, head, Content())
    with pytest.raises(StopIteration) as read:
        answer.whole().send(None)
    assert read.value.value == b"ok"
