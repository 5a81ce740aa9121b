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
from quality.review.opinions import read_text
from quality.review.scenario_reports import scenario_reports
from quality.review.service import ReviewService
from quality.review.web import RefusedRequest, desk_of, expert, first, page, sent_form, went_well
from scenarios.reviews import Adjudication, GivenLabel, Sheet
from scenarios.verdicts import Decision

router = APIRouter()
LISTED = 200


@router.get("/adjudicate")
async def listing(request: Request) -> Response:
    """List the items that have answers: what is not settled and most disputed goes first."""
    desk, guest = desk_of(request), expert(request)
    sheets: defaultdict[int, list[Sheet]] = defaultdict(list)
    for sheet in desk.store.sheets.sheets(desk.study):
        sheets[sheet.item.seq].append(sheet)
    final = desk.store.sheets.adjudications(desk.study)
    lines = [
        waiting_line(found, sheets[found.seq], desk.exhibits.of(found), final.get(found.seq))
        for found, answers in desk.store.sheets.items(desk.study)
        if answers
    ]
    lines.sort(key=lambda w: (bool(w.verdict), w.answers < desk.study.per_item, -w.differing))
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
async def adjudicate_page(request: Request, number: int) -> Response:
    """Show the answers to an item side by side."""
    expert(request)
    return _adjudication_page(request, number, {}, None)


@router.post("/adjudicate/{number}")
async def adjudicate(request: Request, number: int) -> Response:
    """Store the last word on an item."""
    desk, guest = desk_of(request), expert(request)
    data = await sent_form(request, guest)
    item = desk.store.sheets.item(desk.study, number)
    if item is None:
        raise RefusedRequest(404, "There is no such item.")
    filled = read_form(desk.exhibits.of(item).sections, data)
    problems = dict(filled.problems)
    chosen = first(data, "verdict")
    verdict = next((v for v in ("accepted", "discarded") if v == chosen), None)
    if verdict is None and desk.study.mode == "review":
        problems["verdict"] = "not answered"
    note = read_text(data, "note")
    if problems:
        return _adjudication_page(request, number, problems, data)
    adjudication = Adjudication(
        item.seq,
        guest.person.code,
        "discarded" if verdict == "discarded" else "accepted" if verdict else None,
        filled.labels,
        note,
        time.time(),
    )
    await desk.store.sheets.adjudicate(adjudication, guest.person.seq)
    if adjudication.verdict is not None:
        decision = Decision(
            item.case, item.arm, adjudication.verdict, "expert", "final expert pass"
        )
        await desk.store.judgements.decide([decision])
    return went_well(request, _next_waiting(desk, number))


def _adjudication_page(
    request: Request, number: int, problems: dict[str, str], sent: dict[str, list[str]] | None
) -> Response:
    desk, guest = desk_of(request), expert(request)
    item = desk.store.sheets.item(desk.study, number)
    if item is None:
        raise RefusedRequest(404, "There is no such item.")
    exhibit = desk.exhibits.of(item)
    settled = desk.store.sheets.adjudications(desk.study, item=number).get(number)
    sheets = in_blind_order(desk.study, list(desk.store.sheets.sheets(desk.study, item=number)))
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
        422 if problems else 200,
        item=item,
        exhibit=exhibit,
        side=side,
        rows={row.field.name: row for row in side.rows},
        values=sent or values,
        problems=problems,
        flags=desk.exhibits.flags(item),
        settled=settled,
    )


def _next_waiting(desk: ReviewService, after: int) -> str:
    """Return the next item with all its answers that nobody has settled, or the list."""
    final = desk.store.sheets.adjudications(desk.study)
    waiting = [
        found.seq
        for found, answers in desk.store.sheets.items(desk.study)
        if answers >= desk.study.per_item and found.seq not in final
    ]
    later = [seq for seq in waiting if seq > after] or waiting
    return f"/adjudicate/{later[0]}" if later else "/adjudicate"


@router.get("/dashboard")
async def dashboard(request: Request) -> Response:
    """Show how far everybody is, how well they agree, and what to look at."""
    desk, guest = desk_of(request), expert(request)
    sheets = list(desk.store.sheets.sheets(desk.study))
    standings = desk.store.sheets.standings(desk.study)
    items = desk.store.sheets.items(desk.study)
    result = await asyncio.to_thread(
        overview, desk.scheme, desk.study, sheets, items, standings=standings, now=time.time()
    )
    return page(
        request,
        "dashboard",
        guest,
        overview=result,
        reports=scenario_reports(desk.store, sheets),
    )
