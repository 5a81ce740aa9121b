"""One-time links, session tokens and form tokens."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from typing import Generic, TypeVar

Role = TypeVar("Role", bound=str)
LASTS_S = 14 * 24 * 3600.0
"""A session ends after this many seconds."""


def new_token() -> str:
    """Return 256 random bits as text."""
    return secrets.token_urlsafe(32)


def next_token(session: str) -> str:
    """Return the token of a session that follows another one in the same browser."""
    return f"{new_token()}.{first_session(session)}"


def first_session(session: str) -> str:
    """Return what the sessions that follow each other have in common: a hash of the first token."""
    _, follows, first = session.partition(".")
    return first if follows else digest(session).hex()


def form_token(session: str) -> str:
    """Return what every form of a session carries; it cannot be made without the cookie."""
    return hmac.new(session.encode(), b"hipo review form", hashlib.sha256).hexdigest()


def is_form_token(session: str, token: str) -> bool:
    """Whether a form was made for this session."""
    return hmac.compare_digest(form_token(session).encode(), token.encode())


class Links(Generic[Role]):
    """Links that let one browser in each; they live as long as the server."""

    def __init__(self, announce: Callable[[Role, str], None]) -> None:
        """Call ``announce(role, token)`` with a fresh link whenever one has been used."""
        self._announce = announce
        self._unused: dict[bytes, Role] = {}

    def mint(self, role: Role) -> str:
        """Return the token of a new link."""
        token = new_token()
        self._unused[digest(token)] = role
        return token

    def spend(self, token: str) -> Role | None:
        """Use a link up; None where it is unknown or has been used."""
        role = self._unused.pop(digest(token), None)
        if role is not None:
            self._announce(role, self.mint(role))
        return role


def digest(token: str) -> bytes:
    """Return what is remembered of a token."""
    # Looking a hash up does not tell by its timing how much of a guess was right.
    return hashlib.sha256(token.encode()).digest()
