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
from scenarios.errors import RunError

STATIC = Path(__file__).parent / "static"


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
    return app


async def _failed(request: Request, error: Exception) -> Response:
    unsaved = RefusedRequest(503, f"Nothing was saved: {error}. Try again.")
    return refused(request, unsaved, refusal_page)
