"""A chat-completions server that answers valid label JSON after a fixed delay, and little else.

Run as its own process (``python -m benchmarks.server DELAY_S [PORT]``): it prints its port and serves
until its standard input closes, so that it cannot outlive whoever started it.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

import orjson
from aiohttp import web

UTTERANCE = {"utterance": "Could you tell me a little more about how that came about?"}
TACTIC = {
    "plan": "deception, intention Convince, veracity Quantity: the decisive part is left out",
    "utterance": "I have told you what there is to tell, and you may look at everything yourself.",
    "goal": "deception",
    "intention_rationale": "The hearer is to believe that nothing is missing.",
    "intention": "Convince",
    "veracity_rationale": "The decisive part is left out.",
    "veracity": "Quantity",
    "illocutionary_rationale": "It states something as the case.",
    "illocutionary": "Representatives",
}


def completion(
    name: str, model: str, texts: Sequence[str], usage: Mapping[str, object]
) -> dict[str, Any]:
    """Return a finished chat completion with one choice for each text."""
    return {
        "id": f"chatcmpl-{name}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {"index": i, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            for i, text in enumerate(texts)
        ],
        "usage": usage,
    }


def _replies(answer: dict[str, str]) -> Iterator[bytes]:
    """Return replies in turn, each in words of its own: what was said before is asked for again."""
    text = orjson.dumps({**answer, "utterance": f"{answer['utterance']} (%d of it)"}).decode()
    usage = {"prompt_tokens": 1200, "completion_tokens": 90, "total_tokens": 1290}
    body = orjson.dumps(completion("bench", "bench", [text], usage))
    return (body % number for number in count())


REPLIES = {False: _replies(UTTERANCE), True: _replies(TACTIC)}


async def _serve(delay_s: float, port: int = 0) -> None:
    async def complete(request: web.Request) -> web.Response:
        body = await request.read()
        await asyncio.sleep(delay_s)
        return web.Response(
            body=next(REPLIES[b"veracity_rationale" in body]), content_type="application/json"
        )

    async def models(_: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "bench", "object": "model"}]})

    app = web.Application(client_max_size=2**22)
    app.router.add_post("/v1/chat/completions", complete)
    app.router.add_get("/v1/models", models)  # some clients ask for it before anything else
    await serve_until_stdin_closes(app, port)


async def serve_until_stdin_closes(app: web.Application, port: int = 0) -> None:
    """Serve on 127.0.0.1 and print the port, so that whoever began the process knows it."""
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, backlog=1024)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


@contextmanager
def own_process(module: str, *arguments: str) -> Iterator[int]:
    """Run a module that serves until its standard input closes; yield the port that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.stdin.close()
        process.wait(timeout=10)
        process.stdout.close()


@contextmanager
def running_server(delay_s: float) -> Iterator[str]:
    """Start the server in a process of its own; yield its base URL (ending in ``/v1``)."""
    with own_process("benchmarks.server", str(delay_s)) as port:
        yield f"http://127.0.0.1:{port}/v1"


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1]), *map(int, sys.argv[2:])))
