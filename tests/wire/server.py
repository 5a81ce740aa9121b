"""A model endpoint on 127.0.0.1 that speaks the OpenAI and Anthropic formats, and misbehaves.

In a thread, for tests::

    with WireServer(faults=Faults(rates={"server_error": 0.1}), latency_s=0.01) as server:
        ... base_url=server.openai_url or server.anthropic_url ...
        assert server.count == 3 and "secret" not in server.seen[0].body["messages"]

As a process of its own, for measurements: ``python -m tests.wire.server --latency 0.2`` prints its
OpenAI and Anthropic base URLs on one line and serves until it is killed.

``answer(messages, seed)`` gives the text of each choice: sample ``i`` is asked for with
``seed + i``. The default is the engine behind ``offline/rules``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import socket
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from aiohttp import web

from pipeline.offline.engine import PromptNotUnderstood
from pipeline.offline.engine import answer as offline_answer
from pipeline.offline_judge.engine import answer as judge_answer
from tests.wire import formats
from tests.wire.batches import Batches
from tests.wire.faults import Fault, Faults

Answer = Callable[[Sequence[tuple[str, str]], int], str]


def actors_and_judges(messages: Sequence[tuple[str, str]], seed: int) -> str:
    """Answer as ``offline/rules``, and what that does not understand as ``offline/judge``."""
    try:
        return offline_answer(messages, seed)
    except PromptNotUnderstood:
        return judge_answer(messages, seed)


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it arrived, and what befell it."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: dict[str, Any]
    raw: str
    """The body as sent, to search for what must not be in it."""
    fault: Fault | None


class WireServer:
    """Serves until closed; everything it saw is kept in ``seen``."""

    def __init__(
        self,
        *,
        faults: Faults | None = None,
        answer: Answer = offline_answer,
        latency_s: float = 0.0,
        keep: bool = True,
    ) -> None:
        """Prepare a server; ``faults`` may be replaced while it runs, ``keep=False`` keeps no bodies."""
        self.faults = faults or Faults()
        self.answer = answer
        self.latency_s = latency_s
        self.seen: list[Seen] = []
        self.count = 0
        """Requests that arrived."""
        self.most_at_once = 0
        """The most requests that were in flight together."""
        self.port = 0
        self._keep = keep
        self._flying = 0
        self._bodies: Counter[bytes] = Counter()
        self._systems: set[str] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._runner: web.AppRunner | None = None
        self.batches = Batches(
            lambda wire, body, number: self._answer(wire, body, {}, number, None)
        )
        """The batches that were made here."""

    @property
    def openai_url(self) -> str:
        """Base URL for ``openai`` and ``compatible``."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def anthropic_url(self) -> str:
        """Base URL for ``anthropic``."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.start(), self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self.close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def start(self, port: int = 0) -> None:
        """Listen on 127.0.0.1, on the running loop."""
        app = web.Application(client_max_size=2**28)
        app.router.add_post("/v1/chat/completions", self._openai)
        app.router.add_post("/{base:.*}chat/completions", self._openai)
        app.router.add_post("/v1/messages", self._anthropic)
        app.add_routes(self.batches.routes())
        self._runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1
        )
        await self._runner.setup()
        self._listener = socket.create_server(("127.0.0.1", port))
        await web.SockSite(self._runner, self._listener, backlog=1024).start()
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """Stop listening and break off what hangs."""
        runner, self._runner = self._runner, None
        if runner is not None:
            # What asyncio has accepted becomes a connection, which is closed, only while it listens.
            asyncio.get_running_loop().remove_reader(self._listener)
            for _ in range(10):
                await asyncio.sleep(0)
            await runner.cleanup()

    def go_away(self) -> None:
        """Stop listening and break off what is under way, as a server that is killed."""
        asyncio.run_coroutine_threadsafe(self.close(), self._loop).result(10)

    def come_back(self) -> None:
        """Listen again where it did before."""
        asyncio.run_coroutine_threadsafe(self.start(self.port), self._loop).result(10)

    async def _openai(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, formats.OPENAI)

    async def _anthropic(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, formats.ANTHROPIC)

    async def _serve(self, request: web.Request, wire: formats.Wire) -> web.StreamResponse:
        raw = await request.read()
        number = self.count
        self.count += 1
        fault = self.faults.strike(number, raw, self._bodies[raw])
        self._bodies[raw] += 1
        body = json.loads(raw)
        headers = {name.lower(): value for name, value in request.headers.items()}
        if self._keep:
            self.seen.append(Seen(request.path, headers, body, raw.decode(), fault))
        self._flying += 1
        self.most_at_once = max(self.most_at_once, self._flying)
        try:
            if self.latency_s:
                await asyncio.sleep(self.latency_s)
            return await self._reply(request, wire, body, headers, number, fault)
        finally:
            self._flying -= 1

    async def _reply(
        self,
        request: web.Request,
        wire: formats.Wire,
        body: dict[str, Any],
        headers: Mapping[str, str],
        number: int,
        fault: Fault | None,
    ) -> web.StreamResponse:
        plan = self.faults
        if plan.redirect_to is not None:
            raise web.HTTPTemporaryRedirect(plan.redirect_to)
        if plan.canned is not None:
            return web.json_response(plan.canned[1], status=plan.canned[0])
        if plan.key is not None and plan.key != wire.key_of(headers):
            return web.json_response(wire.error(401, "invalid key", None), status=401)
        if fault == "rate_limited":
            headers_429 = {"Retry-After": plan.retry_after, "x-request-id": f"req-{number}"}
            return web.json_response(
                wire.error(429, "slow down", None), status=429, headers=headers_429
            )
        if fault == "server_error":
            return web.json_response(wire.error(500, "something broke", None), status=500)
        if fault == "hang":
            await asyncio.sleep(plan.hang_s)
        if fault == "dropped" and request.transport is not None:
            request.transport.abort()
        refused = self._refuse(wire, body)
        if refused is not None:
            return refused
        answer = self._answer(wire, body, headers, number, fault)
        text = json.dumps(answer)
        if fault == "broken_json":
            text = text[: len(text) // 2]
        return web.Response(
            text=text,
            content_type="application/json",
            headers={"x-request-id": f"req-{number}", "request-id": f"req-{number}"},
        )

    def _refuse(self, wire: formats.Wire, body: dict[str, Any]) -> web.Response | None:
        """Turn down fields that this endpoint does not take."""
        if self.faults.no_schema is not None and wire.schema_field in body:
            says = f"{wire.schema_field} is not supported" if self.faults.names_schema else "no"
            status = self.faults.no_schema
            return web.json_response(wire.error(status, says, None), status=status)
        if self.faults.no_bounds is not None and re.search("maxLength|maxItems", json.dumps(body)):
            return web.json_response(wire.error(400, self.faults.no_bounds, None), status=400)
        for field in sorted(self.faults.reject & body.keys()):
            says = f"Unsupported parameter: '{field}' is not supported with this model."
            return web.json_response(wire.error(400, says, field), status=400)
        return None

    def _answer(
        self,
        wire: formats.Wire,
        body: dict[str, Any],
        headers: Mapping[str, str],
        number: int,
        fault: Fault | None,
    ) -> dict[str, Any]:
        """Answer a request properly, but for what the plan spoils."""
        messages = wire.messages(body)
        seed = wire.seed_of(body, headers)
        n = 1 if self.faults.ignore_n else int(body.get("n", 1))
        n = max(n - self.faults.short_by, 1) + self.faults.extra_choices
        texts = [self.answer(messages, seed + i) for i in range(n)]
        if fault == "unknown_label":
            texts = [formats.with_unknown_label(text) for text in texts]
        if fault == "prose":
            texts = [formats.in_prose(text) for text in texts]
        if fault == "empty_choices":
            texts = []
        system = "".join(text for role, text in messages if role == "system")
        cached = formats.tokens(system) if system in self._systems else 0
        self._systems.add(system)
        return wire.answer(
            body,
            texts,
            number=number,
            prompt=sum(formats.tokens(text) for _, text in messages),
            cached=cached,
            usage=not self.faults.no_usage,
        )


async def _serve_forever(server: WireServer, port: int) -> None:
    await server.start(port)
    print(server.openai_url, server.anthropic_url, flush=True)
    await asyncio.Event().wait()


def main() -> None:
    """Serve as a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds per request")
    parser.add_argument("--seed", type=int, default=0, help="seed of the fault plan")
    parser.add_argument("--fault", action="append", default=[], metavar="NAME=RATE")
    options = parser.parse_args()
    rates = {name: float(rate) for name, _, rate in (f.partition("=") for f in options.fault)}
    plan = Faults(rates=rates, seed=options.seed)  # type: ignore[arg-type]
    server = WireServer(faults=plan, latency_s=options.latency, keep=False)
    asyncio.run(_serve_forever(server, options.port))


if __name__ == "__main__":
    main()
