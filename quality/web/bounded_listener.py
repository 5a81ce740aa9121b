"""A listening socket that lets no address hold more than its share of connections."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from quality.web.client_address import Network, client_address, is_trusted

MOST_OF_AN_ADDRESS = 100
"""Browsers open six each and close them when idle, so that a classroom behind one address fits."""


class _CountedConnection(socket.socket):
    """A connection that says once when it is closed."""

    on_close: Callable[[], None] | None = None

    def close(self) -> None:
        """Close, and say so."""
        told, self.on_close = self.on_close, None
        super().close()
        if told is not None:
            told()


class BoundedListener(socket.socket):
    """Closes connections of an address that has as many as it may have, as soon as they are there.

    They are counted where they are accepted, before a TLS handshake, so that connections which
    never say anything count from the beginning. Proxies are not counted: everybody comes by them.
    """

    def __init__(
        self,
        family: socket.AddressFamily,
        *,
        most: int = MOST_OF_AN_ADDRESS,
        proxies: Sequence[Network] = (),
    ) -> None:
        """Hold at most ``most`` connections of an address that is none of ``proxies``."""
        # asyncio turns Nagle's delay off only where it sees the protocol named.
        super().__init__(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._most = most
        self._proxies = proxies
        self._held: Counter[str] = Counter()

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection.

        Raises:
            ConnectionAbortedError: it was one too many, and is closed; servers go on after this.
        """
        accepted, address = super().accept()
        peer = str(address[0])
        if is_trusted(peer, self._proxies):
            return accepted, address
        key = client_address(peer, (), ()) or peer
        if self._held[key] >= self._most:
            accepted.close()
            raise ConnectionAbortedError(f"{key} has {self._most} connections already")
        self._held[key] += 1
        counted = _CountedConnection(
            accepted.family, accepted.type, accepted.proto, fileno=accepted.detach()
        )
        counted.setblocking(False)
        counted.on_close = lambda: self._count_down(key)
        return counted, address

    def _count_down(self, key: str) -> None:
        self._held[key] -= 1
        if not self._held[key]:
            del self._held[key]
