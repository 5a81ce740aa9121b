"""Routes about many dialogues: the list, tables, progress."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from quality.viewer.columns import VERDICTS
from quality.viewer.label_table import label_table
from quality.viewer.listing import choice_groups, list_page
from quality.viewer.rendering import filter_of, page, run_of, runs_of
from quality.viewer.run_progress import run_progress
from quality.viewer.scenario_table import GroupedBy, group_table
from quality.viewer.viewed_run import looks_like_an_id
from quality.web.counts import read_count
from quality.web.requests import RefusedRequest
from scenarios.errors import UsageError

router = APIRouter()


@router.get("/")
async def home(request: Request) -> Response:
    """Show the runs; go on where there is one."""
    runs = runs_of(request)
    if len(runs) == 1:
        return RedirectResponse("/1/dialogues", 303)
    return page(request, "runs", states=[(run, run.state()) for run in runs])


@router.get("/{number}/dialogues")
async def dialogues(request: Request, number: int) -> Response:
    """List the dialogues that pass a filter."""
    run, chosen = run_of(request, number), filter_of(request)
    if looks_like_an_id(chosen.text):
        try:
            ending = run.store.reader.ending(chosen.text.lower())
        except UsageError:
            pass  # of several dialogues, which are listed, or of none: then it is a word
        else:
            return RedirectResponse(f"/{number}/dialogue/{ending.id}", 303)
    place = read_count(request.query_params.get("page", "1")) or 1
    listing = list_page(run, chosen, place)
    return page(request, "dialogues", number, listing=listing, chosen=chosen)


@router.get("/{number}/scenarios")
async def scenarios(request: Request, number: int) -> Response:
    """Count dialogues by scenario, or by fact, the worst first."""
    run, chosen = run_of(request, number), filter_of(request)
    by: GroupedBy = "fact" if request.query_params.get("by") == "fact" else "scenario"
    columns, found = run.columns, run.found(chosen.text)
    rows = group_table(columns, columns.mask(chosen, found), by)
    groups = choice_groups(run, chosen, found)
    # A verdict that nothing has needs no column.
    verdicts = [
        (place, name) for place, name in enumerate(VERDICTS) if any(r.verdicts[place] for r in rows)
    ]
    return page(
        request, "scenarios", number,
        rows=rows, by=by, chosen=chosen, groups=groups, shown_verdicts=verdicts,
    )  # fmt: skip


@router.get("/{number}/labels")
async def labels(request: Request, number: int) -> Response:
    """Count utterances by two labels."""
    run, chosen = run_of(request, number), filter_of(request)
    columns, found = run.columns, run.found(chosen.text)
    dimensions = tuple(columns.labels)
    if not dimensions:
        return page(request, "labels", number, table=None)
    down = request.query_params.get("down", dimensions[0])
    across = request.query_params.get("across", dimensions[min(1, len(dimensions) - 1)])
    if down not in columns.labels or across not in columns.labels:
        raise RefusedRequest(404, "There is no such dimension in this run.")
    mask, utterances = columns.mask(chosen, found), columns.utterances_with(chosen)
    table = label_table(columns, mask, utterances, down, across, order=run.label_order)
    groups = choice_groups(run, chosen, found)
    return page(
        request, "labels", number,
        table=table, groups=groups, chosen=chosen, dimensions=dimensions,
    )  # fmt: skip


@router.get("/{number}/progress")
async def progress(request: Request, number: int) -> Response:
    """Show how the run gets on."""
    run = run_of(request, number)
    only = "progress_now" if request.query_params.get("part") == "now" else "progress"
    return page(request, only, number, progress=run_progress(run))
