"""The answers of the OpenAI and Anthropic formats, written from the outside: by their documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Body = dict[str, Any]


def tokens(text: str) -> int:
    """Count tokens the way this server does: four bytes each."""
    return len(text.encode()) // 4


def plain(content: Any) -> str:
    """Return a message's text, whether it came as a string or as blocks."""
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content or [])


def openai_messages(body: Body) -> list[tuple[str, str]]:
    return [(m["role"], plain(m["content"])) for m in body["messages"]]


def anthropic_messages(body: Body) -> list[tuple[str, str]]:
    system = [("system", plain(body["system"]))] if body.get("system") else []
    return [*system, *openai_messages(body)]


def openai_answer(
    body: Body, texts: Sequence[str], *, number: int, prompt: int, cached: int, usage: bool
) -> Body:
    completion = sum(map(tokens, texts))
    answer: Body = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [
            {
                "index": i,
                "message": {"role": "assistant", "content": text, "refusal": None},
                "finish_reason": "stop",
                "logprobs": None,
            }
            for i, text in enumerate(texts)
        ],
    }
    if usage:
        answer["usage"] = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": 0},
        }
    return answer


def anthropic_answer(
    body: Body, texts: Sequence[str], *, number: int, prompt: int, cached: int, usage: bool
) -> Body:
    answer: Body = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": text} for text in texts[:1]],
        "stop_reason": "end_turn",
        "stop_sequence": None,
    }
    if usage:
        answer["usage"] = {
            "input_tokens": prompt - cached,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": sum(map(tokens, texts[:1])),
        }
    return answer


def openai_error(status: int, message: str, param: str | None) -> Body:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    code = "unsupported_parameter" if param else None
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def anthropic_error(status: int, message: str, param: str | None) -> Body:
    kinds = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}
    text = f"{param}: Extra inputs are not permitted" if param else message
    return {"type": "error", "error": {"type": kinds.get(status, "api_error"), "message": text}}


def with_unknown_label(text: str) -> str:
    """Replace every label in an answer by one that no scheme has."""
    try:
        answer = json.loads(text)
    except ValueError:
        return text
    if not isinstance(answer, dict):
        return text
    prose = ("utterance", "_rationale", "_reason")
    for key, value in answer.items():
        if isinstance(value, str) and not key.endswith(prose):
            answer[key] = "Sideways"
    return json.dumps(answer)


def in_prose(text: str) -> str:
    """Wrap an answer into what chatty models put around it."""
    return f"Sure, here is what I would say:\n```json\n{text}\n```\nI hope that helps."


@dataclass(frozen=True, slots=True)
class Wire:
    """What differs between the two formats."""

    schema_field: str
    messages: Callable[[Body], list[tuple[str, str]]]
    answer: Callable[..., Body]
    error: Callable[[int, str, str | None], Body]
    key_of: Callable[[Mapping[str, str]], str]
    seed_of: Callable[[Body, Mapping[str, str]], int]


def bearer(headers: Mapping[str, str]) -> str:
    return headers.get("authorization", "").removeprefix("Bearer ")


OPENAI = Wire(
    schema_field="response_format",
    messages=openai_messages,
    answer=openai_answer,
    error=openai_error,
    key_of=bearer,
    seed_of=lambda body, _: int(body.get("seed", 0)),
)
ANTHROPIC = Wire(
    schema_field="output_config",
    messages=anthropic_messages,
    answer=anthropic_answer,
    error=anthropic_error,
    key_of=lambda headers: headers.get("x-api-key") or bearer(headers),
    seed_of=lambda _, headers: int(headers.get("x-hipo-seed", 0)),
)
