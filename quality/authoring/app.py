"""The author's form as a web application: files of a folder, a form for each, checked as one types."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from quality.authoring.desk import AuthoringDesk, ChangedMeanwhile, as_utf8
from quality.web.access import Access
from quality.web.application import web_application
from quality.web.requests import RefusedRequest, first, sent_form
from quality.web.sessions import form_token
from quality.web.single_owner import SingleOwner
from quality.web.templates import compile_all, page_templates
from scenarios.errors import HipoError, InputError, UsageError

HERE = Path(__file__).parent
LARGEST = 2 * 1024 * 1024
"""Bytes of a form: a file of a megabyte is the largest that is read."""
router = APIRouter()


def authoring_app(desk: AuthoringDesk, owner: SingleOwner, access: Access) -> FastAPI:
    """Return the application that serves the forms of one folder to whoever started it."""
    app = web_application(
        (owner.router(), router),
        static=HERE / "static",
        access=access,
        refusal_page=_refusal_page,
        largest=LARGEST,
    )
    app.state.desk, app.state.owner = desk, owner
    app.state.templates = page_templates(HERE / "pages")
    compile_all(app.state.templates)
    return app


@router.get("/")
async def files(request: Request) -> Response:
    """Show the files of the folder."""
    session = _session(request)
    desk = _desk(request)
    return _page(
        request, "files", session, files=desk.files(), schemes=list(desk.schemes()), message=""
    )


@router.post("/new")
async def begin(request: Request) -> Response:
    """Write a new file from the template, and open it."""
    session = _session(request)
    desk = _desk(request)
    sent = await sent_form(request, session)
    kind = "scheme" if first(sent, "kind") == "scheme" else "scenario"
    try:
        name = desk.begin(
            kind, first(sent, "id"), first(sent, "scheme") or "hipo", flow=bool(first(sent, "flow"))
        )
    except UsageError as error:
        return _page(
            request, "files", session, status=422, files=desk.files(),
            schemes=list(desk.schemes()), message=_words(error),
        )  # fmt: skip
    return RedirectResponse(f"/edit/{name}", 303)


@router.get("/edit/{name:path}")
async def edit(request: Request, name: str) -> Response:
    """Show the form of a file."""
    session = _session(request)
    desk = _desk(request)
    try:
        opened = desk.open(name)
    except UsageError as error:
        raise RefusedRequest(404, _words(error)) from error
    scheme = desk.schemes().get(str(opened.data.get("scheme", "hipo")))
    known = {
        "goals": list(scheme.goals) if scheme else [],
        "categories": list(scheme.categories) if scheme else [],
        "tags": list(scheme.tags) if scheme else [],
        "model": desk.model,
        "price": desk.price,
    }
    return _page(request, "form", session, opened=opened, known=known)


@router.post("/check/{name:path}")
async def check(request: Request, name: str) -> Response:
    """Say what is wrong with a draft."""
    desk, sent = await _sent(request)
    problems, _ = await run_in_threadpool(_said, desk.check, name, _draft(sent))
    # As ASCII: a problem may name another file, whose name is in no encoding.
    content = json.dumps({"problems": [asdict(problem) for problem in problems]})
    return Response(content, media_type="application/json")


@router.post("/save/{name:path}")
async def save(request: Request, name: str) -> Response:
    """Write a draft to its file."""
    desk, sent = await _sent(request)
    version = await run_in_threadpool(_said, desk.save, name, _draft(sent), first(sent, "version"))
    return JSONResponse({"saved": True, "version": version})


@router.post("/draw/{name:path}")
async def draw(request: Request, name: str) -> Response:
    """Draw the knowledge graph of a draft."""
    desk, sent = await _sent(request)
    svg = await run_in_threadpool(_said, desk.drawing, name, _draft(sent))
    return Response(svg, media_type="image/svg+xml")


@router.post("/preview/{name:path}")
async def preview(request: Request, name: str) -> Response:
    """Play a dialogue for each goal of a draft."""
    desk, sent = await _sent(request)
    played = await run_in_threadpool(_said, desk.preview, name, _draft(sent))
    return JSONResponse({"dialogues": played})


async def _sent(request: Request) -> tuple[AuthoringDesk, dict[str, list[str]]]:
    session = _session(request)
    return _desk(request), await sent_form(request, session)


def _draft(sent: dict[str, list[str]]) -> dict[str, Any]:
    """Return the data of a form, which strangers may have made: a mapping, or it is refused."""
    try:
        data = json.loads("".join(sent.get("data", [])), parse_constant=_no_constant)
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise RefusedRequest(400, "This form holds half a character, as no file can.") from error
    except (ValueError, RecursionError) as error:
        raise RefusedRequest(400, "This form cannot be read.") from error
    if not isinstance(data, dict):
        raise RefusedRequest(400, "This form cannot be read.")
    return data


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _said(call: Any, *arguments: Any) -> Any:
    """Call, and refuse the request with what a user did wrong."""
    try:
        return call(*arguments)
    except ChangedMeanwhile as error:
        raise RefusedRequest(409, _words(error)) from error
    except RecursionError as error:
        raise RefusedRequest(400, "This form is nested too deeply.") from error
    except HipoError as error:
        raise RefusedRequest(422, _words(error)) from error


def _words(error: HipoError) -> str:
    if isinstance(error, InputError):
        return as_utf8("; ".join(str(problem) for problem in error.problems[:3]))
    if isinstance(error, UsageError) and error.hint:
        return as_utf8(f"{error.message}; {error.hint}")
    return as_utf8(str(error))


def _desk(request: Request) -> AuthoringDesk:
    desk: AuthoringDesk = request.app.state.desk
    return desk


def _session(request: Request) -> str:
    owner: SingleOwner = request.app.state.owner
    return owner.session_of(request)


def _page(
    request: Request, template: str, session: str, status: int = 200, **context: Any
) -> HTMLResponse:
    html = request.app.state.templates.get_template(f"{template}.html.j2").render(
        assets=request.app.state.assets,
        csrf=form_token(session) if session else "",
        folder=request.app.state.desk.folder,
        **context,
    )
    return HTMLResponse(as_utf8(html), status)


def _refusal_page(request: Request, error: RefusedRequest) -> Response:
    return _page(request, "refused", "", error.status, message=error.message)
