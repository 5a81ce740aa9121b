"""Posts over aiohttp's connections, without what its sessions do around each request.

Half of the processor time of a request in a session goes into redirects, cookies, proxies, tracing,
timers and tasks that are not needed here (``python -m benchmarks throughput``). Connections, TLS and
the reading of what a server sends are aiohttp's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from ssl import SSLContext
from types import TracebackType

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http_parser import RawResponseMessage
from yarl import URL

_LENGTH = "content-length"
_INTERIM = frozenset(range(100, 200)) - {101}
"""Statuses that are followed by that of the answer."""


class PostedAnswer:
    """The head of an answer, and its body as a stream; use it in a ``with`` until it is read.

    Its connection is kept for others where the body was read whole, and closed otherwise.
    """

    __slots__ = ("_connection", "content", "headers", "raw_headers", "status")

    def __init__(
        self,
        connection: Connection,
        head: RawResponseMessage,
        content: aiohttp.StreamReader,
    ) -> None:
        """Keep what was read so far."""
        self._connection = connection
        self.status: int = head.code
        self.headers: Mapping[str, str] = head.headers
        self.raw_headers: tuple[tuple[bytes, bytes], ...] = head.raw_headers
        self.content = content

    async def whole(self) -> bytes:
        """Return the body, however long it is; nearly always it came with the head."""
        return self.content.read_nowait() if self.content.is_eof() else await self.content.read()

    def __enter__(self) -> PostedAnswer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        transport = self._connection.transport
        unsent = transport is not None and transport.get_write_buffer_size()
        if kind is None and not unsent:
            self._connection.release()
        else:  # what is still to be sent of this request is not to be part of another
            self._connection.close()


class Poster:
    """Posts to one address; as many requests at a time as it may have connections."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        connections: int,
        ssl: SSLContext | bool = True,
        decompress: bool = True,
    ) -> None:
        """Prepare; use it in one event loop, where the first connection is opened by a request.

        Args:
            url: where to post to.
            headers: beside those that aiohttp sends by itself; they may be given with a request.
            connections: the most that are open at a time.
            ssl: how to verify servers.
            decompress: whether bodies are decompressed here.

        Raises:
            aiohttp.ClientError: the address is none.
            ValueError: a header holds a line break.
        """
        try:
            address = URL(url)
        except ValueError as error:
            raise aiohttp.InvalidUrlClientError(url) from error
        loop = asyncio.get_running_loop()
        self._way = aiohttp.ClientRequest("POST", address, headers=headers, loop=loop)
        self._timeout = aiohttp.ClientTimeout()
        self._decompress = decompress
        self._connector = aiohttp.TCPConnector(limit=connections, ssl=ssl)
        self._line = f"POST {address.raw_path_qs} HTTP/1.1\r\n".encode()
        self._lines = header_lines(
            (name.encode(), value.encode())
            for name, value in self._way.headers.items()
            if name.lower() != _LENGTH
        )

    async def post(self, body: bytes, connect_s: float, lines: bytes | None = None) -> PostedAnswer:
        """Send a request, and return its answer once the head of it is there.

        Args:
            body: what to send.
            connect_s: seconds in which a connection has to come about.
            lines: other headers than those prepared, see :func:`header_lines`.

        Raises:
            aiohttp.ClientError: the server could not be reached, or broke off.
            aiohttp.http_exceptions.HttpProcessingError: what it sent is no HTTP.
            OSError: as the former two.
        """
        head = self._lines if lines is None else lines
        connection = await self._connect(connect_s)
        try:
            protocol, transport = self._begun(connection)
            # in one piece: one call into the kernel
            transport.write(
                b"%b%bContent-Length: %d\r\n\r\n%b" % (self._line, head, len(body), body)
            )
            message, content = await protocol.read()
            while message.code in _INTERIM:
                message, content = await protocol.read()
        except BaseException:
            connection.close()
            raise
        return PostedAnswer(connection, message, content)

    async def _connect(self, connect_s: float) -> Connection:
        if self._timeout.sock_connect != connect_s:
            self._timeout = aiohttp.ClientTimeout(sock_connect=connect_s)
        try:
            return await self._connector.connect(self._way, [], self._timeout)
        except TimeoutError as error:
            url = self._way.url
            raise aiohttp.ConnectionTimeoutError(f"Connection timeout to host {url}") from error

    def _begun(self, connection: Connection) -> tuple[ResponseHandler, asyncio.Transport]:
        """Return what reads from a connection, ready for an answer, and what writes to it."""
        protocol, transport = connection.protocol, connection.transport
        if protocol is None or transport is None or transport.is_closing():
            raise aiohttp.ClientConnectionResetError("Cannot write to closing transport")
        protocol.set_response_params(read_until_eof=True, auto_decompress=self._decompress)
        return protocol, transport

    async def close(self) -> None:
        """Close all connections."""
        await self._connector.close()


def header_lines(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return headers as they are sent.

    Raises:
        ValueError: one holds a line break, with which it could pass for more than one.
    """
    lines = [b"%b: %b" % header for header in headers]
    if any(mark in line for line in lines for mark in (b"\r", b"\n", b"\0")):
        raise ValueError("Newline, carriage return, or null byte detected in headers.")
    return b"".join(line + b"\r\n" for line in lines)
