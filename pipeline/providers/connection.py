"""What the adapters over HTTP share: keys that are hidden, answers that are read, errors by cause.

The SDKs' aiohttp transports report a refused or dropped connection as a timeout or the other way
round, so that what aiohttp itself said is looked up behind their exceptions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

import aiohttp

from pipeline.providers.errors import ProviderError, ServerFault, Unreachable
from pipeline.providers.failures import NotConnected, disguised, from_status, timed_out
from pipeline.providers.protocol import Reply

_NEVER_MADE = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    ConnectionRefusedError,
)


class HttpProvider:
    """Base of the adapters over HTTP: it reads answers, and names failures without any key in them.

    Args:
        base_url: where requests go.
        api_key: the key, or None.
        headers: further headers; their values are hidden like the key.
    """

    samples_per_request = True
    key_hint = "name the variable that holds the key with --api-key-env"
    """What to do about a key that is refused."""
    request_id_header = "x-request-id"

    def __init__(self, base_url: str, api_key: str | None, headers: Mapping[str, str]) -> None:
        self.base_url: str | None = base_url
        self._secrets = tuple(filter(None, (api_key, *headers.values())))

    def _read(
        self,
        read: Callable[[bytes, str | None], Reply],
        body: bytes,
        headers: Mapping[str, str],
        sent: Collection[str],
    ) -> Reply:
        """Read an answer of status 200; an error inside it is raised as what it is."""
        try:
            return read(body, headers.get(self.request_id_header))
        except ServerFault:
            error = disguised(body, headers, sent=sent, secrets=self._secrets)
            if error is None:
                raise
            raise error from None

    def _refused(
        self, status: int, headers: Mapping[str, str], body: bytes, sent: Collection[str]
    ) -> ProviderError:
        """Return the error for a status that is no success."""
        return from_status(
            status, headers, body, sent=sent, secrets=self._secrets, key_hint=self.key_hint
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
