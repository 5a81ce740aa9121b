"""The stream between driver and workers: what is read, what is refused, and who is let in."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.endpoints.outage import Admission
from pipeline.endpoints.run_link import PermitRequest
from pipeline.executors.frames import (
    GREETING_BYTES,
    LONGEST_WAIT_S,
    MOST_BYTES,
    PROTOCOL,
    Stream,
    StreamBroken,
)
from pipeline.executors.messages import (
    AskPermit,
    Denied,
    Durable,
    Ended,
    FromWorker,
    Granted,
    Hits,
    Ping,
    Play,
    Pong,
    Report,
    Settled,
    StopNow,
    from_driver,
    from_worker,
)
from pipeline.playing.runner import JobFailure
from pipeline.providers.rate_limiter import ModelAddress
from pipeline.store.excess import Excess
from tests.factories import (
    make_case,
    make_choice_row,
    make_dialogue,
    make_request_row,
    make_tactic,
)

TOKEN = "a token"
Talk = Callable[[Stream[FromWorker]], Awaitable[None]]

OF_WORKER = (
    AskPermit(1, PermitRequest(ModelAddress("compatible", "http://x", "m"), 9, None, 12, "judge")),
    Settled(1, make_request_row(), "slow_down", 2.5),
    Settled(2, make_request_row(), "answered", None, excess=Excess(9, 4.0)),
    Report(2, "ab" * 32, ("Hello",), (("system", (0,)),), (1,), (make_choice_row(),)),
    Hits(3),
    Pong(),
    Ended(4, make_dialogue("Why?", "So.", tactic=make_tactic(veracity="Quality")).turns, None),
    Ended(5, (), JobFailure("failed", "refusal", "it would not", fault="refused")),
)
OF_DRIVER = (
    Play(
        1,
        make_case(variation={"persona": "calm"}),
        "arm",
        2,
        (("cd" * 32, make_choice_row()),),
        {"traceparent": "00-1-2-01"},
    ),
    Granted(1, 7, Admission(3, "judge", outage=True), paced=True, waited_s=0.5),
    Granted(2, None, None, paced=False, waited_s=0.5, excess=Excess(9, 4.0)),
    Denied(2, JobFailure("pending", "budget", "reached")),
    Durable(3),
    StopNow("budget reached", "budget", "raise it"),
    Ping(),
)


@asynccontextmanager
async def served(talk: Talk) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Serve one connection with ``talk``, whose error is raised at the end, and open it."""
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        stream = Stream(reader, writer, from_worker)
        try:
            await talk(stream)
            ended.set_result(None)
        except StreamBroken as error:
            ended.set_exception(error)
        finally:
            await stream.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            yield reader, writer
        finally:
            writer.close()
        await ended
    finally:
        server.close()


def test_what_one_end_says_is_what_the_other_reads() -> None:
    assert tuple(from_worker(_json(OF_WORKER))) == OF_WORKER
    assert tuple(from_driver(_json(OF_DRIVER))) == OF_DRIVER


def test_a_driver_is_no_worker_and_a_field_of_another_type_is_refused() -> None:
    backwards = Report(2, "ab", (), (("user", (-1,)),), (), ())
    for frame in (
        _json(OF_DRIVER),
        _json((backwards,)),
        b'[{"kind": "hits", "count": "3"}]',
        b'{"kind": "hits"}',
    ):
        with pytest.raises(ValueError, match="validation error"):
            from_worker(frame)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=20,
    ).map(lambda value: [{"kind": "settled", "number": 1, "row": value}, value])
    | st.binary(max_size=80)
)
def test_whatever_else_comes_is_refused_as_a_value(sent: object) -> None:
    frame = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    for read in (from_worker, from_driver):
        try:
            assert not read(frame)  # of all this, an empty frame alone is one
        except ValueError:
            continue


@given(st.binary(min_size=1, max_size=60))
def test_bytes_that_are_no_frame_break_the_stream_and_nothing_else(sent: bytes) -> None:
    async def receive() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(sent)
        reader.feed_eof()
        stream = Stream(reader, _Nowhere(), from_worker)  # type: ignore[arg-type]
        for _ in range(len(sent)):
            try:
                await stream.receive()
            except StreamBroken:
                return
        raise AssertionError

    asyncio.run(receive())


@pytest.mark.anyio
async def test_a_machine_that_is_gone_is_noticed_in_the_same_time_whatever_is_on_its_way() -> None:
    async def listen(stream: Stream[FromWorker]) -> None:
        with pytest.raises(StreamBroken):
            await stream.receive()

    async with served(listen) as (reader, writer):
        Stream(reader, writer, from_driver)
        connection = writer.get_extra_info("socket")
        idle, pause, probes, unanswered = (
            connection.getsockopt(socket.IPPROTO_TCP, option)
            for option in (
                socket.TCP_KEEPIDLE,
                socket.TCP_KEEPINTVL,
                socket.TCP_KEEPCNT,
                socket.TCP_USER_TIMEOUT,
            )
        )
    assert unanswered == 1000 * (idle + pause * probes) > 0


@pytest.mark.anyio
async def test_a_turn_that_takes_long_does_not_hold_back_what_it_said_first() -> None:
    async def talk(stream: Stream[FromWorker]) -> None:
        frames = [list(await stream.receive()) for _ in range(2)]
        assert frames == [[Hits(1), Hits(2)], [Hits(3)]]

    times = iter((0.0, LONGEST_WAIT_S, LONGEST_WAIT_S))
    async with served(talk) as (reader, writer):
        stream = Stream(reader, writer, from_driver, lambda: next(times))
        for number in (1, 2, 3):
            stream.send(Hits(number))
        await stream.close()


@pytest.mark.anyio
async def test_messages_of_one_turn_travel_together_and_a_large_one_does_not_hold_others_up() -> (
    None
):
    async def talk(stream: Stream[FromWorker]) -> None:
        frames = [[len(str(m)) for m in await stream.receive()] for _ in range(2)]
        assert [len(frame) for frame in frames] == [2, 1]

    async with served(talk) as (reader, writer):
        stream = Stream(reader, writer, from_driver)
        stream.send(Hits(1))
        stream.send(Report(2, "ab", ("x" * 2**20,), (("user", (0,)),), (), ()))
        stream.send(Hits(3))
        await stream.close()


@pytest.mark.anyio
@pytest.mark.parametrize("token", [TOKEN, "another", ""])
async def test_only_who_knows_the_token_is_let_in_and_it_is_never_sent(token: str) -> None:
    seen: list[bytes] = []

    async def talk(stream: Stream[FromWorker]) -> None:
        await stream.admit(TOKEN)

    async def join() -> None:
        async with served(talk) as (reader, writer):
            write = writer.write
            writer.write = lambda data: (seen.append(bytes(data)), write(data))[1]  # type: ignore[method-assign]
            await Stream(reader, writer, from_driver).join(token)

    if token == TOKEN:
        await join()
    else:
        with pytest.raises(StreamBroken, match="token"):
            await join()
    assert seen
    assert not any(TOKEN.encode() in sent for sent in seen)


@pytest.mark.anyio
async def test_a_worker_does_not_join_a_driver_that_does_not_know_the_token() -> None:
    async def impostor(stream: Stream[FromWorker]) -> None:
        stream._greet({"protocol": PROTOCOL, "nonce": "0" * 64})
        await stream._greeting()
        stream._greet({"proof": "0" * 64})

    with pytest.raises(StreamBroken, match="does not know the token"):
        async with served(impostor) as (reader, writer):
            await Stream(reader, writer, from_driver).join(TOKEN)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "greeting",
    [
        b"\xff\xff\xff\xff",
        (GREETING_BYTES + 1).to_bytes(4, "big") + b"x",
        b"\x00\x00\x00\x02[]",
        b"\x00\x00\x00\x02{}",
        b"\x00\x00\x00\x01{",
        b"GET / HTTP/1.1\r\n\r\n",
        b"",
    ],
)
async def test_a_greeting_that_is_none_ends_the_stream_before_anything_is_sent(
    greeting: bytes,
) -> None:
    async def talk(stream: Stream[FromWorker]) -> None:
        await stream.admit(TOKEN)
        raise AssertionError

    async def greet() -> None:
        async with served(talk) as (reader, writer):
            writer.write(greeting)
            writer.write_eof()
            seen.append(await reader.read())

    seen: list[bytes] = []
    with pytest.raises(StreamBroken):
        await greet()
    size = int.from_bytes(seen[0][:4], "big")
    assert set(orjson.loads(seen[0][4:])) == {"protocol", "nonce"}
    assert len(seen[0]) == size + 4


@pytest.mark.anyio
async def test_another_version_of_the_protocol_is_named_on_both_sides() -> None:
    async def talk(stream: Stream[FromWorker]) -> None:
        stream._greet({"protocol": 99, "nonce": "0" * 64})

    with pytest.raises(StreamBroken, match="the driver speaks protocol 99"):
        async with served(talk) as (reader, writer):
            await Stream(reader, writer, from_driver).join(TOKEN)


@pytest.mark.anyio
async def test_a_frame_larger_than_allowed_is_not_read() -> None:
    async def talk(stream: Stream[FromWorker]) -> None:
        await stream.receive()

    async def send() -> None:
        async with served(talk) as (reader, writer):
            writer.write((MOST_BYTES + 1).to_bytes(4, "big"))
            await reader.read()

    with pytest.raises(StreamBroken, match="at most"):
        await send()


class _Nowhere:
    """A writer that nothing is written to."""

    def get_extra_info(self, _: str) -> None:
        """Return nothing."""


def _json(value: object) -> bytes:
    return orjson.dumps(value, default=list)
