"""Routes for the expert: items to settle, adjudication, dashboard."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict

from fastapi import APIRouter, Request
from starlette.responses import Response

from quality.review.adjudication import in_blind_order, side_by_side, waiting_line
from quality.review.dashboard import overview
from quality.review.forms import form_values, read_form
from quality.review.opinions import read_text, reasons
from quality.review.scenario_reports import scenario_reports
from quality.review.service import ReviewService
from quality.review.web import RowNumber, desk_of, expert, page
from quality.web.requests import RefusedRequest, first, saved, sent_form
from scenarios.reviews import Adjudication, GivenLabel, Item, Sheet
from scenarios.verdicts import Decision

router = APIRouter()
LISTED = 200


@router.get("/adjudicate")
async def listing(request: Request) -> Response:
    """List the items that have answers: what is not settled and most disputed goes first."""
    service, guest = desk_of(request), expert(request)
    sheets: defaultdict[int, list[Sheet]] = defaultdict(list)
    for sheet in service.store.sheets.sheets(service.study):
        sheets[sheet.item.seq].append(sheet)
    final = service.store.sheets.adjudications(service.study)
    lines = [
        waiting_line(found, sheets[found.seq], service.exhibits.of(found), final.get(found.seq))
        for found, answers in service.store.sheets.items(service.study)
        if answers
    ]
    lines.sort(key=lambda w: (bool(w.verdict), w.answers < service.study.per_item, -w.differing))
    return page(
        request,
        "adjudicate_list",
        guest,
        lines=lines[:LISTED],
        more=max(0, len(lines) - LISTED),
        settled=sum(bool(line.verdict) for line in lines),
        total=len(lines),
    )


@router.get("/adjudicate/{number}")
async def adjudicate_page(request: Request, number: RowNumber) -> Response:
    """Show the answers to an item side by side."""
    expert(request)
    return _adjudication_page(request, number, {}, None)


@router.post("/adjudicate/{number}")
async def adjudicate(request: Request, number: RowNumber) -> Response:
    """Store the last word on an item."""
    service, guest = desk_of(request), expert(request)
    data = await sent_form(request, guest.token)
    item = service.store.sheets.item(service.study, number)
    if item is None:
        raise RefusedRequest(404, "There is no such item.")
    filled = read_form(service.exhibits.of(item).sections, data)
    problems = dict(filled.problems)
    chosen = first(data, "verdict")
    verdict = next((v for v in ("accepted", "discarded") if v == chosen), None)
    if verdict is None and service.study.asks_opinion:
        problems["verdict"] = "not answered"
    if problems:
        return _adjudication_page(request, number, problems, data)
    adjudication = Adjudication(
        item.seq,
        guest.person.code,
        "discarded" if verdict == "discarded" else "accepted" if verdict else None,
        filled.labels,
        read_text(data, "note"),
        time.time(),
    )
    if not await _is_last_word(
        service, item, adjudication, guest.person.seq, first(data, "settled")
    ):
        return _adjudication_page(request, number, problems, data, overtaken=True)
    return saved(request, _next_waiting(service, number))


async def _is_last_word(
    service: ReviewService, item: Item, sent: Adjudication, expert: int, seen: str
) -> bool:
    """Store what an expert sent, and decides by it, unless it is not about the last word they have seen.

    Sent once more, by a double click or after a lost reply, it is the last word already.
    """
    settled = _settled(service, sent.item)
    if seen == _told_apart(settled):
        replaces = None if settled is None else settled.at
        decision = None
        if sent.verdict is not None:
            decision = Decision(item.case, item.arm, sent.verdict, "expert", "final expert pass")
        if await service.store.sheets.adjudicate(
            sent, expert, replaces=replaces, decision=decision
        ):
            return True
        settled = _settled(service, sent.item)
    return settled is not None and _said(settled) == _said(sent)


def _said(word: Adjudication) -> tuple[object, ...]:
    return word.expert, word.verdict, frozenset(word.labels), word.note


def _adjudication_page(
    request: Request,
    number: int,
    problems: dict[str, str],
    sent: dict[str, list[str]] | None,
    *,
    overtaken: bool = False,
) -> Response:
    service, guest = desk_of(request), expert(request)
    item = service.store.sheets.item(service.study, number)
    if item is None:
        raise RefusedRequest(404, "There is no such item.")
    exhibit, flags = service.exhibits.of(item), service.exhibits.flags(item)
    settled = _settled(service, number)
    sheets = in_blind_order(
        service.study, list(service.store.sheets.sheets(service.study, item=number))
    )
    side = side_by_side(exhibit.sections, sheets, exhibit, settled)
    proposed = [
        GivenLabel(row.field.turn, row.field.dimension.id, row.proposed)
        for row in side.rows
        if row.proposed is not None
    ]
    values = form_values(exhibit.sections, proposed)
    if settled is not None:
        values |= {"verdict": [settled.verdict or ""], "note": [settled.note]}
    return page(
        request,
        "adjudicate",
        guest,
        422 if problems else 409 if overtaken else 200,
        item=item,
        overtaken=overtaken,
        last_word=_told_apart(settled),
        exhibit=exhibit,
        side=side,
        rows={row.field.name: row for row in side.rows},
        values=sent or values,
        problems=problems,
        flags=flags,
        reasons={choice.value: choice.title for choice in reasons(service.scheme, flags)},
        skip=_next_waiting(service, number),
        settled=settled,
    )


def _settled(service: ReviewService, number: int) -> Adjudication | None:
    return service.store.sheets.adjudications(service.study, item=number).get(number)


def _told_apart(settled: Adjudication | None) -> str:
    """Return what tells the last word on an item from another one; empty where there is none."""
    return "" if settled is None else repr(settled.at)


def _next_waiting(service: ReviewService, after: int) -> str:
    """Return the next item with all its answers that nobody has settled, or the list."""
    final = service.store.sheets.adjudications(service.study)
    waiting = [
        found.seq
        for found, answers in service.store.sheets.items(service.study)
        if answers >= service.study.per_item and found.seq not in final
    ]
    later = [seq for seq in waiting if seq > after] or waiting
    return f"/adjudicate/{later[0]}" if later else "/adjudicate"


@router.get("/dashboard")
async def dashboard(request: Request) -> Response:
    """Show how far everybody is, how well they agree, and what to look at."""
    service, guest = desk_of(request), expert(request)
    sheets = list(service.store.sheets.sheets(service.study))
    standings = service.store.sheets.standings(service.study)
    items = service.store.sheets.items(service.study)
    result = await asyncio.to_thread(
        overview,
        service.scheme,
        service.study,
        sheets,
        items,
        standings=standings,
        attention=service.store.attention.given(service.study.id),
        now=time.time(),
    )
    return page(
        request,
        "dashboard",
        guest,
        overview=result,
        reports=scenario_reports(service.store, sheets),
    )
