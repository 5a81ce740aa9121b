"""Any service that speaks OpenAI's chat completions, over plain aiohttp: a lean path.

A call takes less of the processor than through an SDK (``python -m benchmarks throughput``).
"""

from __future__ import annotations

from collections.abc import Mapping

import aiohttp
import orjson

from pipeline.providers.body import LONGEST_BODY, read_capped
from pipeline.providers.connection import HttpProvider, connect_within, connection_failure
from pipeline.providers.protocol import Reply, Request
from pipeline.providers.wire_openai import body_of, read_reply


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
        self._url = f"{base_url}/chat/completions"
        self._pool = max_concurrency
        self._headers = {"Content-Type": "application/json", **headers}
        if api_key is not None:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._session: aiohttp.ClientSession | None = None

    async def send(self, request: Request, timeout_s: float) -> Reply:
        """Send once, without retrying.

        Raises:
            ProviderError: the endpoint could not or would not answer.
        """
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._pool),
                headers=self._headers,
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
            )
        body = body_of(request)
        try:
            async with self._session.post(
                self._url,
                data=orjson.dumps(body),
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(
                    total=timeout_s, sock_connect=connect_within(timeout_s)
                ),
            ) as response:
                answer = await _read(response)
        except (aiohttp.ClientError, TimeoutError) as failure:
            raise connection_failure(failure, self.base_url, timeout_s) from failure
        if not _is_success(response.status):
            raise self.refused(response.status, response.headers, answer, body.keys())
        return self.read(read_reply, answer, response.headers, body.keys())

    async def close(self) -> None:
        """Release connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """Read a body: at once where it is known to be short, or piece by piece up to the cap."""
    length = response.content_length
    if (
        length is not None
        and length <= LONGEST_BODY
        and not response.headers.get("Content-Encoding")
    ):
        return await response.read()
    return await read_capped(response.content.iter_any(), cut=not _is_success(response.status))


def _is_success(status: int) -> bool:
    """Return whether a status promises an answer; some servers say 201 for it."""
    return 200 <= status < 300
