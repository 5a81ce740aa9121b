"""Any service that speaks OpenAI's chat completions, over plain aiohttp: a lean path.

A call takes less of the processor than through an SDK (``python -m benchmarks throughput``).
"""

from __future__ import annotations

from collections.abc import Mapping

import aiohttp
import orjson
from aiohttp.http_exceptions import HttpProcessingError

from pipeline.providers.address import chat_url
from pipeline.providers.allowed_time import AllowedTime
from pipeline.providers.body import LONGEST_BODY, read_capped
from pipeline.providers.connection import HttpProvider, connect_within, connection_failure
from pipeline.providers.posting import PostedAnswer, Poster
from pipeline.providers.protocol import Reply, Request
from pipeline.providers.wire_openai import body_of, failed_generation, read_reply


class CompatibleProvider(HttpProvider):
    """Sends to ``{base_url}/chat/completions``.

    A key is sent only if the user named its variable: the address may be anybody's. Redirects are
    not followed, and proxies and credentials of the environment are not used.
    """

    name = "compatible"

    def __init__(
        self,
        base_url: str,
        api_key: str | None,
        max_concurrency: int,
        headers: Mapping[str, str],
    ) -> None:
        """Prepare; connections are opened by the first request."""
        super().__init__(base_url, api_key, headers)
        self._url = chat_url(base_url)
        self._connections = max_concurrency
        self._headers = {"Content-Type": "application/json", **headers}
        if api_key is not None:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._poster: Poster | None = None

    async def send(self, request: Request, timeout_s: float) -> Reply:
        """Send once, without retrying.

        Raises:
            ProviderError: the endpoint could not or would not answer.
        """
        body = body_of(request)
        try:
            with AllowedTime(timeout_s):
                sent = self._opened().post(orjson.dumps(body), connect_within(timeout_s))
                with await sent as answer:
                    content = await _read(answer)
        except (aiohttp.ClientError, HttpProcessingError, OSError) as failure:
            raise connection_failure(failure, self.base_url, timeout_s) from failure
        if not _is_success(answer.status):
            written = failed_generation(self.masked(content)) if answer.status == 400 else None
            if written is not None:
                return written
            raise self.refused(
                answer.status, answer.headers, content, body.keys(), request.messages
            )
        return self.read(read_reply, content, answer.headers, body.keys(), request.messages)

    def _opened(self) -> Poster:
        if self._poster is None:
            self._poster = Poster(self._url, self._headers, connections=self._connections)
        return self._poster

    async def close(self) -> None:
        """Release connections."""
        if self._poster is not None:
            await self._poster.close()
            self._poster = None


async def _read(answer: PostedAnswer) -> bytes:
    """Read a body: at once where it is known to be short, or piece by piece up to the cap."""
    length = answer.headers.get("Content-Length", "")
    if (
        length.isdecimal()
        and int(length) <= LONGEST_BODY
        and not answer.headers.get("Content-Encoding")
    ):
        return await answer.whole()
    return await read_capped(answer.content.iter_any(), cut=not _is_success(answer.status))


def _is_success(status: int) -> bool:
    """Return whether a status promises an answer; some servers say 201 for it."""
    return 200 <= status < 300
