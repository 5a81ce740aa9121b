"""Any service that speaks OpenAI's chat completions, over plain aiohttp: a lean path.

One call costs about a tenth of a millisecond of CPU here, more than ten times that through an SDK.
"""

from __future__ import annotations

from collections.abc import Mapping

import aiohttp
import orjson

from pipeline.providers.connection import connection_failure
from pipeline.providers.errors import ProviderError, ServerFault
from pipeline.providers.failures import disguised, from_status
from pipeline.providers.protocol import Reply, Request
from pipeline.providers.wire_openai import body_of, read_reply


class CompatibleProvider:
    """Sends to ``{base_url}/chat/completions``.

    A key is sent only if the user named its variable: the address may be anybody's. Redirects are
    not followed, and proxies and credentials of the environment are not used.
    """

    name = "compatible"
    samples_per_request = True

    def __init__(
        self,
        base_url: str,
        api_key: str | None,
        max_concurrency: int,
        headers: Mapping[str, str],
    ) -> None:
        """Prepare; connections are opened by the first request."""
        self.base_url: str | None = base_url
        self._url = f"{base_url}/chat/completions"
        self._secrets = tuple(filter(None, (api_key, *headers.values())))
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
                timeout=aiohttp.ClientTimeout(total=timeout_s),
            ) as response:
                answer = await response.read()
        except (aiohttp.ClientError, TimeoutError) as failure:
            raise connection_failure(failure, self.base_url, timeout_s) from failure
        if response.status != 200:
            raise self._refused(response.status, response.headers, answer, body)
        try:
            return read_reply(answer, response.headers.get("x-request-id"))
        except ServerFault:
            error = disguised(answer, response.headers, sent=body.keys(), secrets=self._secrets)
            if error is None:
                raise
            raise error from None

    async def close(self) -> None:
        """Release connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _refused(
        self, status: int, headers: Mapping[str, str], answer: bytes, body: Mapping[str, object]
    ) -> ProviderError:
        """Name what the endpoint refused."""
        return from_status(
            status,
            headers,
            answer,
            sent=body.keys(),
            secrets=self._secrets,
            key_hint="name the variable that holds the key with --api-key-env",
        )


def build(
    *,
    base_url: str | None,
    api_key: str | None,
    max_concurrency: int,
    headers: Mapping[str, str],
) -> CompatibleProvider:
    """Make the provider; see ``registry.build_provider``."""
    if base_url is None:
        raise ValueError("compatible needs a base URL")
    return CompatibleProvider(base_url, api_key, max_concurrency, headers)
