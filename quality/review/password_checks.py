"""Check the passwords and return codes of strangers: counted, slowed down, a few at a time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Literal, TypeVar

from quality.review.login_throttle import LoginThrottle
from quality.review.passwords import hashed, matches

AT_ONCE = 2
"""Hashes computed at the same time; each takes 32 MiB and a processor."""
MOST_WAITING = 64
MOST_OF_AN_ORIGIN = 16
"""Requests of one origin that are waiting, so that it cannot fill the queue alone."""

T = TypeVar("T")
Refusal = Literal["too many", "busy"]


class AttemptRefused(Exception):
    """An attempt was not looked at."""

    def __init__(self, why: Refusal) -> None:
        """Say why: too many were wrong before, or too many are waiting."""
        super().__init__(why)
        self.why = why


class PasswordChecks:
    """Computes the hashes of the review page; its memory is bounded whoever asks for how many."""

    def __init__(
        self,
        throttle: LoginThrottle | None = None,
        *,
        compare: Callable[[str, str], bool] = matches,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Count attempts with ``throttle``, compare with ``compare`` and wait with ``sleep``."""
        self._throttle = throttle or LoginThrottle()
        self._compare = compare
        self._sleep = sleep
        self._places = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0
        self._of_origin: Counter[str] = Counter()

    async def fits(self, secret: str, stored: str, *, account: str, origin: str) -> bool:
        """Whether a secret is the one that was hashed.

        The attempt is counted before anything is awaited, so that guesses sent all at once are
        counted like guesses sent one by one; it is given back if it was right.

        Args:
            secret: what was sent.
            stored: the hash; for an unknown account one that nothing fits.
            account: what is guessed at.
            origin: who guesses.

        Raises:
            AttemptRefused: there were too many, or too many are waiting.
        """
        if not self._throttle.begin(account, origin):
            raise AttemptRefused("too many")
        try:
            with self._place_of(origin):
                await self._sleep(self._throttle.pause_s(account, origin))
                right = await self._computed(lambda: self._compare(secret, stored))
        except AttemptRefused:
            self._throttle.take_back(account, origin)
            raise
        if right:
            self._throttle.take_back(account, origin)
        return right

    async def hash_of(self, secret: str, *, origin: str) -> str:
        """Return the hash of a new secret.

        Raises:
            AttemptRefused: too many are waiting.
        """
        with self._place_of(origin):
            return await self._computed(lambda: hashed(secret))

    @contextmanager
    def _place_of(self, origin: str) -> Iterator[None]:
        if self._of_origin[origin] >= MOST_OF_AN_ORIGIN:
            raise AttemptRefused("busy")
        self._of_origin[origin] += 1
        try:
            yield
        finally:
            self._of_origin[origin] -= 1
            if not self._of_origin[origin]:
                del self._of_origin[origin]

    async def _computed(self, compute: Callable[[], T]) -> T:
        if self._waiting >= MOST_WAITING:
            raise AttemptRefused("busy")
        self._waiting += 1
        try:
            async with self._places:
                return await asyncio.to_thread(compute)
        finally:
            self._waiting -= 1
