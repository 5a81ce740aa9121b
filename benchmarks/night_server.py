"""An endpoint that goes through a bad night: every fault at once, with a ledger of all it did.

Run as its own process (``python -m benchmarks.night_server PLAN``, PLAN being JSON), so that it
outlives the runs that are killed: it prints its port and serves until its standard input closes.
``GET /count`` answers how many requests arrived, ``GET /ledger`` one entry for each of them, which
a run's store is reconciled with afterwards: fate, tokens billed, and the request id it was given.

The answers are those of the engines behind ``offline/rules`` and ``offline/judge``.
"""

from __future__ import annotations

import asyncio
import gzip
import random
import sys
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson
from aiohttp import web

from benchmarks.server import completion
from tests.wire.server import actors_and_judges

HANG_S = 600.0


@dataclass(frozen=True, slots=True)
class Misfortunes:
    """Shares of all requests that meet a fault, and when the endpoint is gone altogether."""

    seed: int = 0
    refused: float = 0.20
    """429, every other one with Retry-After."""
    broken: float = 0.05
    """500."""
    reset: float = 0.02
    """Connection broken off before the answer, half of them after it was computed (and billed)."""
    hang: float = 0.01
    poison: float = 0.01
    """An answer with status 200 that is not what it should be; billed."""
    latency_s: float = 0.02
    outages: tuple[tuple[int, float, str], ...] = ()
    """After how many requests, for how many seconds, and ``closed`` (no connection) or ``503``."""


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What became of one request."""

    id: str
    fate: str
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(slots=True)
class NightServer:
    """Serves one plan; faults are drawn in the order of arrival."""

    plan: Misfortunes
    ledger: list[LedgerEntry] = field(default_factory=list)
    port: int = 0
    """Where it listens; 0: where nothing else does, see `serve`."""
    _rng: random.Random = field(init=False)
    _away_until: float = 0.0
    _outages: list[tuple[int, float, str]] = field(init=False)
    _runner: web.AppRunner | None = None
    _site: web.TCPSite | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._rng = random.Random(self.plan.seed)
        self._outages = sorted(self.plan.outages)

    async def serve(self) -> int:
        """Listen on a free port of 127.0.0.1 and return it."""
        app = web.Application(client_max_size=2**24)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_get("/count", self._count)
        app.router.add_get("/ledger", self._show)
        self._runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1
        )
        await self._runner.setup()
        await self._listen()
        return self.port

    async def _listen(self) -> None:
        assert self._runner is not None
        self._site = web.TCPSite(self._runner, "127.0.0.1", self.port, backlog=1024)
        await self._site.start()
        if not self.port:
            self.port = self._runner.addresses[0][1]

    async def _count(self, _: web.Request) -> web.Response:
        return web.json_response(len(self.ledger))

    async def _show(self, _: web.Request) -> web.Response:
        return web.Response(body=orjson.dumps([asdict(entry) for entry in self.ledger]))

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        place, id_ = len(self.ledger), f"req-{len(self.ledger)}"
        self.ledger.append(LedgerEntry(id_, "arrived"))
        self._begin_outage(place)
        now = asyncio.get_running_loop().time()
        if now < self._away_until:
            return self._error(place, 503, "the model is being loaded", "unavailable")
        fate = self._draw()
        await asyncio.sleep(self.plan.latency_s * self._rng.uniform(0.5, 1.5))
        if fate == "refused":
            headers = {"Retry-After": "1"} if self._rng.random() < 0.5 else {}
            return self._error(place, 429, "slow down", fate, headers)
        if fate == "broken":
            return self._error(place, 500, "something broke", fate)
        if fate == "reset" and self._rng.random() < 0.5:
            self._note(place, fate)
            self._abort(request)
            return web.Response()
        if fate == "hang":
            self._note(place, fate)
            await asyncio.sleep(HANG_S)
        body = orjson.loads(raw)
        reply = self._reply(place, body)
        text, headers = orjson.dumps(reply), {"x-request-id": id_}
        if fate == "reset":
            self._abort(request)
        if fate == "poison":
            text, more = poisoned(reply, self._rng)
            headers |= more
        return web.Response(body=text, content_type="application/json", headers=headers)

    def _draw(self) -> str:
        plan, draw = self.plan, self._rng.random()
        for fate in ("refused", "broken", "reset", "hang", "poison"):
            if draw < getattr(plan, fate):
                return fate
            draw -= getattr(plan, fate)
        return "answered"

    def _note(self, place: int, fate: str, prompt: int = 0, completion: int = 0) -> None:
        self.ledger[place] = LedgerEntry(self.ledger[place].id, fate, prompt, completion)

    def _abort(self, request: web.Request) -> None:
        if request.transport is not None:
            request.transport.abort()

    def _error(
        self, place: int, status: int, says: str, fate: str, headers: dict[str, str] | None = None
    ) -> web.Response:
        self._note(place, fate)
        return web.json_response(
            {"error": {"message": says, "type": "error"}},
            status=status,
            headers={"x-request-id": self.ledger[place].id, **(headers or {})},
        )

    def _reply(self, place: int, body: dict[str, Any]) -> dict[str, Any]:
        messages = [(message["role"], message["content"]) for message in body["messages"]]
        texts = [actors_and_judges(messages, body["seed"] + i) for i in range(body.get("n", 1))]
        prompt = sum(len(text.encode()) // 4 for _, text in messages)
        written = sum(len(text.encode()) // 4 for text in texts)
        self._note(place, "answered", prompt, written)
        usage = {"prompt_tokens": prompt, "completion_tokens": written}
        return completion(str(place), body["model"], texts, usage)

    def _begin_outage(self, place: int) -> None:
        if not self._outages or place < self._outages[0][0]:
            return
        _, seconds, kind = self._outages.pop(0)
        if kind == "503":
            self._away_until = asyncio.get_running_loop().time() + seconds
            return
        task = asyncio.create_task(self._close_for(seconds))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _close_for(self, seconds: float) -> None:
        """Listen no more and break every connection, then come back on the same port."""
        assert self._runner is not None
        assert self._site is not None
        await self._site.stop()
        if self._runner.server is not None:
            for connection in list(self._runner.server.connections):
                connection.force_close()
                if connection.transport is not None:
                    connection.transport.abort()
        await asyncio.sleep(seconds)
        await self._listen()


def poisoned(reply: dict[str, Any], rng: random.Random) -> tuple[bytes, dict[str, str]]:
    """Return a body and headers that no careful server would send with status 200."""
    choice = {**reply["choices"][0], "finish_reason": ["stop", {"stop": []}]}
    huge = {"prompt_tokens": 2**64 - 1, "completion_tokens": 1e308}
    deep = b"[" * 100_000 + b"]" * 100_000
    kinds: list[tuple[bytes, dict[str, str]]] = [
        (orjson.dumps({**reply, "choices": [choice]}), {}),
        (b'{"choices": [{"message": {"content": 7}}], "usage": {"prompt_tokens": -1}}', {}),
        (orjson.dumps({**reply, "usage": None})[:-1] + b',"usage":{"prompt_tokens":1e30}}', {}),
        (orjson.dumps(reply)[:-40], {}),
        (deep, {}),
        (b"<html><body>Bad gateway</body></html>", {}),
        (b'{"choices": [], "error": ' + deep[:4000] + b"}", {}),
        (gzip.compress(b" " * 2**26), {"Content-Encoding": "gzip"}),
        (str({**reply, "usage": huge}).encode(), {}),
    ]
    return kinds[rng.randrange(len(kinds))]


async def _serve_until_stdin_closes(plan: Misfortunes) -> None:
    port = await NightServer(plan).serve()
    print(port, flush=True)
    await asyncio.to_thread(sys.stdin.buffer.read)


if __name__ == "__main__":
    asyncio.run(_serve_until_stdin_closes(Misfortunes(**orjson.loads(sys.argv[1]))))
