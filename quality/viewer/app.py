"""The viewer as a web application: its runs, who may look, its routes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI, Request
from starlette.responses import Response

from quality.viewer import dialogue_pages, run_pages
from quality.viewer.rendering import environment, refusal_page
from quality.viewer.viewed_run import ViewedRun
from quality.web.access import Access
from quality.web.application import refused, web_application
from quality.web.requests import RefusedRequest
from quality.web.single_owner import SingleOwner
from scenarios.errors import UsageError

STATIC = Path(__file__).parent / "static"


@dataclass(frozen=True, slots=True)
class Viewing:
    """What is looked at, and by whom."""

    runs: Sequence[ViewedRun]
    """Numbered from 1 in addresses."""
    owner: SingleOwner
    access: Access


def build_app(viewing: Viewing) -> FastAPI:
    """Return the application that shows runs to whoever started it; it changes nothing."""
    app = web_application(
        (viewing.owner.router(), run_pages.router, dialogue_pages.router),
        static=STATIC,
        access=viewing.access,
        refusal_page=refusal_page,
    )
    app.state.viewing = viewing
    app.state.templates = environment()
    app.add_exception_handler(UsageError, _unusable)
    return app


async def _unusable(request: Request, error: Exception) -> Response:
    return refused(request, RefusedRequest(503, f"The run cannot be read: {error}"), refusal_page)
