"""One-time links, session tokens, form tokens, and throttling of logins."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import defaultdict
from collections.abc import Callable

from scenarios.reviews import PersonRole

LASTS_S = 14 * 24 * 3600.0
"""A session ends after this many seconds."""
TRIES = 8
"""Wrong passwords allowed per name and address within ``WINDOW_S``."""
WINDOW_S = 300.0


def new_token() -> str:
    """Return 256 random bits as text."""
    return secrets.token_urlsafe(32)


def form_token(session: str) -> str:
    """Return what every form of a session carries; it cannot be made without the cookie."""
    return hmac.new(session.encode(), b"hipo review form", hashlib.sha256).hexdigest()


def is_form_token(session: str, token: str) -> bool:
    """Whether a form was made for this session."""
    return hmac.compare_digest(form_token(session).encode(), token.encode())


class Links:
    """Links that let one browser in each; they live as long as the server."""

    def __init__(self, announce: Callable[[PersonRole, str], None]) -> None:
        """Call ``announce(role, token)`` with a fresh link whenever one has been used."""
        self._announce = announce
        self._unused: dict[bytes, PersonRole] = {}

    def mint(self, role: PersonRole) -> str:
        """Return the token of a new link."""
        token = new_token()
        self._unused[_digest(token)] = role
        return token

    def spend(self, token: str) -> PersonRole | None:
        """Use a link up; None where it is unknown or has been used."""
        role = self._unused.pop(_digest(token), None)
        if role is not None:
            self._announce(role, self.mint(role))
        return role


class LoginThrottle:
    """Counts wrong passwords by whatever key is guessed at, and says when it has had enough."""

    def __init__(self, *, tries: int = TRIES, window_s: float = WINDOW_S) -> None:
        """Allow ``tries`` failures in ``window_s`` seconds."""
        self._tries = tries
        self._window_s = window_s
        self._failures: defaultdict[str, list[float]] = defaultdict(list)

    def is_over(self, *keys: str) -> bool:
        """Whether any of the keys has failed too often of late."""
        since = time.monotonic() - self._window_s
        for key in keys:
            recent = [at for at in self._failures.get(key, ()) if at > since]
            if len(recent) >= self._tries:
                return True
        return False

    def failed(self, *keys: str) -> None:
        """Count a failure for every key."""
        now = time.monotonic()
        if len(self._failures) > 10_000:
            self._failures.clear()
        for key in keys:
            kept = [at for at in self._failures[key] if at > now - self._window_s]
            self._failures[key] = [*kept, now]


def _digest(token: str) -> bytes:
    # Looking a hash up does not tell by its timing how much of a guess was right.
    return hashlib.sha256(token.encode()).digest()
