"""Servers that speak OpenAI's chat completions each in a way of its own.

What each refuses, and in which words, is taken from its documents and from what its users report;
answers come from the engines behind ``offline/rules`` and ``offline/judge``, in the shape that the
server gives them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.wire import formats
from tests.wire.faults import Fault
from tests.wire.server import WireServer, actors_and_judges

Body = dict[str, Any]
Refusal = tuple[int, object]
Refuses = Callable[[Body], Refusal | None]
Shapes = Callable[[Body], "Body | bytes"]
KEY = "let-me-in"


@dataclass(frozen=True)
class Dialect:
    """One way to speak the format."""

    name: str
    refuses: tuple[Refuses, ...] = ()
    """What a request is looked at for, in this order."""
    shapes: Shapes = lambda answer: answer
    """What becomes of an answer before it is sent."""
    base: str = "/v1"
    """What stands before and behind ``/chat/completions``."""
    key_header: str = ""
    """The header that has to hold the key; empty: none is needed."""


class DialectServer(WireServer):
    """Serves one dialect, in the formats of OpenAI and Anthropic."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(answer=with_system)
        self.dialect = dialect
        self.refused = 0
        """Requests that were turned down."""

    @property
    def url(self) -> str:
        """The base URL that a user gives."""
        return f"http://127.0.0.1:{self.port}{self.dialect.base}"

    async def _reply(
        self,
        request: web.Request,
        wire: formats.Wire,
        body: Body,
        headers: Mapping[str, str],
        number: int,
        fault: Fault | None,
    ) -> web.StreamResponse:
        refusal = self._refusal(request, wire, body, headers)
        if refusal is not None:
            self.refused += 1
            status, content = refusal
            if isinstance(content, bytes):
                return web.Response(status=status, body=content)
            return web.json_response(content, status=status)
        answered = await super()._reply(request, wire, body, headers, number, fault)
        if not isinstance(answered, web.Response) or answered.text is None:
            return answered
        shaped = self.dialect.shapes(json.loads(answered.text))
        content = shaped if isinstance(shaped, bytes) else json.dumps(shaped).encode()
        return web.Response(body=content, content_type="application/json")

    def _refusal(
        self, request: web.Request, wire: formats.Wire, body: Body, headers: Mapping[str, str]
    ) -> Refusal | None:
        dialect = self.dialect
        path, _, query = dialect.base.partition("?")
        place = request.path, request.query_string
        if wire is formats.OPENAI and place != (f"{path}/chat/completions", query):
            return 404, {"error": {"code": "404", "message": "Resource not found"}}
        key = headers.get(dialect.key_header, "") if dialect.key_header else KEY
        if key.removeprefix("Bearer ") != KEY:
            return 401, {"error": {"code": "401", "message": "Access denied"}}
        refusals = (refuses(body) for refuses in dialect.refuses)
        return next((refusal for refusal in refusals if refusal is not None), None)


def with_system(messages: Sequence[tuple[str, str]], seed: int) -> str:
    """Answer messages of which the system's may begin the first of the user."""
    (role, first), *others = messages
    if role == "user":
        system, _, asked = first.partition("\n\n# Situation")
        messages = [("system", system), ("user", f"# Situation{asked}"), *others]
    return actors_and_judges(messages, seed)


# What is refused


def says(
    message: str, param: str | None = None, code: object = None, kind: str = "invalid_request_error"
) -> Body:
    """Return an error in OpenAI's shape."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def always(status: int, body: object) -> Refuses:
    """Refuse everything."""
    return lambda asked: (status, body)


def field(name: str, status: int, body: object, *, but: object = ...) -> Refuses:
    """Refuse a field, but for one value of it."""
    return lambda asked: (status, body) if name in asked and asked[name] != but else None


def both(one: str, other: str, status: int, body: object) -> Refuses:
    """Refuse two fields in one body."""
    return lambda asked: (status, body) if one in asked and other in asked else None


def not_alternating(status: int, body: object) -> Refuses:
    """Refuse messages that are not the user's and the model's by turns, as some templates do."""

    def refuses(asked: Body) -> Refusal | None:
        roles = [message["role"] for message in asked["messages"]]
        by_turns = [("user", "assistant")[place % 2] for place in range(len(roles))]
        return None if roles == by_turns else (status, body)

    return refuses


def every_other_schema(status: int, body: object) -> Refuses:
    """Refuse every second request for an answer in a schema: the model did not keep to it."""
    asked_before = [0]

    def refuses(asked: Body) -> Refusal | None:
        asked_before[0] += "response_format" in asked
        failed = "response_format" in asked and asked_before[0] % 2 == 0
        return (status, body) if failed else None

    return refuses


# How answers are shaped


def each(change: Callable[[Body], object]) -> Shapes:
    """Change the message of every choice."""

    def shaped(answer: Body) -> Body:
        for choice in answer["choices"]:
            change(choice["message"])
        return answer

    return shaped


def first_choice(answer: Body) -> Body:
    """Answer once, however many answers were asked for."""
    return {**answer, "choices": answer["choices"][:1]}


def ending_with_eos(answer: Body) -> Body:
    """Call the end of an answer by the name of the token."""
    return {**answer, "choices": [{**c, "finish_reason": "eos"} for c in answer["choices"]]}


def thinking_aloud(message: Body) -> None:
    message["content"] = f"<think>\nLet me see: {{a}} or {{b}}?\n</think>\n\n{message['content']}"


def in_parts(message: Body) -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Let me see."}]}
    message["content"] = [thought, {"type": "text", "text": message["content"]}]


def streamed(answer: Body) -> bytes:
    """Send an answer as a stream of events, though none was asked for."""
    head = {"id": answer["id"], "object": "chat.completion.chunk", "model": answer["model"]}
    events: list[Body] = []
    for choice in answer["choices"]:
        text, index = choice["message"]["content"], choice["index"]
        pieces = [{"content": text[i : i + 40]} for i in range(0, len(text), 40)]
        events += [{"index": index, "delta": piece, "finish_reason": None} for piece in pieces]
        events.append({"index": index, "delta": {}, "finish_reason": choice["finish_reason"]})
    bodies = [{**head, "choices": [event]} for event in events]
    bodies.append({**head, "choices": [], "usage": answer["usage"]})
    sent = [f"data: {json.dumps(body)}\n\n" for body in bodies]
    return "".join([": keep-alive\n\n", *sent, "data: [DONE]\n\n"]).encode()
