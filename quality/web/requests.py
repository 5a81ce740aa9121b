"""Requests and answers that every page knows: forms that were sent, refusals, redirections."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qs

from fastapi import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from quality.web.sessions import is_form_token

MOST_FIELDS = 2_000


class Redirect(Exception):
    """The guest has to go to another page first."""

    def __init__(self, path: str) -> None:
        """Name the page."""
        super().__init__(path)
        self.path = path


class RefusedRequest(Exception):
    """The request is answered with a message and a status."""

    def __init__(self, status: int, message: str) -> None:
        """Say what is wrong, for people."""
        super().__init__(message)
        self.status = status
        self.message = message

    @property
    def heading(self) -> str:
        """What stands above the message."""
        return {
            401: "Not let in",
            403: "Not allowed",
            404: "Not here",
            409: "Not counted",
            422: "Not complete",
            429: "Too many tries",
        }.get(self.status, "That did not work")


async def sent_form(request: Request, session: str | None) -> dict[str, list[str]]:
    """Return the form that was sent, once it is certain that it comes from our own page.

    Args:
        request: what was sent.
        session: the token of the session whose form it has to be; None where there is none yet.

    Raises:
        RefusedRequest: it does not, or it is no form.
    """
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != request.headers.get("host", ""):
        raise RefusedRequest(403, "This form was not sent from this page.")
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise RefusedRequest(403, "This form was not sent from this page.")
    try:
        text = (await request.body()).decode("utf-8")
        data = parse_qs(text, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise RefusedRequest(400, "This form cannot be read.") from error
    if session is not None and not is_form_token(session, "".join(data.pop("csrf", ()))):
        raise RefusedRequest(403, "This form is too old or was not made for you. Reload the page.")
    return data


def first(data: Mapping[str, list[str]], name: str, limit: int = 200) -> str:
    """Return the first value of a field, trimmed, of at most ``limit`` characters."""
    return "".join(data.get(name, [""])[:1]).strip()[:limit]


def wants_json(request: Request) -> bool:
    """Whether the page's script asks, and not the browser itself."""
    return "application/json" in request.headers.get("accept", "")


def saved(request: Request, path: str) -> Response:
    """Acknowledge what was sent, and say where to go on."""
    if wants_json(request):
        return JSONResponse({"saved": True, "next": path})
    return RedirectResponse(path, 303)
