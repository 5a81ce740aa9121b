"""What every page needs: session, form data, templates, error responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import Path as InPath
from fastapi import Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from quality.review.client_address import client_address
from quality.review.forms import shown_value
from quality.review.service import ReviewService
from quality.review.sessions import LASTS_S, form_token, is_form_token
from quality.review.translations import ORIGINAL
from scenarios.fingerprint import content_id
from scenarios.reviews import Annotator, Visit

PAGES = Path(__file__).parent / "pages"
MOST_FIELDS = 2_000
RowNumber = Annotated[int, InPath(ge=1, le=2**63 - 1)]
"""The number of a row in the path of a page: as far as SQLite counts."""


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


@dataclass(frozen=True, slots=True)
class VisitorSession:
    """A browser with a session."""

    token: str
    visit: Visit

    @property
    def person(self) -> Annotator:
        """Who sits before it.

        Raises:
            Elsewhere: they have not said yet.
        """
        if self.visit.annotator is None:
            raise Redirect("/name")
        return self.visit.annotator


def environment() -> Environment:
    """Return the templates of the pages; every value is escaped."""
    templates = Environment(
        loader=FileSystemLoader(PAGES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["shown"] = lambda value, dimension: shown_value(dimension, value)
    for name in templates.list_templates():
        templates.get_template(name)  # compiled now, so that nobody waits for it
    return templates


def desk_of(request: Request) -> ReviewService:
    """Return the service of the application."""
    service: ReviewService = request.app.state.service
    return service


def cookie_name(service: ReviewService) -> str:
    """Return the name of the cookie: one per run, and bound to the host under TLS."""
    name = f"hipo-review-{content_id(str(service.store.folder.resolve()))[:8]}"
    return f"__Host-{name}" if service.access.tls else name


def origin_of(request: Request) -> str:
    """Return the address a request comes from, behind the proxy if there is one."""
    peer = request.client.host if request.client else ""
    told = request.headers.getlist("x-forwarded-for")
    return client_address(peer, told, desk_of(request).access.proxies) or peer


def set_cookie(response: Response, service: ReviewService, token: str) -> None:
    """Let the browser keep its session."""
    response.set_cookie(
        cookie_name(service),
        token,
        max_age=int(LASTS_S),
        path="/",
        secure=service.access.tls,
        httponly=True,
        samesite="lax",
    )


def guest_of(request: Request) -> VisitorSession:
    """Return the guest of a request.

    Raises:
        Elsewhere: they have to log in.
        Refused: there is no session and nothing to log in with.
    """
    service = desk_of(request)
    token = request.cookies.get(cookie_name(service), "")
    visit = service.store.people.visit(token) if token else None
    if visit is None:
        if service.access.accounts:
            raise Redirect("/login")
        raise RefusedRequest(
            401,
            "You need a link to come in. Each link works once: ask the person who invited you for a"
            " new one, or look at the terminal the page was started from.",
        )
    return VisitorSession(token, visit)


def seated(request: Request) -> VisitorSession:
    """Return a guest who has been through every page before the first item.

    Raises:
        Elsewhere: they have not.
    """
    service, guest = desk_of(request), guest_of(request)
    visit = guest.visit
    if visit.consent != service.consent.fingerprint:
        raise Redirect("/consent")
    if visit.annotator is None:
        raise Redirect("/name")
    if visit.language is None and len(service.translations.languages) > 1:
        raise Redirect("/language")
    return guest


def annotator(request: Request) -> VisitorSession:
    """Return a seated guest who annotates.

    Raises:
        Elsewhere: they are an expert, or not seated yet.
    """
    guest = seated(request)
    if guest.visit.role != "annotator":
        raise Redirect("/adjudicate")
    return guest


def expert(request: Request) -> VisitorSession:
    """Return a seated guest who is an expert.

    Raises:
        Refused: they are not.
    """
    guest = seated(request)
    if guest.visit.role != "expert":
        raise RefusedRequest(403, "This page is for the expert of the study.")
    return guest


async def sent_form(request: Request, guest: VisitorSession | None) -> dict[str, list[str]]:
    """Return the form that was sent, once it is certain that it comes from our own page.

    Raises:
        Refused: it does not, or it is no form.
    """
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != request.headers.get("host", ""):
        raise RefusedRequest(403, "This form was not sent from the review page.")
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise RefusedRequest(403, "This form was not sent from the review page.")
    try:
        text = (await request.body()).decode("utf-8")
        data = parse_qs(text, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise RefusedRequest(400, "This form cannot be read.") from error
    if guest is not None and not is_form_token(guest.token, "".join(data.pop("csrf", ()))):
        raise RefusedRequest(403, "This form is too old or was not made for you. Reload the page.")
    return data


def first(data: Mapping[str, list[str]], name: str, limit: int = 200) -> str:
    """Return the first value of a field, trimmed, of at most ``limit`` characters."""
    return "".join(data.get(name, [""])[:1]).strip()[:limit]


def page(
    request: Request,
    template: str,
    guest: VisitorSession | None = None,
    status: int = 200,
    **context: Any,
) -> HTMLResponse:
    """Render a page."""
    service = desk_of(request)
    language = guest.visit.language if guest else None

    def translated(text: str) -> str:
        return service.translations.of(text, language)

    html = request.app.state.templates.get_template(f"{template}.html.j2").render(
        study=service.study,
        scheme=service.scheme,
        language="" if language in (None, ORIGINAL) else language,
        tr=translated,
        csrf=form_token(guest.token) if guest else "",
        guest=guest,
        code=guest.visit.annotator.code if guest and guest.visit.annotator else "",
        is_expert=bool(guest and guest.visit.role == "expert"),
        assets=request.app.state.assets,
        **context,
    )
    return HTMLResponse(html, status)


def wants_json(request: Request) -> bool:
    """Whether the page's script asks, and not the browser itself."""
    return "application/json" in request.headers.get("accept", "")


def saved(request: Request, path: str) -> Response:
    """Acknowledge what was sent, and say where to go on."""
    if wants_json(request):
        return JSONResponse({"saved": True, "next": path})
    return RedirectResponse(path, 303)


def redirect_handler(request: Request, error: Exception) -> Response:
    """Answer :class:`Redirect`."""
    path = error.path if isinstance(error, Redirect) else "/"
    if wants_json(request):
        body = {"saved": False, "message": "You are no longer logged in.", "next": path}
        return JSONResponse(body, 401)
    return RedirectResponse(path, 303)


def error_handler(request: Request, error: Exception) -> Response:
    """Answer :class:`RefusedRequest`."""
    status, message = 500, "Something went wrong."
    if isinstance(error, RefusedRequest):
        status, message = error.status, error.message
    if wants_json(request):
        return JSONResponse({"saved": False, "message": message}, status)
    return page(request, "refused", status=status, message=message, heading=_heading(status))


def _heading(status: int) -> str:
    return {
        401: "Not let in",
        403: "Not allowed",
        404: "Not here",
        409: "Not counted",
        422: "Not complete",
        429: "Too many tries",
    }.get(status, "That did not work")
