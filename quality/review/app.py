"""The review page as a web application: routes and middleware."""

from __future__ import annotations

import mimetypes
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as RoutingError
from starlette.responses import Response

from quality.review import entry, expert_pages, items
from quality.review.guard import Guard
from quality.review.service import ReviewService
from quality.review.web import (
    Redirect,
    RefusedRequest,
    environment,
    error_handler,
    redirect_handler,
)
from scenarios.errors import RunError
from scenarios.fingerprint import content_id

STATIC = Path(__file__).parent / "static"


def build_app(service: ReviewService) -> FastAPI:
    """Return the application that serves one study of one run."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await service.settle_all()
        yield

    app = FastAPI(
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,  # they would lead to whatever host the request names
    )
    files = {path.name: path.read_bytes() for path in sorted(STATIC.iterdir()) if path.is_file()}
    app.state.service = service
    app.state.templates = environment()
    # Browsers keep a file until its content, and with it this mark, changes.
    app.state.assets = content_id([name + repr(data) for name, data in files.items()])[:8]

    @app.get("/static/{name}")
    async def static(name: str) -> Response:
        if name not in files:
            raise RefusedRequest(404, "There is no such file.")
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        headers = {"cache-control": "public, max-age=31536000, immutable"}
        return Response(files[name], media_type=kind, headers=headers)

    for router in (entry.router, items.router, expert_pages.router):
        app.include_router(router)
    app.add_exception_handler(Redirect, _elsewhere)
    app.add_exception_handler(RefusedRequest, _refused)
    app.add_exception_handler(RoutingError, _unknown)
    app.add_exception_handler(HTTPException, _unknown)
    app.add_exception_handler(RequestValidationError, _unknown)
    app.add_exception_handler(RunError, _failed)
    app.add_middleware(Guard, access=service.access)
    return app


async def _elsewhere(request: Request, error: Exception) -> Response:
    return redirect_handler(request, error)


async def _refused(request: Request, error: Exception) -> Response:
    return error_handler(request, error)


async def _unknown(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    message = "There is no such page." if status in (404, 422) else "This cannot be done."
    return error_handler(request, RefusedRequest(404 if status == 422 else status, message))


async def _failed(request: Request, error: Exception) -> Response:
    return error_handler(request, RefusedRequest(503, f"Nothing was saved: {error}. Try again."))
