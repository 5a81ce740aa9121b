"""Routes for the expert: items to settle, adjudication, dashboard."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable

from fastapi import APIRouter, Request
from starlette.responses import Response

from pipeline.store.reviews import ReviewStore
from quality.review.adjudication import Waiting, in_blind_order, side_by_side, waiting_line
from quality.review.answer_table import item_name
from quality.review.dashboard import Overview, overview
from quality.review.forms import form_values, read_form
from quality.review.opinions import read_text, reasons
from quality.review.scenario_reports import ScenarioReport, scenario_reports
from quality.review.service import ReviewService
from quality.review.web import RowNumber, desk_of, expert, page
from quality.web.requests import RefusedRequest, first, saved, sent_form
from scenarios.reviews import Adjudication, GivenLabel, Item, Sheet
from scenarios.schemes.model import Scheme
from scenarios.terms import RoleKey
from scenarios.verdicts import Decision

router = APIRouter()
LISTED = 200


@router.get("/adjudicate")
async def listing(request: Request) -> Response:
    """List the items that have answers: what is not settled and most disputed goes first."""
    service, guest = desk_of(request), expert(request)
    lines = await asyncio.to_thread(_waiting, service)
    return page(
        request,
        "adjudicate_list",
        guest,
        lines=[(line, service.exhibits.title(line.item)) for line in lines[:LISTED]],
        more=max(0, len(lines) - LISTED),
        settled=sum(bool(line.verdict) for line in lines),
        total=len(lines),
    )


def _waiting(service: ReviewService) -> list[Waiting]:
    """Return the items that have answers, in the order of the list.

    They are read beside the thread that answers everybody else: many take seconds.
    """
    study = service.study
    with ReviewStore.open(service.store.folder) as store:
        sheets: defaultdict[int, list[Sheet]] = defaultdict(list)
        for sheet in store.sheets.sheets(study):
            sheets[sheet.item.seq].append(sheet)
        final = store.sheets.adjudications(study)
    lines = [waiting_line(of[0].item, of, final.get(seq)) for seq, of in sorted(sheets.items())]
    lines.sort(key=lambda w: (bool(w.verdict), w.answers < study.per_item, -w.differing))
    return lines


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
    sheets, study = service.store.sheets, service.study
    found = sheets.next_waiting(study, after) or sheets.next_waiting(study, 0)
    return f"/adjudicate/{found}" if found else "/adjudicate"


@router.get("/dashboard")
async def dashboard(request: Request) -> Response:
    """Show how far everybody is, how well they agree, and what to look at."""
    service, guest = desk_of(request), expert(request)
    result, reports = await asyncio.to_thread(_overview, service)
    return page(request, "dashboard", guest, overview=result, reports=reports)


def _overview(service: ReviewService) -> tuple[Overview, list[ScenarioReport]]:
    """Return the figures and what was reported about scenarios, read as :func:`_waiting` reads."""
    study = service.study
    with ReviewStore.open(service.store.folder) as store:
        sheets = list(store.sheets.sheets(study))
        figures = overview(
            service.scheme,
            study,
            sheets,
            store.sheets.items(study),
            tallies=store.sheets.annotator_tallies(study),
            attention=store.attention.given(study.id),
            roles=_roles(service.scheme, store, sheets),
            now=time.time(),
        )
        return figures, scenario_reports(store, sheets)


def _roles(scheme: Scheme, store: ReviewStore, sheets: Iterable[Sheet]) -> dict[str, RoleKey]:
    """Return who says the turns that answers are about, where a scheme asks some roles alone."""
    if not any(dimension.depends_on_role for dimension in scheme.dimensions):
        return {}
    items = {(sheet.item.case, sheet.item.arm): sheet.item for sheet in sheets}
    return {
        item_name(items[dialogue.case.id, dialogue.arm], turn.index): turn.role
        for dialogue in store.dialogues.of(items)
        for turn in dialogue.turns
    }
