"""Properties of everything that reads what an endpoint sent, for tests and for long fuzzing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, get_args

from hypothesis import strategies as st

from pipeline.calls.records import choice_row, parse_sample
from pipeline.endpoints.schema_evidence import keeps_to_schema
from pipeline.providers import wire_anthropic, wire_openai
from pipeline.providers.error_body import read_error
from pipeline.providers.errors import ProviderError
from pipeline.providers.failures import disguised, from_status
from pipeline.providers.protocol import Choice, FinishReason, Reply, Usage
from pipeline.providers.retry import retry_after
from prompts.responses import utterance_format
from tests.wire.hostile_reply import anthropic_reply, openai_reply

SENT = frozenset({"model", "messages", "n", "seed", "temperature", "response_format"})
UTTERANCE = utterance_format()
_DATABASE = sqlite3.connect(":memory:")


@dataclass(frozen=True, slots=True)
class Property:
    """What must hold of whatever a strategy draws."""

    drawn: st.SearchStrategy[Any]
    assert_holds: Callable[[Any], None]


NAMES = [
    "choices",
    "message",
    "content",
    "usage",
    "index",
    "text",
    "finish_reason",
    "stop_reason",
    "type",
    "refusal",
    "id",
    "model",
    "system_fingerprint",
    "error",
    "code",
    "param",
    "detail",
    "loc",
    "msg",
    "prompt_tokens",
    "completion_tokens",
    "n_ctx",
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "prompt_tokens_details",
    "cached_tokens",
    "completion_tokens_details",
    "reasoning_tokens",
    "output_tokens_details",
    "n_prompt_tokens",
    "status",
]
NUMBERS = st.sampled_from(
    [
        0,
        -1,
        10**9,
        10**9 + 1,
        2**31,
        2**53,
        2**63 - 1,
        2**63,
        2**64 - 1,
        -(2**63),
        1e18,
        1e30,
        1e308,
    ]
)
SCALARS = (
    st.none() | st.booleans() | st.integers() | NUMBERS | st.floats(allow_nan=False) | st.text()
    | st.sampled_from(["stop", "end_turn", "length", "text", "model_not_found", "n", "a\x00b"])
)  # fmt: skip
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=8), inner, max_size=5)
    ),
    max_leaves=20,
)


ODD = NUMBERS | st.sampled_from(
    [
        None,
        True,
        False,
        0.5,
        "",
        "x" * 1_000,
        "\ud800",
        "a\x00b",
        "9",
        [],
        {},
        [1],
        {"a": 1},
        [[[]]],
        [None],
    ]
).map(deepcopy)  # a value that was put into a document is changed there
"""What is wrong for most places of a document."""


@st.composite
def mutated(draw: st.DrawFn, sound: object) -> object:
    """Draw a document with a few places replaced, removed, doubled or wrapped."""
    document = json.loads(json.dumps(sound))
    for _ in range(draw(st.integers(1, 4))):
        document = _mutated_once(draw, document)
    return document


def _mutated_once(draw: st.DrawFn, node: Any) -> Any:
    """Change one place at or below ``node``."""
    inner = isinstance(node, dict | list) and len(node) > 0
    if inner and draw(st.integers(0, 3)):
        key = draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
        if draw(st.integers(0, 9)) == 0:
            del node[key]
        else:
            node[key] = _mutated_once(draw, node[key])
        return node
    change = draw(st.sampled_from(["odd"] * 6 + ["any", "list", "object", "deep", "double"]))
    if change == "odd":
        return draw(ODD)
    if change == "any":
        return draw(JSON)
    if change == "deep":
        for _ in range(draw(st.integers(1, 60))):
            node = {draw(st.sampled_from(["error", "detail", "message"])): node}
        return node
    if change == "double":
        return [node, node]
    return [node] if change == "list" else {draw(st.sampled_from(NAMES)): node}


def _bytes(document: object) -> bytes:
    """Return a document as a server might write it, half surrogate pairs and all."""
    return json.dumps(document).encode()


@st.composite
def damaged(draw: st.DrawFn, sound: bytes) -> bytes:
    """Draw bytes with a few of them changed, cut out or doubled."""
    body = bytearray(sound)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(body)))
        body[at : at + draw(st.integers(0, 5))] = draw(st.binary(max_size=5))
    return bytes(body)


OPENAI, ANTHROPIC = json.loads(openai_reply()), json.loads(anthropic_reply())
ERROR = {
    "error": {
        "message": "This model's maximum context length is 8 tokens, you requested 9 tokens",
        "type": "invalid_request_error",
        "param": "n",
        "code": 400,
        "n_ctx": 8,
    }
}
HEADERS = st.dictionaries(
    st.sampled_from(["Retry-After", "retry-after-ms", "x-request-id", "request-id", "other"]),
    st.text()
    | st.sampled_from(["Fri, 31 Dec 9999 23:59:59 GMT", "1e308", "-1", "\udcff", "9" * 99]),
)
TEXTS = st.text() | st.lists(
    st.sampled_from([*'{}[]",:\\ ', "utterance", "```", "<think>", "</think>", "null", "\x00"])
).map("".join) | JSON.map(json.dumps)  # fmt: skip


def _stores(*values: object) -> None:
    """Raise if a database could not hold the values."""
    _DATABASE.execute(f"select {', '.join('?' * len(values))}", values).fetchall()


def _usage_is_sound(usage: Usage | None) -> None:
    if usage is not None:
        counts = (
            usage.prompt,
            usage.completion,
            usage.cached,
            usage.reasoning,
            usage.cache_written,
        )
        assert all(type(number) is int and 0 <= number <= 3 * 10**9 for number in counts)


def assert_reply_is_sound(reply: Reply) -> None:
    """Fail where a reply holds what could not be stored, or what nobody could have meant."""
    for choice in reply.choices:
        assert type(choice.text) is str
        assert choice.finish in get_args(FinishReason)
        row = choice_row(0, 0, choice)
        _stores(row.text, row.finish)
    for name in (reply.request_id, reply.model, reply.system_fingerprint):
        assert name is None or (type(name) is str and 0 < len(name) <= 200)
        _stores(name)
    _usage_is_sound(reply.usage)


def _reads(read: Callable[[bytes], Reply]) -> Callable[[bytes], None]:
    def assert_sound(body: bytes) -> None:
        with suppress(ProviderError):
            assert_reply_is_sound(read(body))

    return assert_sound


def _error_is_sound(error: ProviderError) -> None:
    assert len(error.message) <= 500
    _stores(error.message.encode("utf-8", "replace"), error.request_id, error.status)
    assert error.retry_after_s is None or 0 <= error.retry_after_s <= 86_400
    assert error.field is None or error.field in SENT


def _fails(drawn: tuple[int, Mapping[str, str], bytes]) -> None:
    status, headers, body = drawn
    read_error(body)
    error = from_status(status, headers, body, sent=SENT)
    assert error.status == status
    _stores(error.message)
    _error_is_sound(error)
    hidden = disguised(body, headers, sent=SENT)
    if hidden is not None:
        _stores(hidden.message)
        _error_is_sound(hidden)


def _waits(text: str) -> None:
    pause = retry_after({"Retry-After": text})
    assert pause is None or 0 <= pause <= 86_400


def _sample_is_read(text: str) -> None:
    choice = Choice(text, "stop")
    assert keeps_to_schema(choice, UTTERANCE.schema) in {True, False, None}
    sample = parse_sample(choice_row(0, 0, choice), UTTERANCE)
    assert sample.fault is None, repr(sample.fault)
    _stores(sample.row.text)
    assert sample.reasons or type(sample.get()) is str


OPENAI_BODIES = JSON.map(_bytes) | mutated(OPENAI).map(_bytes) | damaged(_bytes(OPENAI))
ANTHROPIC_BODIES = JSON.map(_bytes) | mutated(ANTHROPIC).map(_bytes) | damaged(_bytes(ANTHROPIC))
ERROR_BODIES = JSON.map(_bytes) | mutated(ERROR).map(_bytes) | damaged(_bytes(ERROR))
PROPERTIES: Mapping[str, Property] = {
    "openai replies": Property(OPENAI_BODIES, _reads(wire_openai.read_reply)),
    "anthropic replies": Property(ANTHROPIC_BODIES, _reads(wire_anthropic.read_reply)),
    "openai usage": Property(
        JSON | mutated(OPENAI["usage"]), lambda data: _usage_is_sound(wire_openai.read_usage(data))
    ),
    "anthropic usage": Property(
        JSON | mutated(ANTHROPIC["usage"]),
        lambda data: _usage_is_sound(wire_anthropic.read_usage(data)),
    ),
    "errors": Property(
        st.tuples(st.integers(100, 999), HEADERS, ERROR_BODIES | st.binary()), _fails
    ),
    "pauses": Property(st.text() | st.floats().map(str) | st.datetimes().map(str), _waits),
    "samples": Property(TEXTS, _sample_is_read),
}
"""Every property by its name."""
