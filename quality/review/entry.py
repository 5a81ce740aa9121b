"""Routes to enter a study: link or password, consent, name, language."""

from __future__ import annotations

import asyncio
import time

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from pipeline.store.review_people import name_key
from quality.review.password_checks import AttemptRefused, Refusal
from quality.review.passwords import hashed, return_code
from quality.review.service import ReviewService
from quality.review.translations import ORIGINAL
from quality.review.web import (
    VisitorSession,
    cookie_name,
    desk_of,
    guest_of,
    hands_over,
    origin_of,
    page,
    page_language,
    seated,
    set_cookie,
)
from quality.web.requests import RefusedRequest, first, sent_form
from quality.web.sessions import LASTS_S, digest, first_session, new_token, next_token
from scenarios.reviews import PersonRole

router = APIRouter()
_OUT = "You are logged out. Close this page."
_KEPT = "You are logged out. An answer that you have begun is kept as a draft. Close this page."
LONGEST_NAME = 60
_WRONG = hashed("a password nobody has")
"""Compared with where a name is unknown, so that it takes as long as a wrong password."""
_REFUSALS: dict[Refusal, str] = {
    "too many": "Too many wrong guesses. Try again in five minutes.",
    "busy": "Too many people are coming in right now. Try again in a minute.",
}


@router.get("/")
async def home(request: Request) -> Response:
    """Go on where the guest is."""
    guest = seated(request)
    return RedirectResponse("/adjudicate" if guest.visit.role == "expert" else "/next", 303)


@router.get("/enter")
async def enter(request: Request, token: str = "") -> Response:
    """Use up a link."""
    service = desk_of(request)
    if service.access.accounts:
        raise RefusedRequest(404, "Links let nobody in here; log in with name and password.")
    role = service.links.spend(token)
    if role is None:
        known = request.cookies.get(cookie_name(service), "")
        if known and service.store.people.visit(known):
            return RedirectResponse("/", 303)
        raise RefusedRequest(
            401,
            "This link has been used, or was not made by this server. Each link works once; a new"
            " one stands in the terminal the page was started from.",
        )
    return await _let_in(service, new_token(), role)


async def _let_in(
    service: ReviewService, session: str, role: PersonRole, annotator: int | None = None
) -> Response:
    """Open a session in a browser, and lead it on."""
    await service.store.people.open_session(session, role, time.time() + LASTS_S, annotator)
    response = RedirectResponse("/", 303)
    set_cookie(response, service, session)
    return response


@router.get("/login")
async def login_page(request: Request) -> Response:
    """Ask for name and password."""
    if not desk_of(request).access.accounts:
        raise RefusedRequest(404, "There is nothing to log in to; a link lets you in.")
    return page(request, "login", problem="")


@router.post("/login")
async def login(request: Request) -> Response:
    """Let somebody with an account in."""
    service = desk_of(request)
    if not service.access.accounts:
        raise RefusedRequest(404, "There is nothing to log in to; a link lets you in.")
    data = await sent_form(request, None)
    name, password = first(data, "name", LONGEST_NAME), first(data, "password", 1000)
    secret = service.store.people.secret_of(name)
    stored = secret[3] if secret and secret[2] else _WRONG
    fits = await _fits(request, password, stored, f"password {name_key(name)}", origin_of(request))
    if not fits or secret is None or not secret[2]:
        return page(request, "login", status=403, problem="Name or password is wrong.")
    annotator, role, _, _ = secret
    return await _let_in(service, new_token(), role, annotator)


@router.post("/leave")
async def leave(request: Request) -> Response:
    """Log out."""
    service, guest = desk_of(request), guest_of(request)
    await sent_form(request, guest.token)
    await service.store.people.close_session(guest.token)
    is_expert = guest.visit.role == "expert"  # what an expert settles has no draft
    response = page(request, "refused", heading="Goodbye", message=_OUT if is_expert else _KEPT)
    response.delete_cookie(cookie_name(service), path="/", secure=service.access.tls, httponly=True)
    return response


@router.post("/handover")
async def handover(request: Request) -> Response:
    """End a session and begin one for the next annotator on this machine, without a new link."""
    service, guest = desk_of(request), guest_of(request)
    await sent_form(request, guest.token)
    if not hands_over(request, guest):
        raise RefusedRequest(403, "The next person needs a link of their own.")
    await service.store.people.close_session(guest.token)
    return await _let_in(service, next_token(guest.token), "annotator")


@router.get("/consent")
async def consent_page(request: Request) -> Response:
    """Show what people agree to."""
    return page(request, "consent", guest_of(request), consent=desk_of(request).consent)


@router.post("/consent")
async def consent(request: Request) -> Response:
    """Store that somebody agreed."""
    service, guest = desk_of(request), guest_of(request)
    data = await sent_form(request, guest.token)
    if first(data, "agree") != "yes":
        return page(request, "consent", guest, 422, consent=service.consent)
    await service.store.people.consent(guest.token, service.consent.fingerprint)
    return RedirectResponse("/", 303)


@router.get("/name")
async def name_page(request: Request) -> Response:
    """Ask what to call somebody."""
    guest = guest_of(request)
    if guest.visit.annotator is not None:
        return RedirectResponse("/", 303)
    return page(request, "name", guest, problem="", name="", ask_code=False)


@router.post("/name")
async def name(request: Request) -> Response:
    """Make somebody known, or let them go on with the code they were given."""
    service, guest = desk_of(request), guest_of(request)
    data = await sent_form(request, guest.token)
    if guest.visit.annotator is not None:
        return RedirectResponse("/", 303)
    if guest.visit.consent != service.consent.fingerprint:
        return RedirectResponse("/consent", 303)
    # On one line, so that nobody writes a line of their own into the list of people.
    wanted = " ".join(first(data, "name", LONGEST_NAME).split())
    code = first(data, "code", 40)
    if not wanted:
        return page(
            request, "name", guest, 422, problem="Give a name.", name="", ask_code=bool(code)
        )
    if code:
        return await _come_back(request, wanted, code)
    return await _begin(request, wanted)


async def _begin(request: Request, name: str) -> Response:
    fresh = await _introduced(request, name)
    guest = guest_of(request)
    if fresh is not None:
        return page(request, "code", guest, return_code=fresh)
    if guest.visit.annotator is not None:  # of two forms at once, the other one was quicker
        return RedirectResponse("/", 303)
    problem = "This name is taken. If it is yours, give your return code; or choose another."
    return page(request, "name", guest, 409, problem=problem, name=name, ask_code=True)


async def _introduced(request: Request, name: str) -> str | None:
    """Make the guest known under a name, and return their return code; None: that cannot be.

    A form that is sent once more meanwhile, by a double click, is answered with the same code: the
    browser shows the last answer alone.
    """
    service, guest = desk_of(request), guest_of(request)

    async def introduce() -> str | None:
        code = return_code()
        secret = await service.passwords.hash_of(code, origin=_session_of(guest))
        person = await service.store.people.introduce(guest.token, name, secret)
        return None if person is None else code

    key = (digest(guest.token), name_key(name))
    under_way = service.introductions.get(key)
    if under_way is None:
        under_way = service.introductions[key] = asyncio.create_task(introduce())
        under_way.add_done_callback(lambda _: service.introductions.pop(key))
    try:
        return await asyncio.shield(under_way)
    except AttemptRefused as error:
        raise RefusedRequest(429, _REFUSALS[error.why]) from error


async def _come_back(request: Request, name: str, code: str) -> Response:
    service, guest = desk_of(request), guest_of(request)
    secret = service.store.people.secret_of(name)
    stored = secret[3] if secret else _WRONG
    # Whoever gets here came by a link of their own, or after somebody who did, so that the session
    # tells people apart even where all of them come through one tunnel, from one address.
    account, origin = f"code {name_key(name)}", _session_of(guest)
    fits = await _fits(request, code.lower(), stored, account, origin)
    # A link for annotators opens no expert's seat, nor the other way round.
    if not fits or secret is None or secret[1] != guest.visit.role:
        problem = "Name and return code do not go together."
        return page(request, "name", guest, 403, problem=problem, name=name, ask_code=True)
    await service.store.people.come_back(guest.token, secret[0])
    return RedirectResponse("/", 303)


async def _fits(request: Request, secret: str, stored: str, account: str, origin: str) -> bool:
    """Compare a guess with a hash, as far as this account may still be guessed at from there."""
    try:
        return await desk_of(request).passwords.fits(secret, stored, account=account, origin=origin)
    except AttemptRefused as error:
        raise RefusedRequest(429, _REFUSALS[error.why]) from error


def _session_of(guest: VisitorSession) -> str:
    """Return where guesses come from: one and the same for all whom one link has let in."""
    return f"session {first_session(guest.token)}"


@router.get("/language")
async def language_page(request: Request) -> Response:
    """Ask in which language dialogues are shown."""
    guest = guest_of(request)
    service = desk_of(request)
    spoken = page_language(request, guest.visit.language)
    chosen = guest.visit.language or (ORIGINAL if spoken is None else spoken.code)
    return page(request, "language", guest, languages=service.offered, chosen=chosen)


@router.post("/language")
async def language(request: Request) -> Response:
    """Store the language."""
    service, guest = desk_of(request), guest_of(request)
    data = await sent_form(request, guest.token)
    chosen = first(data, "language")
    if chosen not in service.offered:
        raise RefusedRequest(422, "This language is not on offer.")
    await service.store.people.update_session(guest.token, language=chosen)
    return RedirectResponse("/", 303)
