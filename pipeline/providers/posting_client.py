"""The HTTP client of an SDK that posts to one address over connections of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import httpx2

from pipeline.providers.capped_client import CappedClient, is_short, read_long
from pipeline.providers.posting import Poster, header_lines

_CHUNK = 2**14
"""Bytes: what is decompressed of a body at once."""
_LINES = "hipo_lines"
"""The extension of a request that holds its headers as they are sent."""
_OF_BODY = frozenset({b"content-length", b"transfer-encoding"})


class PostingClient(CappedClient):
    """Sends requests that were :func:`prepared` with a :class:`Poster`, all else as the SDK would.

    What the SDK's transport turns from one library's records into another's, and back, costs more
    than the request. Where a proxy lies between, the SDK's transport is used.
    """

    def __init__(self, *, posts_to: str, connections: int, **settings: Any) -> None:
        """Prepare; ``posts_to``: their address; ``settings``: those of the SDK's client."""
        super().__init__(**settings)
        self._posts_to = httpx2.URL(posts_to)
        self._connections = connections
        self._direct = self._transport_for_url(self._posts_to) is self._transport
        self._poster: Poster | None = None

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        """Send a request; see :meth:`CappedClient.send`.

        Raises:
            ServerFault: an answer is longer than the cap.
        """
        lines = request.extensions.get(_LINES)
        if lines is None or stream or options or not self._direct:
            return await super().send(request, stream=stream, **options)
        connect_s = request.extensions["timeout"]["connect"]
        with await self._opened().post(request.content, connect_s, lines) as answer:
            if not is_short(answer.status, answer.headers):
                pieces = _Pieces(answer.content)
                return await read_long(
                    httpx2.Response(answer.status, headers=answer.raw_headers, stream=pieces),
                    request,
                )
            body = _Whole(await answer.whole())
        return httpx2.Response(
            answer.status, headers=answer.raw_headers, stream=body, request=request
        )

    def _opened(self) -> Poster:
        if self._poster is None:
            self._poster = Poster(
                str(self._posts_to),
                connections=self._connections,
                ssl=getattr(self._transport, "ssl_context", True),
                decompress=False,
            )
        return self._poster

    async def aclose(self) -> None:
        """Release connections."""
        if self._poster is not None:
            await self._poster.close()
            self._poster = None
        await super().aclose()


def prepared(request: httpx2.Request) -> httpx2.Request:
    """Return the first of many requests without its body and what is said of it.

    Those made with its headers and extensions are posted by a :class:`PostingClient`.
    """
    headers = httpx2.Headers([(k, v) for k, v in request.headers.raw if k.lower() not in _OF_BODY])
    extensions = {**request.extensions, _LINES: header_lines(headers.raw)}
    empty = httpx2.ByteStream(b"")  # without it a length would be added
    return httpx2.Request(
        request.method, request.url, headers=headers, stream=empty, extensions=extensions
    )


async def body_from(response: httpx2.Response) -> bytes:
    """Return the body of a response, which may have been read before it was made."""
    body = response.stream
    return body.content if isinstance(body, _Whole) else await response.aread()


class _Pieces(httpx2.AsyncByteStream):
    """A body as it arrives, as the SDKs' library takes it."""

    def __init__(self, content: aiohttp.StreamReader) -> None:
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._content.iter_chunked(_CHUNK):
            yield piece


class _Whole(httpx2.AsyncByteStream):
    """A body that was read already."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.content
