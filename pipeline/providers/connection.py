"""What the adapters over HTTP share: keys that are hidden, answers that are read, errors by cause.

The SDKs' aiohttp transports report a refused or dropped connection as a timeout or the other way
round, so that what aiohttp itself said is looked up behind their exceptions.
"""

from __future__ import annotations

import re
import ssl
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import aiohttp
from aiohttp.http_exceptions import ContentLengthError, HttpProcessingError, TransferEncodingError

from pipeline.providers.address import KEY_OPTION
from pipeline.providers.body import LONGEST_BODY, excerpt
from pipeline.providers.error_body import usage_in
from pipeline.providers.errors import ProviderError, ServerFault, Unreachable
from pipeline.providers.failures import (
    NotConnected,
    NoTls,
    broken_body,
    disguised,
    from_status,
    timed_out,
)
from pipeline.providers.protocol import Reply
from pipeline.providers.untrusted import json_object
from pipeline.providers.wire_openai import if_counted, read_usage
from prompts.question import Message
from scenarios.log import LONG_SECRET, MASK, scrub

CONNECT_S = 10.0
"""Seconds in which a connection has to come about; the rest of the time allowed is the answer's."""

_NEVER_MADE = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    ConnectionRefusedError,
)
_OWN_AUTHORITY = "if an authority of your own signed it, name its file in SSL_CERT_FILE"
_CUT_SHORT = (ContentLengthError, TransferEncodingError)
_ESCAPED = re.compile(rb"\\(?:u00|/)")
"""How characters of keys are escaped: an answer that holds none of it is searched for plain keys alone."""
_NOT_HTTP = (aiohttp.ClientResponseError, HttpProcessingError, UnicodeError, zlib.error)


class HttpProvider:
    """Base of the adapters over HTTP: it reads answers, and names failures without any key in them.

    Args:
        base_url: where requests go.
        api_key: the key, or None.
        headers: further headers; their values are hidden like the key.
    """

    samples_per_request = True
    key_hint = f"name the variable that holds the key with {KEY_OPTION}"
    """What to do about a key that is refused."""
    request_id_header = "x-request-id"
    status_error: type[Exception] | tuple[()] = ()
    """What an SDK raises for a status that is no success: it holds the ``response``."""
    read_usage = staticmethod(read_usage)
    """Reads the counts of tokens of an answer, or of an error that was billed all the same."""

    def __init__(self, base_url: str, api_key: str | None, headers: Mapping[str, str]) -> None:
        self.base_url: str | None = base_url
        self._secrets = tuple(filter(None, (api_key, *headers.values())))
        self._keys = [
            (key.encode(), _however_written(key))
            for key in self._secrets
            if len(key) >= LONG_SECRET
        ]

    def read(
        self,
        read: Callable[[bytes, str | None], Reply],
        body: bytes,
        headers: Mapping[str, str],
        sent: Collection[str],
        prompt: Sequence[Message] = (),
    ) -> Reply:
        """Read an answer that came as a success; an error inside it is raised as what it is."""
        body = self.masked(body.removeprefix(BOM_UTF8))
        request_id = headers.get(self.request_id_header)
        try:
            reply = read(body, request_id and scrub(request_id, self._secrets))
        except ServerFault as fault:
            error = self._disguised(body, headers, sent, prompt) or fault
            error.body = self._excerpt(body)
            raise self._billed(error, body) from None
        if reply.choices:
            return reply
        hidden = self._disguised(body, headers, sent, prompt)
        if hidden is not None:
            hidden.body = self._excerpt(body)
            raise self._billed(hidden, body)
        return replace(reply, body=self._excerpt(body))

    def masked(self, body: bytes) -> bytes:
        """Return an answer, which is stored, without the long keys that a server repeats in it.

        They may stand in any field, and any of their characters in escapes.
        """
        has_escapes = _ESCAPED.search(body) is not None
        for key, however_written in self._keys:
            body = body.replace(key, MASK.encode())
            if has_escapes:
                body = however_written.sub(MASK.encode(), body)
        return body

    def _disguised(
        self,
        body: bytes,
        headers: Mapping[str, str],
        sent: Collection[str],
        prompt: Sequence[Message],
    ) -> ProviderError | None:
        return disguised(body, headers, sent=sent, prompt=prompt, secrets=self._secrets)

    def _excerpt(self, body: bytes) -> str:
        """Return what is kept of an answer of no use, without any key in it."""
        return scrub(excerpt(body), self._secrets)

    def _billed(self, error: ProviderError, body: bytes) -> ProviderError:
        """Return an error with what its body says was used all the same.

        One that was cut at the cap may have said so: it may have been billed, nobody knows how much.
        """
        told = usage_in(json_object(body))
        if len(body) > LONGEST_BODY:
            error.billed = True
        elif told is not None:
            error.billed, error.usage = True, if_counted(self.read_usage(told), ())
        return error

    def refused(
        self,
        status: int,
        headers: Mapping[str, str],
        body: bytes,
        sent: Collection[str],
        prompt: Sequence[Message] = (),
    ) -> ProviderError:
        """Return the error for a status that is no success."""
        error = from_status(
            status,
            headers,
            body,
            sent=sent,
            prompt=prompt,
            secrets=self._secrets,
            key_hint=self.key_hint,
        )
        return self._billed(error, body)

    def mapped(
        self,
        error: Exception,
        sent: Collection[str],
        timeout_s: float,
        prompt: Sequence[Message] = (),
    ) -> ProviderError:
        """Map an SDK's exceptions to ours.

        Args:
            error: what the SDK raised.
            sent: names of the fields in the request's body.
            timeout_s: the seconds that were allowed.
            prompt: what was asked.
        """
        if isinstance(error, self.status_error):
            answer = cast("Any", error).response
            return self.refused(answer.status_code, answer.headers, answer.content, sent, prompt)
        return connection_failure(error, self.base_url, timeout_s)


def _however_written(key: str) -> re.Pattern[bytes]:
    """Return what finds a key in JSON, whichever of its characters are written as escapes."""
    written = []
    for character in key:
        plain = re.escape(character.encode())
        short = rb"|\\/" if character == "/" else b""
        written.append(rb"(?:%s|\\u(?i:%04x)%s)" % (plain, ord(character), short))
    return re.compile(b"".join(written))


def connect_within(timeout_s: float) -> float:
    """Return the seconds in which a connection has to come about, of those allowed in all."""
    return min(CONNECT_S, timeout_s)


def connection_failure(
    error: BaseException, base_url: str | None, timeout_s: float
) -> ProviderError:
    """Map an exception of aiohttp, or of an SDK on top of it, to our error tree."""
    chain = list(_causes(error))
    for link in chain:
        if isinstance(
            link, ProviderError
        ):  # raised below an SDK, which wraps whatever it does not know
            return link
    never_made = next((link for link in chain if isinstance(link, _NEVER_MADE)), None)
    if never_made is not None:
        return _not_connected(never_made, base_url)
    if any(isinstance(link, TimeoutError) for link in chain):
        return timed_out(timeout_s)
    cut_short = any(isinstance(link, _CUT_SHORT) for link in chain)
    if not cut_short and any(isinstance(link, _NOT_HTTP) for link in chain):
        return broken_body(f"it is no sound HTTP ({type(chain[-1]).__name__})")
    return Unreachable(f"the connection to {base_url} broke ({type(chain[-1]).__name__})")


def _not_connected(error: BaseException, base_url: str | None) -> NotConnected:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return NoTls(f"the certificate of {base_url} is not trusted", hint=_OWN_AUTHORITY)
    if isinstance(error, aiohttp.ClientSSLError):
        # a proxy hangs up like that while what is behind it is away
        hung_up = isinstance(error.os_error, ssl.SSLEOFError)
        kind = NotConnected if hung_up else NoTls
        return kind(f"no TLS with {base_url}", hint="does it speak http, not https?")
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return NotConnected(
            f"no address is known for {error.host}",
            hint="is the name spelt right, and the network there?",
        )
    return NotConnected(f"no connection to {base_url}", hint="is a server running there?")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and what led to it, outermost first."""
    link: BaseException | None = error
    while link is not None:
        yield link
        link = link.__cause__ or link.__context__
