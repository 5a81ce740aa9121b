"""Under which key an answer is remembered: the hash of everything that decides it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from pipeline.endpoint import Endpoint
from prompts.prompt import Rendered
from prompts.responses import ResponseFormat
from scenarios.fingerprint import canonical_json

STARTS_REMEMBERED = 256


class CallKeys:
    """Makes the fingerprints of one client's calls."""

    def __init__(self, endpoints: Mapping[str, Endpoint]) -> None:
        """Take the endpoint of each role."""
        self._endpoints = endpoints
        self._starts: dict[tuple[str, int, str], tuple[object, Any]] = {}

    def fingerprint(
        self, prompt: Rendered, fmt: ResponseFormat[Any], role: str, seed: int
    ) -> bytes:
        """Hash everything that decides an answer except its sample and epoch.

        Endpoint, schema and first message are the same in thousands of calls: hashed once.
        """
        first, *others = prompt.messages
        key = (role, id(fmt), first.content)
        start = self._starts.get(key)
        if start is None:
            digest = hashlib.sha256(
                canonical_json([self._endpoints[role].identity(), dict(fmt.schema)])
            )
            _add_message(digest, first.role, first.content)
            if len(self._starts) >= STARTS_REMEMBERED:
                self._starts.clear()
            # Keeping the format alive keeps its id from being given to another one.
            start = self._starts[key] = (fmt, digest)
        digest = start[1].copy()
        for message in others:
            _add_message(digest, message.role, message.content)
        digest.update(b"\nseed %d" % seed)
        fingerprint: bytes = digest.digest()
        return fingerprint


def _add_message(digest: Any, role: str, content: str) -> None:
    """Hash one message after its length, so that no text can pass for two messages."""
    encoded = content.encode()
    digest.update(b"\n%s %d\n" % (role.encode(), len(encoded)))
    digest.update(encoded)
