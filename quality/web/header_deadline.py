"""The HTTP protocol of the review server: uvicorn's, with a deadline for the head of a request."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_S = 10.0
"""From the connection, or the first byte of a later request on it, to the end of the head."""


class HeaderDeadline(H11Protocol):
    """Drops a connection whose request does not begin in time, however slowly it goes on.

    uvicorn ends connections that are idle between requests, but waits for ever for the first
    request and for one that has begun: a few hundred such connections would take every place.
    """

    header_s = HEADER_S
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(  # type: ignore[override] # as uvicorn has it
        self, transport: asyncio.Transport
    ) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Go on waiting if the head is not complete yet."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._wait()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.header_s, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def protocol_with(header_s: float) -> type[HeaderDeadline]:
    """Return the protocol with a deadline of so many seconds."""
    return type("HeaderDeadline", (HeaderDeadline,), {"header_s": header_s})
