"""The HTTP client of the SDKs with a cap on the bodies it reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx2

from pipeline.providers.body import LONGEST_BODY, read_capped
from pipeline.providers.connection import connect_within

_UNTRUE = frozenset({b"content-encoding", b"content-length", b"content-type", b"transfer-encoding"})
"""Headers that are not true of a body that has been read, or that the SDK would trust too much:
there are character sets that are none."""


class CappedClient(httpx2.AsyncClient):
    """Reads no body beyond the cap; put it before the client whose transport is to be used.

    The SDKs read every body whole, and a small one that is compressed may be enormous.
    """

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        """Send a request and, unless its body is to be streamed, read at most the cap of it.

        Raises:
            ServerFault: an answer is longer.
        """
        response = await super().send(request, stream=True, **options)
        if stream:
            return response
        try:
            if is_short(response.status_code, response.headers):
                await response.aread()
                return response
            return await read_long(response, request)
        finally:
            await response.aclose()


def is_short(status: int, headers: Mapping[str, str]) -> bool:
    """Return whether a body is a success and known beforehand to stay below the cap."""
    length = headers.get("content-length", "")
    return (
        200 <= status < 300
        and "content-encoding" not in headers
        and length.isdecimal()
        and int(length) <= LONGEST_BODY
    )


async def read_long(response: httpx2.Response, request: httpx2.Request) -> httpx2.Response:
    """Return a streamed response with what of its body stays below the cap.

    Raises:
        ServerFault: the answer is longer, and no error, which is cut.
    """
    body = await read_capped(response.aiter_bytes(), cut=not response.is_success)
    headers = [(k, v) for k, v in response.headers.raw if k.lower() not in _UNTRUE]
    return httpx2.Response(response.status_code, headers=headers, content=body, request=request)


def sdk_timeout(timeout_s: float, *, whole: bool = False) -> httpx2.Timeout:
    """Return the time allowed for a request as the SDKs take it.

    ``whole``: :class:`~pipeline.providers.allowed_time.AllowedTime` around it says when it ends. A
    second timer would run out first where the process stood still.
    """
    return httpx2.Timeout(None if whole else timeout_s, connect=connect_within(timeout_s))
