"""The review page as a web application: its routes, and what happens when it starts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request
from starlette.responses import Response

from quality.review import entry, expert_pages, items
from quality.review.service import ReviewService
from quality.review.web import environment, refusal_page
from quality.web.application import refused, web_application
from quality.web.requests import RefusedRequest
from scenarios.errors import RunError, UsageError
from scenarios.log import logger

STATIC = Path(__file__).parent / "static"
_log = logger("review")


def build_app(service: ReviewService) -> FastAPI:
    """Return the application that serves one study of one run."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await service.settle_all()
        yield

    app = web_application(
        (entry.router, items.router, expert_pages.router),
        static=STATIC,
        access=service.access,
        refusal_page=refusal_page,
        lifespan=lifespan,
    )
    app.state.service = service
    app.state.templates = environment()
    app.add_exception_handler(RunError, _failed)
    app.add_exception_handler(UsageError, _unusable)
    return app


# Where the run lies and what stands in it is for the terminal, not for visitors.
async def _failed(request: Request, error: Exception) -> Response:
    _log.warning("%s: nothing was saved: %s", request.url.path, error)
    told = "Nothing was saved. Try again, and if it stays so tell the person who invited you."
    return refused(request, RefusedRequest(503, told), refusal_page)


async def _unusable(request: Request, error: Exception) -> Response:
    _log.warning("%s: %s", request.url.path, error)
    told = (
        "This page cannot be shown, since the run cannot be read. Tell the person who invited you."
    )
    return refused(request, RefusedRequest(503, told), refusal_page)
