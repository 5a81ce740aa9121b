"""Request checks before any page: host, size, CSRF, security headers."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quality.review.service import Access

LARGEST = 64 * 1024
"""Bytes of a form; the largest form there is has a few hundred fields and two short notes."""
SLOWEST_S = 30.0
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

    def __init__(self, app: ASGIApp, access: Access) -> None:
        """Stand before ``app``."""
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = self._with_headers(send, scope["path"])
        refused = self._refusal(scope)
        if refused is not None:
            await refused(scope, receive, answer)
            return
        body = await _body(receive)
        if body is None:
            too_large = PlainTextResponse("This form is too large.", 413)
            too_large.headers["connection"] = "close"
            await too_large(scope, receive, answer)
            return
        await self._app(scope, _replayed(body, receive), answer)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        access = self._access
        if access.proxy is not None:
            peer = (scope.get("client") or ("", 0))[0]
            if peer != access.proxy or headers.get("x-forwarded-proto") != "https":
                return PlainTextResponse("Use the address you were given, over https.", 403)
        if access.hosts and headers.get("host", "") not in access.hosts:
            # Another name that points here: a page elsewhere is trying to use this browser.
            return PlainTextResponse("Use the address you were given.", 421)
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return PlainTextResponse("This cannot be done.", 405)
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > LARGEST:
            refused = PlainTextResponse("This form is too large.", 413)
            refused.headers["connection"] = "close"
            return refused
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


async def _body(receive: Receive) -> bytes | None:
    """Read what was sent; None where it is more than anybody needs, or never ends."""
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(SLOWEST_S):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    break
                part: bytes = message.get("body", b"")
                size += len(part)
                if size > LARGEST:
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
