"""Canonical JSON and the content hashes made from it."""

from __future__ import annotations

import hashlib
from typing import Final

import orjson

SEEDS: Final = 2**31
"""Seeds lie below this: some endpoints take no larger number."""


def canonical_json(value: object) -> bytes:
    """Serialise plain data (dicts, lists, strings, numbers, None) with sorted keys, UTF-8.

    Raises:
        TypeError: the value holds something that is not plain JSON data.
    """
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def fingerprint(value: object) -> str:
    """Return the SHA-256 of the canonical JSON of ``value``, 64 hex digits."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def content_id(value: object) -> str:
    """Return a short content id: the first 20 hex digits (80 bits) of :func:`fingerprint`."""
    return fingerprint(value)[:20]


def seed_from(*parts: str | int) -> int:
    """Derive a reproducible seed below :data:`SEEDS` from the given parts."""
    return int(fingerprint(list(parts))[:8], 16) % SEEDS


def text_hash(text: str) -> int:
    """Return a number below 2**64 that follows from a text, evenly spread; much quicker than a seed."""
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big")
