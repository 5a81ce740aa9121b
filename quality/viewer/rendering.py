"""What every page of the viewer needs: the run of its address, the filter, the templates."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastapi import Request
from jinja2 import Environment
from starlette.responses import HTMLResponse

from pipeline.store.queries.status import RUNNING
from quality.viewer.dialogue_filter import DialogueFilter
from quality.viewer.viewed_run import ViewedRun
from quality.web.requests import RefusedRequest
from quality.web.templates import compile_all, page_templates
from scenarios.plural import in_dollars

PAGES = Path(__file__).parent / "pages"


def environment() -> Environment:
    """Return the templates of the viewer; every value is escaped."""
    templates = page_templates(PAGES)
    templates.filters |= {
        "number": lambda value: f"{value:,}",
        "percent": lambda share: "" if share is None else f"{100 * share:.1f} %",
        "money": _money,
        "duration": _duration,
        "moment": lambda at: time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at)),
        "words": lambda code: code.replace("_", " "),
        "verdict_class": lambda verdict: verdict.replace(" ", "-"),
    }
    compile_all(templates)
    return templates


def runs_of(request: Request) -> Sequence[ViewedRun]:
    """Return what is looked at, once it is certain that the request comes from who may look.

    Raises:
        RefusedRequest: it does not.
    """
    viewing = request.app.state.viewing
    viewing.owner.session_of(request)
    runs: Sequence[ViewedRun] = viewing.runs
    return runs


def run_of(request: Request, number: int) -> ViewedRun:
    """Return the run of an address.

    Raises:
        RefusedRequest: there is none of this number, or the request comes from somebody else.
    """
    runs = runs_of(request)
    if not 1 <= number <= len(runs):
        raise RefusedRequest(404, "There is no such run here.")
    return runs[number - 1]


def filter_of(request: Request) -> DialogueFilter:
    """Return which dialogues an address asks for."""
    return DialogueFilter.of(request.query_params.multi_items())


def page(
    request: Request, template: str, number: int | None = None, status: int = 200, **context: Any
) -> HTMLResponse:
    """Render a page.

    Args:
        request: that is answered.
        template: the name of the template.
        number: of the run the page is about; None: of none.
        status: of the answer.
        context: what else the template shows.
    """
    runs: Sequence[ViewedRun] = request.app.state.viewing.runs
    run = None if number is None else runs[number - 1]
    html = request.app.state.templates.get_template(f"{template}.html.j2").render(
        run=run,
        number=number,
        runs=[] if number is None else list(enumerate(runs, start=1)),
        is_live=run is not None and run.state().state == RUNNING,
        assets=request.app.state.assets,
        **context,
    )
    return HTMLResponse(html, status)


def refusal_page(request: Request, error: RefusedRequest) -> HTMLResponse:
    """Say why a request is refused; nothing of a run is shown."""
    return page(
        request, "refused", status=error.status, heading=error.heading, message=error.message
    )


def _money(usd: float | None) -> str:
    return "not known" if usd is None else in_dollars(usd)


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
