"""What became of a connection: never made, broken, or too slow, told from an exception's cause.

The SDKs' aiohttp transports report a refused or dropped connection as a timeout or the other way
round, so that what aiohttp itself said is looked up behind their exceptions.
"""

from __future__ import annotations

from collections.abc import Iterator

import aiohttp

from pipeline.providers.errors import ProviderError, Unreachable
from pipeline.providers.failures import NotConnected, timed_out

_NEVER_MADE = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    ConnectionRefusedError,
)


def connection_failure(
    error: BaseException, base_url: str | None, timeout_s: float
) -> ProviderError:
    """Map an exception of aiohttp, or of an SDK on top of it, to our error tree."""
    chain = list(_causes(error))
    if any(isinstance(link, _NEVER_MADE) for link in chain):
        return NotConnected(f"no connection to {base_url}", hint="is a server running there?")
    if any(isinstance(link, TimeoutError) for link in chain):
        return timed_out(timeout_s)
    return Unreachable(f"the connection to {base_url} broke ({type(chain[-1]).__name__})")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and what led to it, outermost first."""
    link: BaseException | None = error
    while link is not None:
        yield link
        link = link.__cause__ or link.__context__
