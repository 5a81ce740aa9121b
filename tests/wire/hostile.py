"""Replies that no endpoint should send: a table of them, with what is to come of each."""

from __future__ import annotations

import gzip
import itertools
import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

TEXT = '{"utterance": "It is in good order."}'
REPLY = "reply"
"""The outcome of a reply that can be used as far as it goes, whatever else is wrong with it."""


@dataclass(frozen=True, slots=True)
class HostileReply:
    """One reply, and what is to come of it."""

    name: str
    outcome: str
    """``reply``, or the code of the error."""
    body: bytes | Callable[[], Iterable[bytes]] = b""
    """All of it, or pieces; those without end are sent until the other side hangs up."""
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()
    raw: bytes | None = None
    """In place of everything else: the bytes on the wire, after which the connection is closed."""
    length: bytes | None = None
    """What Content-Length says, where it lies."""
    wires: tuple[str, ...] = ("openai", "anthropic")
    """The formats that it can be met in."""
    sdk_outcome: str = ""
    """The outcome through an SDK, where it differs."""
    pause_s: float = 0.0
    """Seconds between two pieces."""


def openai_reply(message: object = None, usage: object = None, **fields: object) -> bytes:
    """Return an answer of the OpenAI format with something replaced; ``...`` takes it out."""
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": TEXT},
    }
    for name in ("index", "finish_reason"):
        if name in fields:
            choice[name] = fields.pop(name)
    if message is not None:
        choice["message"] = message
    counts = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    body: dict[str, object] = {"id": "x", "object": "chat.completion", "model": "m"}
    body |= {"choices": [choice], "usage": counts if usage is None else usage, **fields}
    return json.dumps({name: value for name, value in body.items() if value is not ...}).encode()


def anthropic_reply(usage: object = None, **fields: object) -> bytes:
    """Return an answer of the Anthropic format with something replaced; ``...`` takes it out."""
    counts = {"input_tokens": 9, "output_tokens": 3}
    body: dict[str, object] = {"id": "x", "type": "message", "role": "assistant", "model": "m"}
    body |= {"content": [{"type": "text", "text": TEXT}], "stop_reason": "end_turn"}
    body |= {"usage": counts if usage is None else usage, **fields}
    return json.dumps({name: value for name, value in body.items() if value is not ...}).encode()


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
        "mark": b"\xef\xbb\xbf" + sound,
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
        "stream": b"data: " + sound + b"\n\ndata: [DONE]\n\n",
        "single-quotes": str(json.loads(sound)).encode(),
        "packed": bytes(range(256)),
    }
    for name, body in bodies.items():
        yield HostileReply(f"body-{name}", "server_fault", body)
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
    codes |= {402: "out_of_funds", 403: "unauthorised", 404: "unknown_model", 408: "timeout"}
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


def bomb(mebibytes: int) -> bytes:
    """Return gzip, a thousandth in size, of as many MiB of zeros, in one member."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    head = packer.compress(b"[") + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(b" " * 2**20) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + block * mebibytes + packer.flush()


def _encoded(name: str, encoding: bytes, body: bytes, outcome: str, sdk: str = "") -> HostileReply:
    headers = ((b"Content-Encoding", encoding),)
    return HostileReply(name, outcome, body, headers=headers, wires=("openai",), sdk_outcome=sdk)


def _encodings() -> Iterable[HostileReply]:
    sound = openai_reply()
    packed = gzip.compress(sound)
    yield _encoded("gzip", b"gzip", packed, REPLY)
    yield _encoded("deflate", b"deflate", zlib.compress(sound), REPLY)
    yield _encoded("deflate-raw", b"deflate", zlib.compress(sound)[2:-4], REPLY)
    yield _encoded("gzip-bomb", b"gzip", bomb(1024), "server_fault")
    yield _encoded("gzip-members", b"gzip", bomb(1) * 64, "server_fault")
    yield _encoded("gzip-of-gzip", b"gzip", gzip.compress(packed), "server_fault")
    yield _encoded("gzip-broken", b"gzip", packed[:20] + b"\xff\xff" + packed[22:], "server_fault")
    yield _encoded("gzip-cut", b"gzip", packed[: len(packed) // 2], "server_fault")
    yield _encoded("gzip-not-at-all", b"gzip", sound, "server_fault")
    yield _encoded("encoding-unknown", b"rot13", sound, REPLY)


def _raw(name: str, outcome: str, raw: bytes, sdk: str = "") -> HostileReply:
    return HostileReply(name, outcome, raw=raw, sdk_outcome=sdk)


def _connections() -> Iterable[HostileReply]:
    sound = openai_reply()
    head = b"HTTP/1.1 200 OK\r\n"
    close = b"Connection: close\r\n"
    sized = b"Content-Length: %d\r\n" % len(sound)
    openai = ("openai",)
    yield _raw("nothing", "unreachable", b"")
    yield _raw("half-a-status-line", "unreachable", b"HTTP/1.")
    yield _raw("half-the-headers", "unreachable", head + b"Content-Type: appl")
    yield _raw("status-line-garbage", "server_fault", b"HELLO\r\n\r\n")
    yield _raw("status-line-huge", "server_fault", b"HTTP/1.1 200 " + b"x" * 100_000 + b"\r\n\r\n")
    yield _raw("status-four-digits", "server_fault", b"HTTP/1.1 2000 OK\r\n\r\n")
    yield _raw("header-huge", "server_fault", head + b"X-A: " + b"x" * 100_000 + b"\r\n\r\n")
    yield _raw("header-nul", "server_fault", head + close + b"X-A: a\x00b\r\n\r\n" + sound)
    yield _raw("header-without-colon", "server_fault", head + b"hello\r\n\r\n")
    many = b"".join(b"X-%d: %s\r\n" % (i, b"y" * 100) for i in range(20_000))
    yield HostileReply("headers-many", "server_fault", raw=head + many + sized + b"\r\n" + sound)
    for name, value in {"negative": b"-5", "text": b"many", "huge": b"1" + b"0" * 30}.items():
        yield _raw(
            f"length-{name}", "server_fault", head + b"Content-Length: " + value + b"\r\n\r\n"
        )
    twice = head + sized + b"Content-Length: 3\r\n\r\n" + sound
    yield _raw("length-twice", "server_fault", twice)
    yield _raw("length-too-long", "unreachable", head + b"Content-Length: 99999\r\n\r\n" + sound)
    yield _raw("length-too-short", "server_fault", head + b"Content-Length: 9\r\n\r\n" + sound)
    chunked = head + b"Transfer-Encoding: chunked\r\n\r\n"
    yield _raw("chunk-size-garbage", "server_fault", chunked + b"zz\r\nabc\r\n")
    yield _raw("chunk-size-huge", "unreachable", chunked + b"ffffffff\r\nabc\r\n")
    yield _raw("chunks-cut", "unreachable", chunked + b"9\r\nabc")
    for name, extra in {
        "reason-empty": b"",
        "close": close,
        "header-not-utf-8": b"x-request-id: \xff\xfe\r\n",
        "header-cookie": b"Set-Cookie: =;=;\x01\r\n" + b"Set-Cookie: a=b; expires=never\r\n",
        "charset-unknown": b"Content-Type: application/json; charset=klingon\r\n",
        "charset-no-text": b"Content-Type: application/json; charset=hex\r\n",
        "type-picture": b"Content-Type: image/png\r\n",
        "type-garbage": b"Content-Type: ;;;=\xff\r\n",
    }.items():
        start = b"HTTP/1.1 200\r\n" if name == "reason-empty" else head
        raw = start + extra + (b"" if extra == close else close) + sized + b"\r\n" + sound
        yield HostileReply(name, REPLY, raw=raw, wires=openai)
    reason = b"HTTP/1.1 200 \xff\xfe\r\n" + close + sized + b"\r\n" + sound
    yield HostileReply(
        "reason-not-utf-8", REPLY, raw=reason, wires=openai, sdk_outcome="server_fault"
    )
    yield HostileReply("no-length", REPLY, raw=head + b"\r\n" + sound, wires=openai)
    for name in ("charset=hex", "charset=klingon"):
        header = (b"Content-Type", b"application/json; " + name.encode())
        yield HostileReply(f"error-{name}", "bad_request", b'{"error": "a"}', 400, (header,))
    continued = b"HTTP/1.1 100 Continue\r\n\r\n" + head + close + sized + b"\r\n" + sound
    yield HostileReply("continued", REPLY, raw=continued, wires=openai)
    yield _raw(
        "switching",
        "bad_request",
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    )
    more = head + sized + b"\r\n" + sound + b"HTTP/1.1 500 More\r\n\r\n"
    yield HostileReply("two-answers", REPLY, raw=more, wires=openai)


def _table() -> dict[str, HostileReply]:
    sources = (_usages, _odd_fields, _choices, _texts, _bodies, _errors_in_a_success, _errors)
    replies = [reply for source in (*sources, _encodings, _connections) for reply in source()]
    replies.append(_openai("sound", openai_reply()))
    replies.append(_anthropic("anthropic-sound", anthropic_reply()))
    table = {reply.name: reply for reply in replies}
    assert len(table) == len(replies), "two entries have one name"
    return table


HOSTILE = _table()
"""Every reply by its name."""
