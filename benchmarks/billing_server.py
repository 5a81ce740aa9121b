"""A chat-completions server that bills prompts as providers with automatic prefix caches do.

Run as its own process (``python -m benchmarks.billing_server``): it prints its port and serves until
its standard input closes. A prompt counts once however many choices are asked for; of its tokens
those are cached that an earlier prompt to the same model began with, from 1,024 on in steps of 128
(OpenAI's rule). Caches are never emptied. A token is four bytes of role and text; the schema of the
answer, which providers render in ways of their own, counts nothing.

The answers are those of the engines behind ``offline/rules`` and ``offline/judge``; the model
``reasoner`` answers like ``offline/reasoner`` where it is not a judge.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

import orjson
from aiohttp import web

from benchmarks.server import completion, own_process, serve_until_stdin_closes
from pipeline.offline.reading import PromptNotUnderstood
from pipeline.offline_judge.engine import answer as judge
from pipeline.offline_reasoner.engine import answer as reason
from tests.wire.server import actors_and_judges

BYTES_PER_TOKEN = 4
LEAST_CACHED = 1_024
STEP = 128
REASONER = "reasoner"


class PrefixCache:
    """The beginnings of all prompts so far."""

    def __init__(self) -> None:
        self._known: set[bytes] = set()

    def cached(self, model: str, prompt: bytes) -> int:
        """Return how many tokens of a prompt are cached, and keep all of it."""
        tokens, digest = len(prompt) // BYTES_PER_TOKEN, blake2b(model.encode())
        found, read, hit = 0, 0, True
        for end in range(LEAST_CACHED, tokens + 1, STEP):
            digest.update(prompt[read : end * BYTES_PER_TOKEN])
            read, key = end * BYTES_PER_TOKEN, digest.copy().digest()
            hit = hit and key in self._known
            found = end if hit else found
            self._known.add(key)
        return found


def answered_by_reasoner(messages: list[tuple[str, str]], seed: int) -> str:
    """Return what the embedded reasoner answers, or the embedded judge where it understands nothing."""
    try:
        return reason(messages, seed)
    except PromptNotUnderstood:
        return judge(messages, seed)


async def _serve() -> None:
    cache = PrefixCache()

    async def complete(request: web.Request) -> web.Response:
        body = orjson.loads(await request.read())
        messages = [(message["role"], message["content"]) for message in body["messages"]]
        prompt = "".join(f"<{role}>{text}" for role, text in messages).encode()
        answered = answered_by_reasoner if body["model"] == REASONER else actors_and_judges
        texts = [answered(messages, body.get("seed", 0) + i) for i in range(body.get("n", 1))]
        said = sum(len(text.encode()) for text in texts) // BYTES_PER_TOKEN
        usage = {
            "prompt_tokens": len(prompt) // BYTES_PER_TOKEN,
            "completion_tokens": said,
            "total_tokens": len(prompt) // BYTES_PER_TOKEN + said,
            "prompt_tokens_details": {"cached_tokens": cache.cached(body["model"], prompt)},
        }
        return web.json_response(completion("billed", body["model"], texts, usage))

    app = web.Application(client_max_size=2**24)
    app.router.add_post("/v1/chat/completions", complete)
    await serve_until_stdin_closes(app)


@contextmanager
def billing_server() -> Iterator[str]:
    """Start the server in a process of its own; yield its base URL (ending in ``/v1``)."""
    with own_process("benchmarks.billing_server") as port:
        yield f"http://127.0.0.1:{port}/v1"


if __name__ == "__main__":
    asyncio.run(_serve())
