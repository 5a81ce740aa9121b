"""Hash and check passwords and return codes with scrypt."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

_N, _R, _P = 2**15, 8, 1
_MEMORY = 64 * 1024 * 1024
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
"""Without letters and digits that are taken for one another."""

LEAST = 10
"""Fewest characters of a password."""


def hashed(secret: str) -> str:
    """Return ``scrypt$n$r$p$salt$hash`` of a secret; about 60 ms and 32 MiB."""
    salt = secrets.token_bytes(16)
    return "$".join(
        ["scrypt", str(_N), str(_R), str(_P), _text(salt), _text(_scrypt(secret, salt, _N, _R, _P))]
    )


def matches(secret: str, stored: str) -> bool:
    """Whether a secret is the one that was hashed; takes as long for a wrong one."""
    try:
        kind, n, r, p, salt, expected = stored.split("$")
        if kind != "scrypt":
            return False
        digest = _scrypt(secret, base64.b64decode(salt), int(n), int(r), int(p))
        return hmac.compare_digest(digest, base64.b64decode(expected))
    except ValueError:
        return False


def return_code() -> str:
    """Return a fresh code of 12 characters (59 bits) that people can copy by hand."""
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(12))
    return f"{letters[:4]}-{letters[4:8]}-{letters[8:]}"


def _scrypt(secret: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    return hashlib.scrypt(secret.encode(), salt=salt, n=n, r=r, p=p, maxmem=_MEMORY, dklen=32)


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()
