"""A server that sends the reply of the table that is asked for.

The model of a request names the reply, so that one provider, with its pool of connections, meets
all of them: ``compatible/finish-list`` gets the entry ``finish-list`` of the table.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Self

from tests.wire.hostile import HOSTILE


@dataclass(slots=True)
class HostileServer:
    """Serves the table on 127.0.0.1, in a thread, until it is closed."""

    asked: Counter[str] = field(default_factory=Counter)
    """Requests that arrived, by the reply they asked for."""
    sent: Counter[str] = field(default_factory=Counter)
    """Bytes of bodies that the other side took, by reply."""
    port: int = 0
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _thread: threading.Thread | None = None
    _server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        assert self._thread is not None
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2**24)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        assert self._server is not None
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._answer(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError):
            pass  # the other side has had enough
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; False if the connection ends with it."""
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
        name = json.loads(await reader.readexactly(length))["model"]
        self.asked[name] += 1
        reply = HOSTILE[name]
        if reply.raw is not None:
            writer.write(reply.raw)
            await writer.drain()
            return False
        lines = [b"HTTP/1.1 %d Said" % reply.status, *(k + b": " + v for k, v in reply.headers)]
        if isinstance(reply.body, bytes):
            lines.append(b"Content-Length: %d" % len(reply.body))
        else:
            lines.append(b"Transfer-Encoding: chunked")
        writer.write(b"\r\n".join(lines) + b"\r\n\r\n")
        if isinstance(reply.body, bytes):
            writer.write(reply.body)
            await writer.drain()
            return True
        for piece in reply.body():
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
            self.sent[name] += len(piece)
            await asyncio.sleep(reply.pause_s)
        return False
