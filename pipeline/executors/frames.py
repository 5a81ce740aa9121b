"""Framed JSON over an asyncio stream, and the handshake that both ends begin with.

A frame is its length in four bytes (big-endian) and a JSON array of messages: what one end has to
say within one turn of its event loop travels together, or within a part of a long one. Before the
first message each end proves that it knows the token, by an HMAC over the nonces of both; the token
itself is never sent, and what follows is not encrypted. Keep the stream on one machine or in a
network of your own.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar

import orjson

from scenarios.errors import RunError

M = TypeVar("M")

PROTOCOL = 4
"""Raised whenever messages change: a driver and a worker of other versions refuse each other."""
MOST_BYTES = 64 * 1024 * 1024
"""Size of the largest frame."""
FULL_BYTES = 1024 * 1024
"""A frame that is so large takes no further message."""
LONGEST_WAIT_S = 0.005
"""A message that has waited so long for others of its turn goes with the next one, at once."""
GREETING_BYTES = 4096
"""Size of the largest frame before the other end has proved that it knows the token."""
GREETING_S = 20.0
"""Seconds that the handshake may take."""
CLOSING_S = 5.0
"""Seconds that the other end has to take what waits for it when the stream is closed."""
_LENGTH = 4
_NONCE_BYTES = 32
_HEX_DIGITS = 64
_KEEPALIVE = {
    "TCP_KEEPIDLE": 15,
    "TCP_KEEPINTVL": 5,
    "TCP_KEEPCNT": 4,
    "TCP_USER_TIMEOUT": 35_000,
}
"""A machine that is gone without a word is noticed after 35 seconds: by the first three where nothing
is on its way to it, by the last (in milliseconds) where something is, which else takes a quarter of an
hour."""


class StreamBroken(RunError):
    """The stream has ended, or what came over it is not what this protocol allows."""


class Stream(Generic[M]):
    """Messages of one end to the other, and back."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        read: Callable[[bytes], Sequence[M]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Join both directions of a connection; ``read`` parses a frame or raises ValueError.

        ``clock`` says how long messages wait, in seconds.
        """
        self._reader = reader
        self._writer = writer
        self._read = read
        self._clock = clock
        self._waiting: list[bytes] = []
        self._waits_since = 0.0
        _keep_alive(writer)

    def send(self, message: object) -> None:
        """Send a message with the others of this turn of the loop; dropped if the stream is closed.

        A turn that takes long, since a model computes in it, does not hold back what it said first.
        """
        now = self._clock()
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._flush)
            self._waits_since = now
        self._waiting.append(encoded(message))
        if now - self._waits_since >= LONGEST_WAIT_S:
            self._flush()

    async def receive(self) -> Sequence[M]:
        """Wait for the messages of the next frame.

        Raises:
            StreamBroken: the other end is gone, or sends what is no frame.
        """
        content = await self._frame(MOST_BYTES)
        try:
            return self._read(content)
        except ValueError as error:
            raise StreamBroken(f"a message could not be read: {_short(error)}") from error

    def abort(self) -> None:
        """Close at once; who receives learns that the stream is broken."""
        self._writer.transport.abort()

    async def close(self) -> None:
        """Send what waits and close; closing twice does nothing.

        Whoever does not read it, a process that is halted, say, is not waited for without end.
        """
        self._flush()
        self._writer.close()
        with suppress(OSError):  # that time is up is one of them
            async with asyncio.timeout(CLOSING_S):
                await self._writer.wait_closed()
        self._writer.transport.abort()

    # The handshake

    async def admit(self, token: str) -> None:
        """Let the other end in, as the driver, if it knows the token.

        Raises:
            StreamBroken: it does not, or speaks another version of the protocol.
        """
        ours = secrets.token_hex(_NONCE_BYTES)
        self._greet({"protocol": PROTOCOL, "nonce": ours})
        hello = await self._greeting()
        theirs = _text(hello, "nonce")
        if hello.get("protocol") != PROTOCOL:
            raise StreamBroken(f"a worker speaks protocol {hello.get('protocol')}, not {PROTOCOL}")
        if not hmac.compare_digest(_text(hello, "proof"), _proof(token, "worker", ours, theirs)):
            raise StreamBroken("somebody who does not know the token tried to join as a worker")
        self._greet({"proof": _proof(token, "driver", ours, theirs)})

    async def join(self, token: str) -> None:
        """Be let in, as a worker, by a driver that knows the token.

        Raises:
            StreamBroken: it does not, does not take ours, or speaks another version.
        """
        hello = await self._greeting()
        if hello.get("protocol") != PROTOCOL:
            raise StreamBroken(
                f"the driver speaks protocol {hello.get('protocol')}, this worker {PROTOCOL}: "
                "install one version of hipo on all machines"
            )
        theirs, ours = _text(hello, "nonce"), secrets.token_hex(_NONCE_BYTES)
        proof = _proof(token, "worker", theirs, ours)
        self._greet({"protocol": PROTOCOL, "nonce": ours, "proof": proof})
        try:
            answer = await self._greeting()
        except StreamBroken as error:
            raise StreamBroken("the driver did not take this worker's token") from error
        if not hmac.compare_digest(_text(answer, "proof"), _proof(token, "driver", theirs, ours)):
            raise StreamBroken("whoever listens at the driver's address does not know the token")

    def _greet(self, greeting: Mapping[str, object]) -> None:
        self._write(orjson.dumps(greeting))

    async def _greeting(self) -> Mapping[str, Any]:
        try:
            async with asyncio.timeout(GREETING_S):
                greeting = orjson.loads(await self._frame(GREETING_BYTES))
        except TimeoutError:
            raise StreamBroken(f"no handshake within {GREETING_S:.0f} s") from None
        except ValueError as error:
            raise StreamBroken("what should be a handshake is no JSON") from error
        if not isinstance(greeting, dict):
            raise StreamBroken("what should be a handshake is no JSON object")
        return greeting

    # Frames

    async def _frame(self, most: int) -> bytes:
        try:
            size = int.from_bytes(await self._reader.readexactly(_LENGTH), "big")
            if size > most:
                raise StreamBroken(f"a frame of {size:,} bytes; at most {most:,} are allowed")
            return await self._reader.readexactly(size)
        except (asyncio.IncompleteReadError, OSError) as error:
            raise StreamBroken("the other end has closed the stream") from error

    def _flush(self) -> None:
        """Write what waits, in as few frames as its size allows."""
        waiting, self._waiting = self._waiting, []
        size, first = 0, 0
        for index, message in enumerate(waiting):
            size += len(message) + 1
            if size >= FULL_BYTES:
                self._write(b"[" + b",".join(waiting[first : index + 1]) + b"]")
                size, first = 0, index + 1
        if first < len(waiting):
            self._write(b"[" + b",".join(waiting[first:]) + b"]")

    def _write(self, content: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(len(content).to_bytes(_LENGTH, "big") + content)


def _proof(token: str, who: str, driver: str, worker: str) -> str:
    """Return what only an end can say that knows the token; it differs for the two ends."""
    return hmac.new(token.encode(), f"{who} {driver} {worker}".encode(), "sha256").hexdigest()


def _text(greeting: Mapping[str, Any], name: str) -> str:
    """Return a field of hexadecimal digits."""
    value = greeting.get(name)
    if not isinstance(value, str) or len(value) != _HEX_DIGITS or not value.isascii():
        raise StreamBroken(f"the handshake has no {name}")
    return value


def _keep_alive(writer: asyncio.StreamWriter) -> None:
    """Have the system notice a peer whose machine is gone, and send small frames at once."""
    connection = writer.get_extra_info("socket")
    if connection is None or connection.family not in {socket.AF_INET, socket.AF_INET6}:
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):  # not on every system
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def encoded(message: object) -> bytes:
    """Return a message as it stands in a frame."""
    return orjson.dumps(message, default=_plain)


def _plain(value: object) -> object:
    """Return a named tuple as the list that it is in JSON."""
    if isinstance(value, tuple):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no place in a message")


def _short(error: ValueError) -> str:
    return " ".join(str(error).split())[:300]
