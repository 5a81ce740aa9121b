"""Replies that are wrong below their JSON: how they are packed, and the bytes on the wire."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable

from tests.wire.hostile_reply import REPLY, HostileReply, openai_reply

HEAD = b"HTTP/1.1 200 OK\r\n"
CLOSE = b"Connection: close\r\n"


def bomb(mebibytes: int) -> bytes:
    """Return gzip, a thousandth in size, of as many MiB of zeros, in one member."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    head = packer.compress(b"[") + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(b" " * 2**20) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + block * mebibytes + packer.flush()


def _encoded(name: str, encoding: bytes, body: bytes, outcome: str) -> HostileReply:
    headers = ((b"Content-Encoding", encoding),)
    return HostileReply(name, outcome, body, headers=headers, wires=("openai",))


def encodings() -> Iterable[HostileReply]:
    """Yield replies that are packed, or said to be."""
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


def _raw(name: str, outcome: str, raw: bytes) -> HostileReply:
    return HostileReply(name, outcome, raw=raw)


def broken_connections() -> Iterable[HostileReply]:
    """Yield replies that are wrong in status line, headers or length, or break off."""
    sound = openai_reply()
    sized = b"Content-Length: %d\r\n" % len(sound)
    yield _raw("nothing", "unreachable", b"")
    yield _raw("half-a-status-line", "unreachable", b"HTTP/1.")
    yield _raw("half-the-headers", "unreachable", HEAD + b"Content-Type: appl")
    yield _raw("status-line-garbage", "server_fault", b"HELLO\r\n\r\n")
    yield _raw("status-line-huge", "server_fault", b"HTTP/1.1 200 " + b"x" * 100_000 + b"\r\n\r\n")
    yield _raw("status-four-digits", "server_fault", b"HTTP/1.1 2000 OK\r\n\r\n")
    yield _raw("header-huge", "server_fault", HEAD + b"X-A: " + b"x" * 100_000 + b"\r\n\r\n")
    yield _raw("header-nul", "server_fault", HEAD + CLOSE + b"X-A: a\x00b\r\n\r\n" + sound)
    yield _raw("header-without-colon", "server_fault", HEAD + b"hello\r\n\r\n")
    many = b"".join(b"X-%d: %s\r\n" % (i, b"y" * 100) for i in range(20_000))
    yield HostileReply("headers-many", "server_fault", raw=HEAD + many + sized + b"\r\n" + sound)
    for name, value in {"negative": b"-5", "text": b"many", "huge": b"1" + b"0" * 30}.items():
        yield _raw(
            f"length-{name}", "server_fault", HEAD + b"Content-Length: " + value + b"\r\n\r\n"
        )
    twice = HEAD + sized + b"Content-Length: 3\r\n\r\n" + sound
    yield _raw("length-twice", "server_fault", twice)
    yield _raw("length-too-long", "unreachable", HEAD + b"Content-Length: 99999\r\n\r\n" + sound)
    yield _raw("length-too-short", "server_fault", HEAD + b"Content-Length: 9\r\n\r\n" + sound)
    chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    yield _raw("chunk-size-garbage", "server_fault", chunked + b"zz\r\nabc\r\n")
    yield _raw("chunk-size-huge", "unreachable", chunked + b"ffffffff\r\nabc\r\n")
    yield _raw("chunks-cut", "unreachable", chunked + b"9\r\nabc")


def odd_connections() -> Iterable[HostileReply]:
    """Yield replies that are whole, with something odd around them."""
    sound, openai = openai_reply(), ("openai",)
    sized = b"Content-Length: %d\r\n" % len(sound)
    for name, extra in {
        "reason-empty": b"",
        "close": CLOSE,
        "header-not-utf-8": b"x-request-id: \xff\xfe\r\n",
        "header-cookie": b"Set-Cookie: =;=;\x01\r\n" + b"Set-Cookie: a=b; expires=never\r\n",
        "charset-unknown": b"Content-Type: application/json; charset=klingon\r\n",
        "charset-no-text": b"Content-Type: application/json; charset=hex\r\n",
        "type-picture": b"Content-Type: image/png\r\n",
        "type-garbage": b"Content-Type: ;;;=\xff\r\n",
    }.items():
        start = b"HTTP/1.1 200\r\n" if name == "reason-empty" else HEAD
        raw = start + extra + (b"" if extra == CLOSE else CLOSE) + sized + b"\r\n" + sound
        yield HostileReply(name, REPLY, raw=raw, wires=openai)
    reason = b"HTTP/1.1 200 \xff\xfe\r\n" + CLOSE + sized + b"\r\n" + sound
    yield HostileReply("reason-not-utf-8", REPLY, raw=reason, wires=openai)
    yield HostileReply("no-length", REPLY, raw=HEAD + b"\r\n" + sound, wires=openai)
    for name in ("charset=hex", "charset=klingon"):
        header = (b"Content-Type", b"application/json; " + name.encode())
        yield HostileReply(f"error-{name}", "bad_request", b'{"error": "a"}', 400, (header,))
    continued = b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + CLOSE + sized + b"\r\n" + sound
    yield HostileReply("continued", REPLY, raw=continued, wires=openai)
    yield _raw(
        "switching",
        "bad_request",
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    )
    more = HEAD + sized + b"\r\n" + sound + b"HTTP/1.1 500 More\r\n\r\n"
    yield HostileReply("two-answers", REPLY, raw=more, wires=openai)
