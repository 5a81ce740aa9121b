"""Anthropic, through its own SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anthropic
import httpx2

from pipeline.providers.address import KEY_OPTION, is_loopback
from pipeline.providers.allowed_time import AllowedTime
from pipeline.providers.capped_client import CappedClient, sdk_timeout
from pipeline.providers.connection import HttpProvider
from pipeline.providers.errors import ProviderError
from pipeline.providers.protocol import Reply, Request
from pipeline.providers.wire_anthropic import (
    SEED_HEADER,
    Call,
    RecentTexts,
    call_of,
    read_reply,
    read_usage,
    system_of,
)


class _AnthropicClient(CappedClient, anthropic.DefaultAioHttpClient):
    """The SDK's client over aiohttp, with a cap on bodies."""


class AnthropicProvider(HttpProvider):
    """Calls ``messages.create`` for its raw response; one sample a request.

    The format has no seed: replies are not reproducible, except by an endpoint on this machine,
    which gets the seed in a header. Retries and redirects of the SDK are off.
    """

    name = "anthropic"
    samples_per_request = False
    key_hint = f"check the key in ANTHROPIC_API_KEY or the variable of {KEY_OPTION}"
    status_error = anthropic.APIStatusError
    request_id_header = "request-id"
    read_usage = staticmethod(read_usage)

    def __init__(
        self, base_url: str, api_key: str, max_concurrency: int, headers: Mapping[str, str]
    ) -> None:
        """Prepare; connections are opened by the first request."""
        super().__init__(base_url, api_key, headers)
        self._recent = RecentTexts()
        self._sends_seed = is_loopback(base_url)
        self.client = anthropic.AsyncAnthropic(
            api_key=api_key,
            base_url=base_url,
            max_retries=0,
            default_headers=headers,
            http_client=_AnthropicClient(
                limits=httpx2.Limits(
                    max_connections=max_concurrency, max_keepalive_connections=max_concurrency
                ),
                follow_redirects=False,
            ),
        )

    def call_of(self, request: Request) -> Call:
        """Translate a request; a system text that was sent just before is marked for the cache."""
        return call_of(request, cached=self._recent.comes_again(system_of(request)))

    async def send(self, request: Request, timeout_s: float) -> Reply:
        """Send once, without retrying.

        Raises:
            ProviderError: the endpoint could not or would not answer.
        """
        call = self.call_of(request)
        arguments: dict[str, Any] = dict(call.arguments)
        seed = {SEED_HEADER: str(request.seed)} if self._sends_seed else None
        try:
            with AllowedTime(timeout_s):
                response = await self.client.messages.with_raw_response.create(
                    **arguments,
                    extra_body=dict(call.extra_body),
                    extra_headers=seed,
                    timeout=sdk_timeout(timeout_s, whole=True),
                )
                answer = await response.read()
        except ProviderError:
            raise
        except Exception as failure:  # the SDK reads what is not to be trusted before we do
            raise self.mapped(failure, call.fields, timeout_s, request.messages) from failure
        return self.read(read_reply, answer, response.headers, call.fields, request.messages)

    async def close(self) -> None:
        """Release connections."""
        await self.client.close()
