"""OpenAI, through its own SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx2
import openai
import orjson
from openai._models import FinalRequestOptions

from pipeline.providers.address import KEY_OPTION, chat_url
from pipeline.providers.allowed_time import AllowedTime
from pipeline.providers.capped_client import sdk_timeout
from pipeline.providers.connection import HttpProvider
from pipeline.providers.errors import ProviderError
from pipeline.providers.posting_client import PostingClient, body_from, prepared
from pipeline.providers.protocol import Reply, Request
from pipeline.providers.wire_openai import body_of, read_reply


class _OpenAIClient(PostingClient, openai.DefaultAioHttpClient):
    """The SDK's client over aiohttp, with a cap on bodies and a short way for what is posted."""


class _Sdk(openai.AsyncOpenAI):
    """The SDK, which puts address and headers together once for all requests of one kind.

    Those that are posted as bytes to one address differ in their bodies and in the time allowed.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._firsts: dict[tuple[str, float | None], httpx2.Request] = {}

    def _build_request(
        self, options: FinalRequestOptions, *, retries_taken: int = 0
    ) -> httpx2.Request:
        content, timeout = options.content, options.timeout
        special = options.headers or options.params or options.files or options.method != "post"
        if special or not (isinstance(content, bytes) and isinstance(timeout, httpx2.Timeout)):
            return super()._build_request(options, retries_taken=retries_taken)
        key = options.url, timeout.read
        first = self._firsts.get(key)
        if first is None:
            first = self._firsts[key] = prepared(
                super()._build_request(options, retries_taken=retries_taken)
            )
        request = httpx2.Request(
            first.method,
            first.url,
            headers=first.headers,
            stream=httpx2.ByteStream(content),
            extensions=first.extensions,
        )
        # Otherwise found out anew for each, by decoding all headers.
        request.headers.encoding = first.headers.encoding
        request.read()
        return request


class OpenAIProvider(HttpProvider):
    """Posts through ``AsyncOpenAI``, below its response models: half the CPU of ``create()``.

    The SDK's own retries are off and its pool is as large as the concurrency. Redirects are not
    followed, so that no other address sees the prompt.
    """

    name = "openai"
    key_hint = f"check the key in OPENAI_API_KEY or the variable of {KEY_OPTION}"
    status_error = openai.APIStatusError

    def __init__(
        self, base_url: str, api_key: str, max_concurrency: int, headers: Mapping[str, str]
    ) -> None:
        """Prepare; connections are opened by the first request."""
        super().__init__(base_url, api_key, headers)
        # a whole address: the SDK takes long to join a relative one to its base
        self._url = chat_url(base_url)
        self._prepared: dict[float, FinalRequestOptions] = {}
        self.client = _Sdk(
            api_key=api_key,
            base_url=base_url,
            max_retries=0,
            default_headers=headers,
            http_client=_OpenAIClient(
                posts_to=self._url,
                connections=max_concurrency,
                limits=httpx2.Limits(
                    max_connections=max_concurrency, max_keepalive_connections=max_concurrency
                ),
                follow_redirects=False,
            ),
        )

    async def send(self, request: Request, timeout_s: float) -> Reply:
        """Send once, without retrying.

        Raises:
            ProviderError: the endpoint could not or would not answer.
        """
        body = body_of(request, "max_completion_tokens")
        try:
            with AllowedTime(timeout_s):
                response = await self.client.request(
                    httpx2.Response,
                    self._options(timeout_s).model_copy(
                        # the SDK would copy and serialise it slowly
                        update={"content": orjson.dumps(body)}
                    ),
                )
                answer = await body_from(response)
        except ProviderError:
            raise
        except Exception as failure:  # the SDK reads what is not to be trusted before we do
            raise self.mapped(failure, body.keys(), timeout_s, request.messages) from failure
        return self.read(read_reply, answer, response.headers, body.keys(), request.messages)

    def _options(self, timeout_s: float) -> FinalRequestOptions:
        """Return what all requests with this time allowed have in common, prepared once."""
        options = self._prepared.get(timeout_s)
        if options is None:
            options = self._prepared[timeout_s] = FinalRequestOptions.construct(
                method="post", url=self._url, timeout=sdk_timeout(timeout_s, whole=True)
            )
        return options

    async def close(self) -> None:
        """Release connections."""
        await self.client.close()
