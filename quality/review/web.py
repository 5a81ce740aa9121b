"""What every page of a review needs: the guest, their session, the templates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any

from fastapi import Path as InPath
from fastapi import Request
from jinja2 import Environment
from starlette.responses import HTMLResponse, Response

from quality.review.forms import shown_value
from quality.review.service import ReviewService
from quality.review.translations import ORIGINAL
from quality.web.client_address import client_address
from quality.web.page_language import PageLanguage, accepted
from quality.web.requests import Redirect, RefusedRequest
from quality.web.sessions import LASTS_S, form_token
from quality.web.templates import compile_all, page_templates
from scenarios.fingerprint import content_id
from scenarios.reviews import Annotator, Visit

PAGES = Path(__file__).parent / "pages"
RowNumber = Annotated[int, InPath(ge=1, le=2**63 - 1)]
"""The number of a row in the path of a page: as far as SQLite counts."""


@dataclass(frozen=True, slots=True)
class VisitorSession:
    """A browser with a session."""

    token: str
    visit: Visit

    @property
    def person(self) -> Annotator:
        """Who sits before it.

        Raises:
            Redirect: they have not said yet.
        """
        if self.visit.annotator is None:
            raise Redirect("/name")
        return self.visit.annotator


def environment() -> Environment:
    """Return the templates of the pages; every value is escaped."""
    templates = page_templates(PAGES)
    templates.filters["shown"] = lambda value, dimension: shown_value(dimension, value)
    compile_all(templates)
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


def hands_over(request: Request, guest: VisitorSession | None) -> bool:
    """Whether this browser may go on with the next annotator: one on the serving machine itself.

    Elsewhere, and where people have accounts, one session is one person's.
    """
    access = desk_of(request).access
    if guest is None or guest.visit.role != "annotator" or access.accounts or access.proxies:
        return False
    return is_loopback(origin_of(request))


def is_loopback(address: str) -> bool:
    """Whether an address is that of the machine itself."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


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
        Redirect: they have to log in.
        RefusedRequest: there is no session and nothing to log in with.
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
    if not service.study.asks_opinion:
        # Chosen in another study of the run: it would tell of labels before one's own are given.
        visit = replace(visit, reason="")
    return VisitorSession(token, visit)


def seated(request: Request) -> VisitorSession:
    """Return a guest who has been through every page before the first item.

    Raises:
        Redirect: they have not.
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
        Redirect: they are an expert, or not seated yet.
    """
    guest = seated(request)
    if guest.visit.role != "annotator":
        raise Redirect("/adjudicate")
    return guest


def expert(request: Request) -> VisitorSession:
    """Return a seated guest who is an expert.

    Raises:
        RefusedRequest: they are not.
    """
    guest = seated(request)
    if guest.visit.role != "expert":
        raise RefusedRequest(403, "This page is for the expert of the study.")
    return guest


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
    spoken = page_language(request, language)

    def translated(text: str) -> str:
        known = spoken is not None and spoken.of(text) != text
        return "" if known else service.translations.of(text, language)

    html = request.app.state.templates.get_template(f"{template}.html.j2").render(
        study=service.study,
        scheme=service.scheme,
        language="" if language in (None, ORIGINAL) else language,
        tr=translated,
        csrf=form_token(guest.token) if guest else "",
        guest=guest,
        code=guest.visit.annotator.code if guest and guest.visit.annotator else "",
        is_expert=bool(guest and guest.visit.role == "expert"),
        hands_over=hands_over(request, guest),
        assets=request.app.state.assets,
        words=dict(spoken.texts) if spoken else {},
        **context,
    )
    return HTMLResponse(html if spoken is None else spoken.page(html), status)


def page_language(request: Request, chosen: str | None) -> PageLanguage | None:
    """Return the language of the page itself: the one chosen, else the browser's; None: English."""
    languages = desk_of(request).languages
    wanted = chosen or accepted(request.headers.get("accept-language", ""), languages)
    return languages.get(wanted or ORIGINAL)


def refusal_page(request: Request, error: RefusedRequest) -> Response:
    """Say why a request is refused."""
    return page(
        request, "refused", status=error.status, message=error.message, heading=error.heading
    )
