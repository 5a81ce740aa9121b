"""Replies that no endpoint should send: a table of them, with what is to come of each."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping

from tests.wire.hostile_bytes import broken_connections, encodings, odd_connections
from tests.wire.hostile_reply import REPLY, HostileReply, anthropic_reply, openai_reply


def _openai(name: str, body: bytes, outcome: str = REPLY) -> HostileReply:
    return HostileReply(name, outcome, body, wires=("openai",))


def _anthropic(name: str, body: bytes, outcome: str = REPLY) -> HostileReply:
    return HostileReply(name, outcome, body, wires=("anthropic",))


def _error(
    name: str, outcome: str, status: int, body: object = b"", **headers: str
) -> HostileReply:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = ((k.replace("_", "-").encode(), v.encode("latin-1")) for k, v in headers.items())
    return HostileReply(name, outcome, data, status, tuple(named))


COUNTS: Mapping[str, str] = {
    "i63": str(2**63),
    "i64": str(2**64),
    "u64-less-one": str(2**64 - 1),
    "googol": "1" + "0" * 400,
    "1e18": "1e18",
    "1e30": "1e30",
    "1e308": "1e308",
    "negative": "-1",
    "fraction": "3.5",
    "text": '"many"',
    "boolean": "true",
    "null": "null",
    "list": "[1]",
    "object": '{"a": 1}',
}
"""Token counts as they stand in the JSON."""


def _usages() -> Iterable[HostileReply]:
    for name, number in COUNTS.items():
        openai = openai_reply().replace(
            b'"completion_tokens": 3', f'"completion_tokens": {number}'.encode()
        )
        anthropic = anthropic_reply().replace(
            b'"output_tokens": 3', f'"output_tokens": {number}'.encode()
        )
        outcome = "server_fault" if name == "googol" else REPLY
        yield _openai(f"usage-{name}", openai, outcome)
        yield _anthropic(f"anthropic-usage-{name}", anthropic, outcome)
    for name, usage in {"list": [], "text": "much", "number": 3, "true": True, "gone": ...}.items():
        yield _openai(f"usage-is-{name}", openai_reply(usage=usage))
        yield _anthropic(f"anthropic-usage-is-{name}", anthropic_reply(usage=usage))
    details = {"prompt_tokens_details": [1], "completion_tokens_details": "x", "cached_tokens": {}}
    yield _openai(
        "usage-details", openai_reply(usage={"prompt_tokens": 1, "completion_tokens": 1} | details)
    )
    yield _openai("usage-nan", openai_reply().replace(b": 3,", b": NaN,"), "server_fault")
    yield _openai("usage-infinity", openai_reply().replace(b": 3,", b": Infinity,"), "server_fault")


ODD: Mapping[str, object] = {
    "list": ["stop"],
    "object": {"reason": "stop"},
    "number": 7,
    "null": None,
    "true": True,
    "long": "x" * 100_000,
    "nested": [[[[{"a": [1]}]]]],
}


def _odd_fields() -> Iterable[HostileReply]:
    for name, value in ODD.items():
        yield _openai(f"finish-{name}", openai_reply(finish_reason=value))
        yield _anthropic(f"stop-{name}", anthropic_reply(stop_reason=value))
        yield _openai(f"id-{name}", openai_reply(id=value))
        yield _anthropic(f"anthropic-id-{name}", anthropic_reply(id=value))
        yield _openai(f"model-{name}", openai_reply(model=value, system_fingerprint=value))
        yield _anthropic(f"anthropic-model-{name}", anthropic_reply(model=value))
        yield _openai(f"index-{name}", openai_reply(index=value))
        yield _openai(f"message-{name}", openai_reply(message=value if value is not None else ()))
        yield _openai(f"content-{name}", openai_reply(message={"content": value}))
        yield _openai(f"refusal-{name}", openai_reply(message={"content": None, "refusal": value}))
        yield _anthropic(f"block-{name}", anthropic_reply(content=[value]))
        yield _anthropic(
            f"block-text-{name}", anthropic_reply(content=[{"type": "text", "text": value}])
        )
        yield _anthropic(
            f"block-type-{name}", anthropic_reply(content=[{"type": value, "text": "a"}])
        )


def _choices() -> Iterable[HostileReply]:
    for name, value in {"gone": ..., "null": None, "object": {}, "text": "a", "number": 1}.items():
        yield _openai(f"choices-{name}", openai_reply(choices=value), "server_fault")
        yield _anthropic(f"blocks-{name}", anthropic_reply(content=value), "server_fault")
    for name, value in {
        "none": [],
        "nulls": [None],
        "lists": [[]],
        "numbers": [1, 2],
        "empty": [{}],
    }.items():
        yield _openai(f"choices-{name}", openai_reply(choices=value))
        yield _anthropic(f"blocks-{name}", anthropic_reply(content=value))
    yield _openai(
        "choices-many", openai_reply(choices=[{"text": "a", "index": -i} for i in range(20_000)])
    )
    yield _openai("index-huge", openai_reply(index=2**63))


TEXTS: Mapping[str, str] = {
    "empty": "",
    "blank": " \n\t ",
    "nul": "a\x00b",
    "escape-codes": "\x1b[2J\x1b]0;title\x07",
    "right-to-left": "\u202eabc\u202c",
    "long": "word " * 200_000,
    "braces": "{" * 60_000,
    "nested": '{"a":' * 5_000,
    "nested-whole": "[" * 900 + "]" * 900,
    "backslashes": '{"utterance": "' + "\\" * 59_000,
    "quotes": '{"' * 30_000,
    "odd-spaces": "\u2028\u2029\ufeff",
}


def _texts() -> Iterable[HostileReply]:
    for name, text in TEXTS.items():
        yield _openai(f"text-{name}", openai_reply(message={"content": text}))
        yield _anthropic(
            f"anthropic-text-{name}", anthropic_reply(content=[{"type": "text", "text": text}])
        )
    beyond = openai_reply(message={"content": "x" * (5 * 2**20)})
    yield _openai("text-beyond-the-cap", beyond, "server_fault")
    half = openai_reply().replace(b"good", b"\\ud800")
    yield _openai("text-half-a-surrogate", half, "server_fault")


def _bodies() -> Iterable[HostileReply]:
    sound = openai_reply()
    bodies: dict[str, bytes] = {
        "empty": b"",
        "blank": b"   \n",
        "half": sound[: len(sound) // 2],
        "twice": sound + sound,
        "number": b"7",
        "text": b'"choices"',
        "null": b"null",
        "true": b"true",
        "list": b"[" + sound + b"]",
        "utf-16": sound.decode().encode("utf-16"),
        "latin-1": sound.replace(b"good", "g\u00fct".encode("latin-1")),
        "not-utf-8": sound.replace(b"good", b"\xff\xfe\xc0\x80"),
        "surrogate-bytes": sound.replace(b"good", b"\xed\xa0\x80"),
        "bare-nul": sound.replace(b"good", b"\x00"),
        "nuls": b"\x00" * 1_000,
        "nested-lists": b"[" * 100_000,
        "nested-objects": b'{"choices":' * 100_000,
        "nested-sound": b'{"choices":' * 1_000 + b"1" + b"}" * 1_000,
        "html": b"<html><body>Bad gateway</body></html>",
        "single-quotes": str(json.loads(sound)).encode(),
        "packed": bytes(range(256)),
    }
    for name, body in bodies.items():
        yield HostileReply(f"body-{name}", "server_fault", body)
    yield _openai("body-mark", b"\xef\xbb\xbf" + sound)
    yield _openai("body-stream", b"data: " + sound + b"\n\ndata: [DONE]\n\n")
    yield _openai("body-duplicate-keys", sound[:-1] + b', "usage": 1, "usage": [], "id": 1}')
    yield HostileReply(
        "endless", "server_fault", lambda: itertools.repeat(b'{"a": "' + b"x" * 60_000)
    )
    yield HostileReply("endless-blanks", "server_fault", lambda: itertools.repeat(b" " * 60_000))
    yield HostileReply("trickling", "timeout", lambda: itertools.repeat(b" "), pause_s=0.02)


def _errors_in_a_success() -> Iterable[HostileReply]:
    deep: object = "deep"
    for _ in range(900):
        deep = {"error": deep}
    for name, error, outcome in (
        ("429", {"code": 429, "message": "slow down"}, "rate_limited"),
        ("text", "something", "server_fault"),
        ("list", [[["a"]]], "server_fault"),
        ("number", 3, "server_fault"),
        ("true", {"code": True}, "server_fault"),
        ("huge-code", {"code": 10**30, "message": {"a": 1}}, "server_fault"),
        ("odd-code", {"code": {"a": 1}, "type": ["b"], "param": {}}, "server_fault"),
        ("deep", deep, "server_fault"),
        ("long", {"message": "x" * 1_000_000, "code": "y" * 1_000_000}, "server_fault"),
    ):
        yield HostileReply(
            f"success-with-error-{name}", outcome, json.dumps({"error": error}).encode()
        )


def _errors() -> Iterable[HostileReply]:
    for levels in (900, 5_000, 200_000):
        yield _error(f"error-lists-{levels}", "bad_request", 400, b"[" * levels + b"]" * levels)
        nested = b'{"error":' * levels + b"1" + b"}" * levels
        yield _error(f"error-objects-{levels}", "bad_request", 400, nested)
    for name, body in {
        "empty": b"",
        "binary": bytes(range(256)),
        "html": b"<html>" * 1_000,
        "long": {"error": {"message": "x" * 3_000_000}},
        "number": {"error": 3},
        "nulls": {"error": [None, None]},
        "odd-parts": {"error": {"message": 3, "code": {"a": 1}, "type": [2], "param": ["n"]}},
        "odd-place": {"detail": [{"loc": [3, None, ["n"]], "msg": {"a": 1}}]},
        "half-surrogate": b'{"error": "\\ud800"}',
        "control": {"error": {"message": "a\x00b\x1b[2J\u202e"}},
    }.items():
        yield _error(f"error-{name}", "bad_request", 400, body)
    beyond = b'{"error": "' + b"x" * (6 * 2**20) + b'"}'
    yield _error("error-beyond-the-cap", "bad_request", 400, beyond)
    codes = {204: "server_fault", 302: "bad_request", 304: "bad_request", 401: "unauthorised"}
    codes |= {402: "out_of_funds", 403: "unauthorised", 404: "server_fault", 408: "timeout"}
    codes |= {409: "server_fault", 413: "bad_request", 418: "bad_request", 422: "bad_request"}
    codes |= {429: "rate_limited", 451: "bad_request", 500: "server_fault", 501: "server_fault"}
    codes |= {502: "server_fault", 503: "server_fault", 529: "rate_limited", 599: "server_fault"}
    codes |= {999: "server_fault"}
    for status, outcome in codes.items():
        yield _error(f"status-{status}", outcome, status, b"" if status in {204, 304} else b"no")
    for status in (301, 307, 308):
        yield _error(
            f"redirect-{status}", "bad_request", status, b"", Location="file:///etc/passwd"
        )
    for name, value in {
        "year-9999": "Fri, 31 Dec 9999 23:59:59 GMT",
        "negative": "-5",
        "1e308": "1e308",
        "nan": "nan",
        "zone": "Sun, 01 Mar 2026 12:00:30 +99999999999999999999",
        "garbage": "\x7f\xff later; maybe",
        "long": "9" * 5_000,
    }.items():
        yield _error(f"retry-after-{name}", "rate_limited", 429, b"", Retry_After=value)


def _table() -> dict[str, HostileReply]:
    sources = (_usages, _odd_fields, _choices, _texts, _bodies, _errors_in_a_success, _errors)
    below = (encodings, broken_connections, odd_connections)
    replies = [reply for source in (*sources, *below) for reply in source()]
    replies.append(_openai("sound", openai_reply()))
    replies.append(_anthropic("anthropic-sound", anthropic_reply()))
    table = {reply.name: reply for reply in replies}
    assert len(table) == len(replies), "two entries have one name"
    return table


HOSTILE = _table()
"""Every reply by its name."""
