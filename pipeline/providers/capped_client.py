"""The HTTP client of the SDKs with a cap on the bodies it reads."""

from __future__ import annotations

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
            if _is_short(response):
                await response.aread()
                return response
            body = await read_capped(response.aiter_bytes(), cut=not response.is_success)
        finally:
            await response.aclose()
        headers = [(k, v) for k, v in response.headers.raw if k.lower() not in _UNTRUE]
        return httpx2.Response(response.status_code, headers=headers, content=body, request=request)


def _is_short(response: httpx2.Response) -> bool:
    """Return whether a body is a success and known beforehand to stay below the cap."""
    headers = response.headers
    length = headers.get("content-length", "")
    return (
        response.is_success
        and "content-encoding" not in headers
        and length.isdecimal()
        and int(length) <= LONGEST_BODY
    )


def sdk_timeout(timeout_s: float) -> httpx2.Timeout:
    """Return the time allowed for a request as the SDKs take it."""
    return httpx2.Timeout(timeout_s, connect=connect_within(timeout_s))
