"""Routes about one case: a dialogue, its prompts, two dialogues side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from fastapi import APIRouter, Request
from starlette.responses import Response

from quality.viewer.comparison import side_by_side, sides
from quality.viewer.listing import PAGE, neighbours
from quality.viewer.rendering import filter_of, page, run_of, runs_of
from quality.viewer.shown_dialogue import shown_dialogue, shown_prompts
from quality.viewer.viewed_run import ViewedRun
from quality.web.requests import RefusedRequest
from scenarios.errors import UsageError

router = APIRouter()


@router.get("/{number}/dialogue/{case}/{arm}")
async def dialogue(request: Request, number: int, case: str, arm: str) -> Response:
    """Show a dialogue, or why its case failed."""
    run, chosen = run_of(request, number), filter_of(request)
    seq = run.reader.number_of(case, arm)
    if seq is None:
        raise RefusedRequest(404, "There is no such dialogue in this run.")
    columns = run.columns
    rows = columns.listed(columns.mask(chosen, run.found(chosen.text)))
    own = columns.rows_at(np.array([seq], np.int64))
    before, after, place = neighbours(rows, int(own[0]) if len(own) else -1)
    context: dict[str, Any] = {
        "chosen": chosen,
        "before": _id_at(run, before),
        "after": _id_at(run, after),
        "place": place,
        "found": len(rows),
        "back": place // PAGE + 1 if place >= 0 else 1,
    }
    ending = run.store.reader.ending(f"{case}/{arm}")
    if ending.status == "failed":
        return page(request, "failure", number, ending=ending, arm=run.arms[arm], **context)
    shown = shown_dialogue(run, run.store.dialogue(f"{case}/{arm}"))
    others = len(sides(runs_of(request), number, case)) - 1
    return page(request, "dialogue", number, shown=shown, others=others, **context)


@router.get("/{number}/prompts/{case}/{arm}")
async def prompts(request: Request, number: int, case: str, arm: str) -> Response:
    """Show every prompt that was sent for a case."""
    run = run_of(request, number)
    if run.reader.number_of(case, arm) is None:
        raise RefusedRequest(404, "There is no such dialogue in this run.")
    records = shown_prompts(run, case, arm)
    return page(request, "prompts", number, prompts=records, id=f"{case}/{arm}")


@router.get("/{number}/compare/{case}")
async def compare(
    request: Request, number: int, case: str, left: str = "", right: str = ""
) -> Response:
    """Show two dialogues of a case side by side."""
    run_of(request, number)
    runs = runs_of(request)
    found = {side.key: side for side in sides(runs, number, case)}
    if not found:
        raise RefusedRequest(404, "There is no dialogue of this case in this run.")
    keys = list(found)
    first = left if left in found else keys[0]
    rest = [key for key in keys if key != first]
    second = right if right in found else (rest or keys)[0]
    try:
        pair = side_by_side(runs, found[first], found[second])
    except UsageError as error:
        raise RefusedRequest(404, str(error)) from error
    return page(
        request, "compare", number,
        pair=pair, sides=list(found.values()), left=found[first], right=found[second], case=case,
    )  # fmt: skip


def _id_at(run: ViewedRun, row: int | None) -> str:
    if row is None:
        return ""
    (listed,) = run.reader.listed([int(run.columns.seq[row])])
    return f"{listed.case}/{listed.arm}"
