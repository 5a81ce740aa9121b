"""A chat-completions server that answers valid label JSON after a fixed delay, and little else.

Run as its own process (``python -m benchmarks.server DELAY_S [PORT]``): it prints its port and serves
until its standard input closes, so that it cannot outlive whoever started it.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any, cast

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
MODELS = orjson.dumps({"object": "list", "data": [{"id": "bench", "object": "model"}]})
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
_HEAD_ENDS = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CLOSE = re.compile(rb"\r\nconnection: *close\r", re.IGNORECASE)


class _Connection(asyncio.Protocol):
    """Answers the requests of one connection, in turn.

    It takes as little processor time as it can, since it runs on the cores on which clients are
    measured: it knows what those of the benchmarks send, and no more of HTTP.
    """

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s
        self._received = bytearray()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(_HEAD_ENDS)) >= 0:
            found = _LENGTH.search(self._received, 0, end)
            last = _CLOSE.search(self._received, 0, end + 1) is not None
            whole = end + len(_HEAD_ENDS) + (int(found[1]) if found else 0)
            if len(self._received) < whole:
                return
            request = bytes(self._received[:whole])
            del self._received[:whole]
            if request.startswith(b"GET "):  # some clients ask for the models before anything else
                self._write(MODELS, last)
            else:
                is_tactic = b"veracity_rationale" in request
                loop = asyncio.get_running_loop()
                loop.call_later(self._delay_s, self._complete, is_tactic, last)

    def _complete(self, is_tactic: bool, last: bool) -> None:
        self._write(next(REPLIES[is_tactic]), last)

    def _write(self, body: bytes, last: bool) -> None:
        """Answer; some clients ask that the connection be closed then, and read until it is."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(_HEAD % len(body) + body)
            if last:
                self._transport.close()


async def _serve(delay_s: float, port: int = 0) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(delay_s), "127.0.0.1", port, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


async def serve_until_stdin_closes(app: web.Application) -> None:
    """Serve on 127.0.0.1 and print the port, so that whoever began the process knows it."""
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
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
