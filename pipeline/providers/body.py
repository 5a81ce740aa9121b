"""The body of an answer, read piece by piece and never beyond a cap."""

from __future__ import annotations

from collections.abc import AsyncIterable

from pipeline.providers.failures import broken_body
from pipeline.providers.untrusted import storable

LONGEST_BODY = 4 * 2**20
"""Bytes of an answer, decompressed, beyond which it is given up."""


async def read_capped(pieces: AsyncIterable[bytes], *, cut: bool) -> bytes:
    """Return the decompressed pieces of a body in one.

    Args:
        pieces: as they arrive; each is small, so that what is in memory stays near the cap.
        cut: whether a body beyond the cap is cut, as errors are, which are read for their reason.

    Raises:
        ServerFault: it is longer than the cap, and not to be cut; its start is in the error.
    """
    body = bytearray()
    async for piece in pieces:
        body += piece
        if len(body) > LONGEST_BODY:
            if cut:
                break
            error = broken_body(f"it is longer than {LONGEST_BODY // 2**20} MiB")
            error.body = excerpt(body)
            raise error
    return bytes(body)


def excerpt(body: bytes | bytearray) -> str:
    """Return what is stored of a body that is of no use."""
    return storable(body.decode("utf-8", "replace"))
