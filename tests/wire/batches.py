"""The batch APIs of OpenAI and Anthropic, as a part of the local server: files, batches, results.

A batch ends after it was asked about ``Batches.polls`` times, or when ``release`` is called while
``held`` is set. What it is made of is answered by the server's own answers, so that a dialogue in
batches is the same as one asked directly.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any, Literal

from aiohttp import web

from tests.wire import formats

Body = dict[str, Any]
AnswerOne = Callable[[formats.Wire, Body, int], Body]
"""Answers one request: format, body, number."""

BatchStep = Literal["upload", "create", "list", "poll", "download"]


@dataclass(slots=True)
class BatchFaults:
    """What goes wrong with batches; all off by default, and each happens as often as it says."""

    lose_creation: int = 0
    """Batches that are made though the connection breaks before anybody hears of it."""
    refusals: dict[BatchStep, list[int]] = field(default_factory=dict)
    pages: bool = False
    """Whether refusals are web pages, as of a proxy."""
    """Statuses with which the next calls of a step are refused, which do nothing then."""
    end: Literal["completed", "expired", "cancelled", "failed", "full"] = "completed"
    """How the next batches end; ``full``: there is no room for them."""
    room: int | None = None
    """The most requests that there is room for; None: for any number."""
    processed: float = 1.0
    """Share of the requests that are processed where a batch expires or is cancelled."""
    errored: float = 0.0
    """Share of the requests that are answered with an error."""
    drop: float = 0.0
    """Share of the results that are missing."""
    repeat: float = 0.0
    """Share of the results that come twice, the second time with another text."""
    garbage: tuple[bytes, ...] = ()
    """Lines between the results."""
    late: int = 0
    """Times that the results of a batch that ended are asked for before all of them can be had."""
    once: bool = False
    """Whether a bad end befalls one batch alone."""


@dataclass(slots=True)
class Batch:
    """One batch as the server keeps it."""

    id: str
    wire: formats.Wire
    requests: list[tuple[str, Body]]
    """Custom id and body."""
    metadata: Body
    created: float
    size: int = 0
    """Bytes of what was uploaded."""
    polls: int = 0
    state: str = "in_progress"
    lines: list[bytes] = field(default_factory=list)
    error_lines: list[bytes] = field(default_factory=list)
    faults: BatchFaults = field(default_factory=BatchFaults)
    asked: int = 0
    """Times that its results were asked for."""

    @property
    def is_late(self) -> bool:
        """Whether its results are asked for too early; each look is one question."""
        self.asked += 1
        return self.asked <= self.faults.late


class Batches:
    """Every batch that was made, and what is wrong with the next ones."""

    def __init__(self, answer: AnswerOne) -> None:
        self._answer = answer
        self.made: list[Batch] = []
        self.files: dict[str, bytes] = {}
        self.faults = BatchFaults()
        self.polls = 1
        """Questions after which a batch has ended."""
        self.held = False
        """Whether batches do not end."""
        self.foreign = 0
        """Batches of others, of the same size, that are listed before each of ours."""
        self.on_poll: Callable[[], None] = lambda: None
        """Is called whenever somebody asks about a batch."""
        self.interrupts = False
        """Whether this process is interrupted, as by Ctrl-C, when it next asks about a batch."""
        self.archived = ""
        """Batches of which there are no results any more: those with this in their names."""
        self.behind_s = 0.0
        """By how much the clock of the provider is behind."""
        self._number = 0

    def routes(self) -> list[web.RouteDef]:
        """Return what the server answers."""
        return [
            web.post("/v1/files", self._upload),
            web.get("/v1/files/{name}/content", self._content),
            web.post("/v1/batches", self._create_openai),
            web.get("/v1/batches", self._list_openai),
            web.get("/v1/batches/{name}", self._status_openai),
            web.post("/v1/messages/batches", self._create_anthropic),
            web.get("/v1/messages/batches", self._list_anthropic),
            web.get("/v1/messages/batches/{name}", self._status_anthropic),
            web.get("/v1/messages/batches/{name}/results", self._results_anthropic),
        ]

    @property
    def paid(self) -> list[str]:
        """Return the body of every request that was processed, as text."""
        return [
            json.dumps(body, sort_keys=True)
            for batch in self.made
            for custom, body in batch.requests
            if any(f'"{custom}"'.encode() in line and b"expired" not in line
                   for line in batch.lines)
        ]  # fmt: skip

    # OpenAI

    async def _upload(self, request: web.Request) -> web.Response:
        if (refusal := self._refusal("upload", formats.OPENAI)) is not None:
            return refusal
        form = await request.post()
        uploaded = form["file"]
        assert isinstance(uploaded, web.FileField)
        assert form["purpose"] == "batch"
        name = f"file-{len(self.files)}"
        self.files[name] = uploaded.file.read()
        return web.json_response({"id": name, "object": "file", "purpose": "batch"})

    async def _content(self, request: web.Request) -> web.Response:
        if (refusal := self._refusal("download", formats.OPENAI)) is not None:
            return refusal
        content = self.files.get(request.match_info["name"])
        if content is None:
            return web.json_response(formats.OPENAI.error(404, "no such file", None), status=404)
        return web.Response(body=content, content_type="application/octet-stream")

    async def _create_openai(self, request: web.Request) -> web.Response:
        if (refusal := self._refusal("create", formats.OPENAI)) is not None:
            return refusal
        asked = await request.json()
        content = self.files[asked["input_file_id"]]
        lines = [json.loads(line) for line in content.splitlines()]
        assert {line["url"] for line in lines} == {asked["endpoint"]}
        requests = [(line["custom_id"], line["body"]) for line in lines]
        batch = self._make("batch", formats.OPENAI, requests, asked.get("metadata") or {})
        batch.size = len(content)
        self._lose(request)
        return web.json_response(self._as_openai(batch))

    async def _list_openai(self, request: web.Request) -> web.Response:
        if (refusal := self._refusal("list", formats.OPENAI)) is not None:
            return refusal
        page, more = self._page(request, "after", formats.OPENAI)
        data = [self._as_openai(batch) for batch in page]
        return web.json_response({"object": "list", "data": data, "has_more": more})

    async def _status_openai(self, request: web.Request) -> web.Response:
        if (refusal := self._refusal("poll", formats.OPENAI)) is not None:
            return refusal
        batch = self._asked_about(request)
        if batch is None:
            return web.json_response(formats.OPENAI.error(404, "no such batch", None), status=404)
        return web.json_response(self._as_openai(batch))

    def _as_openai(self, batch: Batch) -> Body:
        errors = None
        if batch.state == "failed":
            full = batch.faults.end == "full"
            said = "Enqueued token limit reached" if full else "line is not valid"
            code = "token_limit_exceeded" if full else "invalid_json_line"
            errors = {"data": [{"code": code, "message": said, "line": None if full else 1}]}
        outputs: Body = {"output_file_id": None, "error_file_id": None}
        if batch.state in {"completed", "expired", "cancelled"} and not batch.is_late:
            for key, lines in (
                ("output_file_id", batch.lines),
                ("error_file_id", batch.error_lines),
            ):
                if lines:
                    outputs[key] = f"{key[:6]}-{batch.id}"
                    self.files[outputs[key]] = b"\n".join(lines) + b"\n"
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "input_file_id": "file",
            "completion_window": "24h",
            "status": batch.state,
            "created_at": int(batch.created),
            "metadata": batch.metadata,
            "errors": errors,
            "request_counts": {
                "total": len(batch.requests),
                "completed": len(batch.lines),
                "failed": len(batch.error_lines),
            },
            **outputs,
        }

    # Anthropic

    async def _create_anthropic(self, request: web.Request) -> web.Response:
        if (refusal := self._refusal("create", formats.ANTHROPIC)) is not None:
            return refusal
        content = await request.read()
        asked = json.loads(content)
        requests = [(one["custom_id"], one["params"]) for one in asked["requests"]]
        batch = self._make("msgbatch", formats.ANTHROPIC, requests, {})
        batch.size = len(content)
        self._lose(request)
        return web.json_response(self._as_anthropic(batch))

    async def _list_anthropic(self, request: web.Request) -> web.Response:
        if (refusal := self._refusal("list", formats.ANTHROPIC)) is not None:
            return refusal
        page, more = self._page(request, "after_id", formats.ANTHROPIC)
        data = [self._as_anthropic(batch) for batch in page]
        date = {"Date": format_datetime(datetime.fromtimestamp(time.time() - self.behind_s, UTC))}
        return web.json_response({"data": data, "has_more": more}, headers=date)

    async def _status_anthropic(self, request: web.Request) -> web.Response:
        if (refusal := self._refusal("poll", formats.ANTHROPIC)) is not None:
            return refusal
        batch = self._asked_about(request)
        if batch is None:
            return web.json_response(formats.ANTHROPIC.error(404, "none", None), status=404)
        return web.json_response(self._as_anthropic(batch, str(request.url.origin())))

    async def _results_anthropic(self, request: web.Request) -> web.Response:
        if (refusal := self._refusal("download", formats.ANTHROPIC)) is not None:
            return refusal
        batch = self._find(request.match_info["name"])
        if batch is None:
            return web.json_response(formats.ANTHROPIC.error(404, "none", None), status=404)
        lines = [*batch.lines, *batch.error_lines]
        lines = lines[: len(lines) // 2] if batch.is_late else lines
        return web.Response(body=b"\n".join(lines) + b"\n", content_type="application/binary")

    def _as_anthropic(self, batch: Batch, origin: str = "") -> Body:
        ended = batch.state != "in_progress"
        counts = dict.fromkeys(("succeeded", "errored", "canceled", "expired", "processing"), 0)
        counts["succeeded" if ended else "processing"] = len(batch.requests)
        created = datetime.fromtimestamp(batch.created, UTC).isoformat()
        cancelled = batch.state == "cancelled"
        archived = bool(self.archived) and self.archived in batch.id
        url = f"{origin}/v1/messages/batches/{batch.id}/results"
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": created,
            "expires_at": created,
            "ended_at": created if ended else None,
            "cancel_initiated_at": created if cancelled else None,
            "archived_at": created if archived else None,
            "results_url": url if ended and not archived else None,
        }

    # Both

    def _refusal(self, step: BatchStep, wire: formats.Wire) -> web.Response | None:
        statuses = self.faults.refusals.get(step)
        if not statuses:
            return None
        status = statuses.pop(0)
        headers = {"Retry-After": "0"}
        if self.faults.pages:
            return web.Response(text="<html>no such page</html>", status=status, headers=headers)
        return web.json_response(
            wire.error(status, "not now", None), status=status, headers=headers
        )

    def _make(
        self, kind: str, wire: formats.Wire, requests: list[tuple[str, Body]], metadata: Body
    ) -> Batch:
        created = time.time() - self.behind_s
        for _ in range(self.foreign):
            others = [(f"other-{i}", body) for i, (_, body) in enumerate(requests)]
            self._keep(Batch(f"{kind}_other{len(self.made)}", wire, others, {}, created))
        made = Batch(f"{kind}_{len(self.made)}", wire, requests, metadata, created)
        made.faults = self.faults
        if self.faults.once:
            self.faults = BatchFaults()
        return self._keep(made)

    def _keep(self, batch: Batch) -> Batch:
        assert len({custom for custom, _ in batch.requests}) == len(batch.requests)
        self.made.append(batch)
        return batch

    def _lose(self, request: web.Request) -> None:
        if self.faults.lose_creation and request.transport is not None:
            self.faults.lose_creation -= 1
            request.transport.abort()

    def _page(
        self, request: web.Request, after: str, wire: formats.Wire
    ) -> tuple[list[Batch], bool]:
        newest = [batch for batch in reversed(self.made) if batch.wire is wire]
        names = [batch.id for batch in newest]
        begin = names.index(request.query[after]) + 1 if after in request.query else 0
        end = begin + int(request.query["limit"])
        for batch in newest:  # those that nobody asks about end, too
            self._progress(batch)
        return newest[begin:end], end < len(newest)

    def _asked_about(self, request: web.Request) -> Batch | None:
        batch = self._find(request.match_info["name"])
        self.on_poll()
        if self.interrupts:
            self.interrupts = False
            os.kill(os.getpid(), signal.SIGINT)
        if batch is not None:
            self._progress(batch)
        return batch

    def _find(self, name: str) -> Batch | None:
        return next((batch for batch in self.made if batch.id == name), None)

    def _progress(self, batch: Batch) -> None:
        batch.polls += 1
        if batch.state == "in_progress" and not self.held and batch.polls > self.polls:
            self._end(batch)

    def _end(self, batch: Batch) -> None:
        """Process a batch, as far as its end allows, and write its results in any order."""
        faults, dice = batch.faults, random.Random(batch.id)
        if faults.room is not None and len(batch.requests) > faults.room:
            batch.faults = replace(faults, end="full")
        batch.state = "failed" if batch.faults.end in {"failed", "full"} else faults.end
        if batch.state == "failed":
            return
        for place, (custom, body) in enumerate(batch.requests):
            short = batch.state != "completed" and dice.random() >= faults.processed
            if short:
                batch.error_lines.append(_unprocessed(batch, custom))
            elif dice.random() < faults.errored:
                batch.error_lines.append(_errored(batch, custom))
            elif dice.random() >= faults.drop:
                self._number += 1
                answer = self._answer(batch.wire, body, self._number)
                batch.lines.append(_answered(batch, custom, answer, place))
                if dice.random() < faults.repeat:
                    batch.lines.append(_answered(batch, custom, {"choices": []}, place))
        # a repeated line stays behind the first; everything else may come in any order
        firsts = [line for line in batch.lines if b'"choices": []' not in line]
        dice.shuffle(firsts)
        rest = [line for line in batch.lines if b'"choices": []' in line]
        batch.lines = [*firsts[:1], *faults.garbage, *firsts[1:], *rest]
        batch.error_lines.reverse()


def _answered(batch: Batch, custom: str, answer: Body, place: int) -> bytes:
    if batch.wire is formats.ANTHROPIC:
        result = {"type": "succeeded", "message": answer}
        return json.dumps({"custom_id": custom, "result": result}).encode()
    response = {"status_code": 200, "request_id": f"req-{place}", "body": answer}
    return json.dumps({"custom_id": custom, "response": response, "error": None}).encode()


def _errored(batch: Batch, custom: str) -> bytes:
    if batch.wire is formats.ANTHROPIC:
        result = {"type": "errored", "error": formats.ANTHROPIC.error(500, "broke", None)}
        return json.dumps({"custom_id": custom, "result": result}).encode()
    response = {"status_code": 500, "body": formats.OPENAI.error(500, "broke", None)}
    return json.dumps({"custom_id": custom, "response": response, "error": None}).encode()


def _unprocessed(batch: Batch, custom: str) -> bytes:
    if batch.wire is formats.ANTHROPIC:
        kind = "canceled" if batch.state == "cancelled" else "expired"
        return json.dumps({"custom_id": custom, "result": {"type": kind}}).encode()
    error = {"code": f"batch_{batch.state}", "message": "the batch ended"}
    return json.dumps({"custom_id": custom, "response": None, "error": error}).encode()
