"""A chat-completions server with a limit, or with less power than is asked of it.

Run as its own process (``python -m benchmarks.limited_server '{"rate": 5}'``, see :class:`Nature`):
it prints its port, serves until its standard input closes, and tells at ``/events`` when it took,
answered and refused requests.
"""

from __future__ import annotations

import asyncio
import math
import sys
import time
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass

import orjson
from aiohttp import web

from benchmarks.server import REPLIES, own_process, serve_until_stdin_closes


@dataclass(frozen=True, slots=True)
class Nature:
    """What the server is like."""

    latency_s: float = 0.2
    rate: float | None = None
    """Tokens a second of its bucket, which holds one second's worth; None: no limit."""
    retry_after: bool = True
    headers: bool = False
    """Whether replies say ``x-ratelimit-...-requests``."""
    slots: int | None = None
    """Requests it works at together; the others queue. None: any number."""
    crowd: int | None = None
    """Requests from which on all of them take longer. None: any number is as fast."""


@dataclass(frozen=True, slots=True)
class Events:
    """When requests were taken, answered and refused, in seconds since the first one."""

    taken: list[float]
    refused: list[float]
    answered: list[float]
    latencies: list[float]
    """Seconds from when a request came until it was answered, in the order of ``answered``."""
    most_at_once: int


class LimitedServer:
    """The handlers, and what they saw."""

    def __init__(self, nature: Nature) -> None:
        self._nature = nature
        self._taken: list[float] = []
        self._refused: list[float] = []
        self._answered: list[tuple[float, float]] = []
        """When, and how long it took."""
        self._slots = asyncio.Semaphore(nature.slots or 1_000_000)
        self._flying = 0
        self._most = 0
        self._size = max(1.0, nature.rate or 1.0)
        self._held, self._at = self._size, time.monotonic()

    async def complete(self, request: web.Request) -> web.Response:
        """Answer, or refuse."""
        body, nature = await request.read(), self._nature
        now = time.monotonic()
        self._flying += 1
        self._most = max(self._most, self._flying)
        try:
            if nature.rate is not None:
                self._held = min(self._size, self._held + (now - self._at) * nature.rate)
                self._at = now
                if self._held < 1.0:
                    self._refused.append(now)
                    return self._no((1.0 - self._held) / nature.rate)
                self._held -= 1.0
            self._taken.append(now)
            async with self._slots:
                crowded = 1.0 if nature.crowd is None else max(1.0, self._flying / nature.crowd)
                await asyncio.sleep(nature.latency_s * crowded)
            ended = time.monotonic()
            self._answered.append((ended, ended - now))
        finally:
            self._flying -= 1
        return web.Response(
            body=next(REPLIES[b"veracity_rationale" in body]),
            content_type="application/json",
            headers=self._headers(),
        )

    def _no(self, wait_s: float) -> web.Response:
        headers = self._headers()
        if self._nature.retry_after:
            headers["Retry-After"] = str(math.ceil(wait_s))
        return web.json_response({"error": {"message": "slow down"}}, status=429, headers=headers)

    def _headers(self) -> dict[str, str]:
        if not self._nature.headers or self._nature.rate is None:
            return {}
        full_s = (self._size - self._held) / self._nature.rate
        return {
            "x-ratelimit-limit-requests": str(round(self._size)),
            "x-ratelimit-remaining-requests": str(int(self._held)),
            "x-ratelimit-reset-requests": f"{round(full_s * 1000)}ms",
        }

    async def events(self, _: web.Request) -> web.Response:
        """Tell what happened."""
        first = min([*self._taken[:1], *self._refused[:1]], default=0.0)
        seen = Events(
            [at - first for at in self._taken],
            [at - first for at in self._refused],
            [at - first for at, _ in self._answered],
            [latency_s for _, latency_s in self._answered],
            self._most,
        )
        return web.json_response(asdict(seen))


async def _serve(nature: Nature) -> None:
    server = LimitedServer(nature)
    app = web.Application(client_max_size=2**22)
    app.router.add_post("/v1/chat/completions", server.complete)
    app.router.add_get("/events", server.events)
    await serve_until_stdin_closes(app)


def limited_server(nature: Nature) -> AbstractContextManager[int]:
    """Start the server in a process of its own; yield its port."""
    return own_process("benchmarks.limited_server", orjson.dumps(nature).decode())


if __name__ == "__main__":
    asyncio.run(_serve(Nature(**orjson.loads(sys.argv[1]))))
