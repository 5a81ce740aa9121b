"""Pages for whoever started them: a one-time link from the terminal opens a session in memory."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from quality.web.requests import RefusedRequest
from quality.web.sessions import Links, digest, new_token


class SingleOwner:
    """Links and sessions of one server on this machine; they end with it.

    A used link is announced anew, so that another browser, or the same one without its cookie, is
    let in by the terminal alone.
    """

    def __init__(self, page: str, announce: Callable[[str], None]) -> None:
        """Let people in at a page.

        Args:
            page: a word for the name of the cookie, for example ``view``.
            announce: called with the token of a fresh link whenever one has been used.
        """
        # Cookies do not know ports: two servers on this machine must not overwrite each other's.
        self.cookie = f"hipo-{page}-{secrets.token_hex(4)}"
        self._links: Links[str] = Links(lambda _, token: announce(token))
        self._sessions: set[bytes] = set()

    def mint(self) -> str:
        """Return the token of a new link, ``/enter?token=...``."""
        return self._links.mint("owner")

    def session_of(self, request: Request) -> str:
        """Return the token of the session a request belongs to.

        Raises:
            RefusedRequest: it belongs to none.
        """
        token = request.cookies.get(self.cookie, "")
        if digest(token) not in self._sessions:
            raise RefusedRequest(
                401,
                "You need a link to come in. It stands in the terminal the page was started from;"
                " each works once.",
            )
        return token

    def router(self) -> APIRouter:
        """Return the route that a link leads to."""
        router = APIRouter()

        @router.get("/enter")
        async def enter(request: Request, token: str = "") -> Response:
            response = RedirectResponse("/", 303)
            if self._links.spend(token) is None:
                self.session_of(request)  # a link opened twice in one browser leads on
                return response
            session = new_token()
            self._sessions.add(digest(session))
            response.set_cookie(self.cookie, session, path="/", httponly=True, samesite="lax")
            return response

        return router
