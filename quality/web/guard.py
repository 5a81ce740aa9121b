"""Request checks before any page: host, size, CSRF, security headers."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quality.web.access import Access
from quality.web.client_address import client_address, is_trusted
from quality.web.counts import read_count

LARGEST = 64 * 1024
"""Bytes of a form; the largest form there is has a few hundred fields and two short notes."""
SLOWEST_S = 30.0
MOST_OF_A_CLIENT = 32
"""Requests of one client behind a proxy at a time; browsers send six."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """ASGI middleware; refuses what it can before the application sees it."""

    def __init__(self, app: ASGIApp, access: Access, largest: int = LARGEST) -> None:
        """Stand before ``app``, and let forms of at most ``largest`` bytes through."""
        self._app = app
        self._largest = largest
        self._access = access
        self._at_once: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = self._with_headers(send, scope["path"])
        client = self._client(scope)
        refused = self._refusal(scope, client)
        if refused is not None:
            await refused(scope, receive, answer)
            return
        with self._counted(client):
            try:
                body = await _body(receive, self._largest)
            except ClientDisconnect:
                return
            if body is None:
                await _closing("This form is too large.", 413)(scope, receive, answer)
                return
            await self._app(scope, _replayed(body, receive), answer)

    def _client(self, scope: Scope) -> str | None:
        told = Headers(scope=scope).getlist("x-forwarded-for")
        return client_address(_peer(scope), told, self._access.proxies)

    @contextmanager
    def _counted(self, client: str | None) -> Iterator[None]:
        key = client or ""
        self._at_once[key] += 1
        try:
            yield
        finally:
            self._at_once[key] -= 1
            if not self._at_once[key]:
                del self._at_once[key]

    def _refusal(self, scope: Scope, client: str | None) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        if self._access.proxies:
            refused = self._not_by_the_proxy(scope, client)
            if refused is not None:
                return refused
        if headers.get("host", "").lower() not in self._access.hosts:
            # Another name that points here: a page elsewhere is trying to use this browser.
            return PlainTextResponse("Use the address you were given.", 421)
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return PlainTextResponse("This cannot be done.", 405)
        length = read_count(headers.get("content-length", "0"))
        if length is None or length > self._largest:
            return _closing("This form is too large.", 413)
        return None

    def _not_by_the_proxy(self, scope: Scope, client: str | None) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        trusted = is_trusted(_peer(scope), self._access.proxies)
        if not trusted or headers.get("x-forwarded-proto") != "https":
            return PlainTextResponse("Use the address you were given, over https.", 403)
        if client is None:
            # Without it, everybody would be one client: one who guesses would stop all others.
            return PlainTextResponse(
                "The proxy before this page does not tell who asks: have it send X-Forwarded-For.",
                403,
            )
        if self._at_once[client] >= MOST_OF_A_CLIENT:
            return _closing("Too many requests at once.", 429)
        return None

    def _with_headers(self, send: Send, path: str) -> Send:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                if not path.startswith("/static/"):
                    headers["cache-control"] = "no-store"
                if self._access.tls:
                    headers["strict-transport-security"] = "max-age=31536000"
            await send(message)

        return answer


def _peer(scope: Scope) -> str:
    peer: str = (scope.get("client") or ("", 0))[0]
    return peer


def _closing(text: str, status: int) -> PlainTextResponse:
    """Return an answer after which the connection is closed: what is still sent is not read."""
    return PlainTextResponse(text, status, headers={"connection": "close"})


async def _body(receive: Receive, largest: int) -> bytes | None:
    """Read what was sent; None where it is more than anybody needs, or never ends.

    Raises:
        ClientDisconnect: the connection was lost on the way. The part that came would be read as a
            whole form, with a note cut off in the middle and boxes unticked.
    """
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(SLOWEST_S):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise ClientDisconnect
                part: bytes = message.get("body", b"")
                size += len(part)
                if size > largest:
                    return None
                parts.append(part)
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        return None
    return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a ``receive`` that gives the body once, and then whatever comes."""
    waiting = [body]

    async def replay() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return replay
