"""A web application as all pages have it: static files, refusals, the guard before everything."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as RoutingError
from starlette.responses import JSONResponse, RedirectResponse, Response

from quality.web.access import Access
from quality.web.guard import LARGEST, Guard
from quality.web.requests import Redirect, RefusedRequest, wants_json
from scenarios.fingerprint import content_id

STATIC = Path(__file__).parent / "static"
RefusalPage = Callable[[Request, RefusedRequest], Response]
"""Renders why a request was refused, with its status."""


def web_application(
    routers: Sequence[APIRouter],
    *,
    static: Path,
    access: Access,
    refusal_page: RefusalPage,
    lifespan: Any = None,
    largest: int = LARGEST,
) -> FastAPI:
    """Return an application with the routes of a page, behind the guard.

    Args:
        routers: the routes of the page.
        static: a folder of files served under ``/static/``, beside those all pages share.
        access: how people get in.
        refusal_page: renders what is refused.
        lifespan: what FastAPI does at start and end.
        largest: bytes that a form may have.
    """
    app = FastAPI(
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,  # they would lead to whatever host the request names
    )
    files = _files(STATIC) | _files(static)
    # Browsers keep a file until its content, and with it this mark, changes.
    app.state.assets = content_id([name + repr(data) for name, data in files.items()])[:8]

    @app.get("/static/{name}")
    async def static_file(name: str) -> Response:
        if name not in files:
            raise RefusedRequest(404, "There is no such file.")
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        headers = {"cache-control": "public, max-age=31536000, immutable"}
        return Response(files[name], media_type=kind, headers=headers)

    for router in routers:
        app.include_router(router)
    _answer_errors(app, refusal_page)
    app.add_middleware(Guard, access=access, largest=largest)
    return app


def refused(request: Request, error: RefusedRequest, refusal_page: RefusalPage) -> Response:
    """Say why a request is refused, to the page's script or to people."""
    if wants_json(request):
        return JSONResponse({"saved": False, "message": error.message}, error.status)
    return refusal_page(request, error)


def _answer_errors(app: FastAPI, refusal_page: RefusalPage) -> None:
    async def elsewhere(request: Request, error: Exception) -> Response:
        path = error.path if isinstance(error, Redirect) else "/"
        if wants_json(request):
            body = {"saved": False, "message": "You are no longer logged in.", "next": path}
            return JSONResponse(body, 401)
        return RedirectResponse(path, 303)

    async def not_let(request: Request, error: Exception) -> Response:
        if not isinstance(error, RefusedRequest):
            error = RefusedRequest(500, "Something went wrong.")
        return refused(request, error, refusal_page)

    async def unknown(request: Request, error: Exception) -> Response:
        status = getattr(error, "status_code", 404)
        message = "There is no such page." if status in (404, 422) else "This cannot be done."
        missing = RefusedRequest(404 if status == 422 else status, message)
        return refused(request, missing, refusal_page)

    app.add_exception_handler(Redirect, elsewhere)
    app.add_exception_handler(RefusedRequest, not_let)
    for kind in (RoutingError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, unknown)


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
