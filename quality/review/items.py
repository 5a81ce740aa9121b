"""Routes for annotating: next item, form, draft, submit, end."""

from __future__ import annotations

import asyncio
import time

import orjson
from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from pipeline.store.reviews import ReviewStore
from quality.review.dashboard import minutes_left
from quality.review.exhibits import Exhibits, ReviewDialogue
from quality.review.forms import Filled, form_values, read_form
from quality.review.gold import Score, gold_labels, scores
from quality.review.opinions import (
    opinion_values,
    read_opinion,
    read_text,
    reasons,
)
from quality.review.service import ReviewService
from quality.review.web import RowNumber, VisitorSession, annotator, desk_of, page
from quality.web.counts import read_count
from quality.web.requests import RefusedRequest, first, saved, sent_form, wants_json
from scenarios.reviews import AnswerRefused, Assignment, FormDraft, Opinion

router = APIRouter()
_STATUS = {"unknown": 404, "taken": 409, "locked": 409, "closed": 409}
_OWN_PACE = 3
"""Items of one's own from which on the time that is left is told by them."""
_NO_DRAFT = ("csrf", "lead_ms", "edits", "stage")


@router.get("/next")
async def next_item(request: Request) -> Response:
    """Give the annotator an item."""
    service, guest = desk_of(request), annotator(request)
    await service.refresh()
    if service.store.has_finished(service.study, guest.person.seq):
        return RedirectResponse("/finish", 303)
    number = await service.giving.take(guest.person, guest.visit)
    return RedirectResponse("/finish" if number is None else f"/item/{number}", 303)


@router.get("/undo")
async def undo(request: Request) -> Response:
    """Go back to the item that was sent last."""
    service, guest = desk_of(request), annotator(request)
    latest = service.giving.latest_done(guest.person)
    return RedirectResponse("/next" if latest is None else f"/item/{latest}", 303)


@router.get("/item/{number}")
async def item(request: Request, number: RowNumber) -> Response:
    """Show an item with its form, filled in as far as it was."""
    service, guest = desk_of(request), annotator(request)
    assignment = _mine(service, guest, number)
    if service.giving.is_lost(assignment):
        raise RefusedRequest(
            409, "You were away for so long that this item was given to somebody else."
        )
    return _item_page(request, guest, assignment)


@router.post("/item/{number}/draft")
async def draft(request: Request, number: RowNumber) -> Response:
    """Keep a form that is not finished."""
    service, guest = desk_of(request), annotator(request)
    data = await sent_form(request, guest.token)
    assignment = _mine(service, guest, number)
    stage = "opinion" if _opines(service, assignment) else "labels"
    if first(data, "stage") != stage:
        raise RefusedRequest(409, "This part of the item has been sent already.")
    kept = {name: values for name, values in data.items() if name not in _NO_DRAFT}
    content = FormDraft(orjson.dumps(kept).decode(), _sent_count(data, "edits"), _lead_s(data))
    try:
        newest = await service.giving.save_draft(assignment, guest.person, content)
    except AnswerRefused as error:
        raise RefusedRequest(_STATUS[error.code], str(error)) from error
    if not newest:
        raise RefusedRequest(
            409,
            "More of this item has been filled in in another window. Reload to go on with that.",
        )
    return JSONResponse({"saved": True})


@router.post("/item/{number}")
async def send(request: Request, number: RowNumber) -> Response:
    """Store what was filled in, or say what is missing."""
    service, guest = desk_of(request), annotator(request)
    data = await sent_form(request, guest.token)
    assignment = _mine(service, guest, number)
    try:
        if first(data, "stage") == "opinion":
            return await _send_opinion(request, guest, assignment, data)
        return await _send_labels(request, guest, assignment, data)
    except AnswerRefused as error:
        raise RefusedRequest(_STATUS[error.code], str(error)) from error


@router.post("/item/{number}/give-back")
async def give_back(request: Request, number: RowNumber) -> Response:
    """Let somebody else have an item."""
    service, guest = desk_of(request), annotator(request)
    await sent_form(request, guest.token)
    try:
        await service.giving.give_back(_mine(service, guest, number), guest.person)
    except AnswerRefused as error:
        raise RefusedRequest(_STATUS[error.code], str(error)) from error
    return RedirectResponse("/next", 303)


async def _send_labels(
    request: Request, guest: VisitorSession, assignment: Assignment, data: dict[str, list[str]]
) -> Response:
    service = desk_of(request)
    filled = read_form(service.giving.exhibit(assignment, guest.person).sections, data)
    if filled.problems:
        return _incomplete(request, guest, assignment, data, filled)
    if not service.study.asks_opinion:
        opinion = Opinion(note=read_text(data, "note"), lead_s=_time_spent(assignment, data))
        if not await service.giving.submit_line(assignment, guest.person, filled.labels, opinion):
            await service.submit(assignment, filled.labels, opinion)
        return saved(request, "/next")
    await service.store.lock_labels(
        service.study, assignment.seq, assignment.annotator, filled.labels, lease_s=service.lease_s
    )
    return saved(request, f"/item/{service.giving.shown(assignment.seq)}")


async def _send_opinion(
    request: Request, guest: VisitorSession, assignment: Assignment, data: dict[str, list[str]]
) -> Response:
    service = desk_of(request)
    if not _opines(service, assignment):
        raise RefusedRequest(
            409, "Choose your labels first; the declared ones are shown after that."
        )
    exhibit = service.exhibits.of(assignment.item)
    flags = service.exhibits.flags(assignment.item)
    offered = reasons(service.scheme, flags, keeps_back=bool(exhibit.facts))
    opinion, problems = read_opinion(data, offered, _time_spent(assignment, data))
    if problems:
        return _incomplete(request, guest, assignment, data, Filled((), problems))
    await service.submit(assignment, None, opinion)
    return saved(request, "/next")


def _incomplete(
    request: Request,
    guest: VisitorSession,
    assignment: Assignment,
    data: dict[str, list[str]],
    filled: Filled,
) -> Response:
    if wants_json(request):
        body = {
            "saved": False,
            "message": "Some questions are not answered yet.",
            "fields": dict(filled.problems),
        }
        return JSONResponse(body, 422)
    return _item_page(request, guest, assignment, sent=data, problems=dict(filled.problems))


def _minutes(service: ReviewService, guest: VisitorSession, left: int) -> int | None:
    """Return how long what is left takes somebody: at their own pace, else at that of the others."""
    sheets, study = service.store.sheets, service.study
    own = sheets.lead_times(study, annotator=guest.person.seq)
    return minutes_left(own if len(own) >= _OWN_PACE else sheets.lead_times(study), left)


def _item_page(
    request: Request,
    guest: VisitorSession,
    assignment: Assignment,
    *,
    sent: dict[str, list[str]] | None = None,
    problems: dict[str, str] | None = None,
) -> Response:
    """Render an item at its stage; the declared labels reach the template in the second only."""
    service = desk_of(request)
    exhibit = service.giving.exhibit(assignment, guest.person)
    opining = _opines(service, assignment)
    draft = service.store.draft_of(assignment.seq)
    values = _kept_values(service, guest, assignment, exhibit)
    if draft is not None:
        values |= orjson.loads(draft.content)
    done, total = service.giving.progress(guest.person, guest.visit)
    visible_flags = service.exhibits.flags(assignment.item) if opining else ()
    return page(
        request,
        "opinion" if opining else "item",
        guest,
        422 if problems else 200,
        assignment=assignment,
        number=service.giving.shown(assignment.seq),
        exhibit=exhibit,
        values=sent or values,
        problems=problems or {},
        edits=draft.edits if draft else 0,
        lead_ms=int((draft.lead_s if draft else 0.0) * 1000),
        done=done,
        total=total,
        minutes=_minutes(service, guest, total - done),
        position=done if assignment.state == "done" else done + 1,
        back=service.giving.latest_done(guest.person, before=assignment),
        flags=visible_flags,
        reasons=reasons(service.scheme, visible_flags, keeps_back=bool(exhibit.facts))
        if opining
        else (),
        given={
            (g.turn, g.dimension): g.value
            for g in service.giving.labels_of(assignment, guest.person)
        },
        shows_fact=service.study.shows_fact,
    )


def _kept_values(
    service: ReviewService, guest: VisitorSession, assignment: Assignment, exhibit: ReviewDialogue
) -> dict[str, list[str]]:
    """Return what was sent before, as form values."""
    if assignment.state == "open":
        return {}
    opinion = service.giving.opinion_of(assignment, guest.person)
    if service.study.asks_opinion:
        return opinion_values(opinion)
    labels = service.giving.labels_of(assignment, guest.person)
    values = form_values(exhibit.sections, labels)
    return values | opinion_values(opinion)


@router.get("/filter")
async def filter_page(request: Request) -> Response:
    """Ask which items somebody wants to see."""
    service, guest = desk_of(request), annotator(request)
    categories, codes = _offered_filters(service)
    return page(request, "filter", guest, categories=categories, reasons=codes)


@router.post("/filter")
async def set_filter(request: Request) -> Response:
    """Store which items somebody wants to see."""
    service, guest = desk_of(request), annotator(request)
    data = await sent_form(request, guest.token)
    categories, codes = _offered_filters(service)
    category, reason = first(data, "category"), first(data, "reason")
    if category not in ("", *categories) or reason not in ("", *codes):
        raise RefusedRequest(422, "There are no such items to choose.")
    await service.store.people.update_session(guest.token, category=category, reason=reason)
    return RedirectResponse("/next", 303)


def _offered_filters(service: ReviewService) -> tuple[list[str], list[str]]:
    """Return the categories and the codes of flags that items may be chosen by.

    Where nobody is asked for an opinion no flag is told: it may be about the declared labels.
    """
    categories, codes = service.store.sheets.offered_filters(service.study)
    return categories, codes if service.study.asks_opinion else []


@router.get("/finish")
async def finish_page(request: Request) -> Response:
    """Say that nothing is left, and, once closed, how far the answers agree with the gold."""
    service, guest = desk_of(request), annotator(request)
    person = guest.person
    finished = service.store.has_finished(service.study, person.seq)
    done, total = service.giving.progress(person, guest.visit)
    return page(
        request,
        "finish",
        guest,
        finished=finished,
        done=done,
        left=total - done,
        filtered=bool(guest.visit.category or guest.visit.reason),
        scores=await asyncio.to_thread(_scores, service, person.seq) if finished else [],
    )


@router.post("/finish")
async def finish(request: Request) -> Response:
    """Close somebody's answers."""
    service, guest = desk_of(request), annotator(request)
    await sent_form(request, guest.token)
    await service.store.finish(service.study, guest.person.seq)
    return RedirectResponse("/finish", 303)


def _scores(service: ReviewService, annotator: int) -> list[Score]:
    """Return how far the answers of an annotator agree with the gold.

    They are read beside the thread that answers everybody else: many take seconds.
    """
    study = service.study
    with ReviewStore.open(service.store.folder) as store:
        final = store.sheets.adjudications(study)
        mine = list(store.sheets.sheets(study, annotator=annotator))
        exhibits = Exhibits(store, service.scheme, study, service.scenario_of)
        gold = {
            sheet.item.seq: gold_labels(exhibits.of(sheet.item), final.get(sheet.item.seq), study)
            for sheet in mine
        }
    return scores(service.scheme, mine, gold)


def _mine(service: ReviewService, guest: VisitorSession, number: int) -> Assignment:
    """Return one of the guest's own items; what is not theirs does not exist."""
    assignment = service.giving.find(number, guest.person)
    if assignment is None or assignment.state == "given_back":
        raise RefusedRequest(404, "There is no such item among yours.")
    return assignment


def _opines(service: ReviewService, assignment: Assignment) -> bool:
    """Whether the labels are locked and the declared ones may be seen."""
    return service.study.asks_opinion and assignment.state != "open"


def _lead_s(data: dict[str, list[str]]) -> float:
    return _sent_count(data, "lead_ms") / 1000


def _sent_count(data: dict[str, list[str]], name: str) -> int:
    """Return a number the page's script keeps; 0 where it did not."""
    number = read_count(first(data, name) or "0")
    if number is None:
        raise RefusedRequest(422, "This form cannot be read. Reload the page.")
    return number


def _time_spent(assignment: Assignment, data: dict[str, list[str]]) -> float:
    """Return how long the item was looked at; the page cannot claim more than has passed."""
    passed = max(0.0, time.time() - assignment.opened_at)
    lead = _lead_s(data)
    return min(lead, passed) if lead else passed
