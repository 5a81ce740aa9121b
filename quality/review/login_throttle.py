"""How often passwords may be guessed: counts of attempts, by account and by where they come from."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from functools import partial

TRIES = 8
"""Wrong passwords of one account from one origin within ``WINDOW_S``."""
WINDOW_S = 300.0
UNSLOWED = 16
"""Attempts on one account (from anywhere), or of one origin (on any), before the next ones wait."""
LONGEST_PAUSE_S = 3.0
_PAUSE_PER_ATTEMPT_S = 0.1
MOST_KEYS = 20_000
"""More than can be added within ``WINDOW_S``: every attempt costs a hash, 60 ms of a processor, and
not more than two are computed at a time. So nobody can flood the counts to have theirs forgotten."""

Clock = Callable[[], float]


class RecentCounts:
    """How often each key was counted within a window; those longest untouched are forgotten."""

    def __init__(self, *, window_s: float, most_keys: int, most_each: int, clock: Clock) -> None:
        """Hold at most ``most_keys`` keys and, for each, its last ``most_each`` times."""
        self._window_s = window_s
        self._most_keys = most_keys
        self._most_each = most_each
        self._clock = clock
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def __len__(self) -> int:
        """Return how many keys are held."""
        return len(self._times)

    def add(self, key: str) -> None:
        """Count a key once more."""
        self._forget_old()
        self._times.setdefault(key, deque(maxlen=self._most_each)).append(self._clock())
        self._times.move_to_end(key)
        if len(self._times) > self._most_keys:
            self._times.popitem(last=False)

    def take_back(self, key: str) -> None:
        """Count a key once less."""
        times = self._times.get(key)
        if times:
            times.pop()
        if not times:
            self._times.pop(key, None)

    def count(self, key: str) -> int:
        """Return how often a key was counted within the window."""
        since = self._clock() - self._window_s
        return sum(at > since for at in self._times.get(key, ()))

    def _forget_old(self) -> None:
        since = self._clock() - self._window_s
        while self._times:
            key, times = next(iter(self._times.items()))
            if times and times[-1] > since:
                return
            del self._times[key]


class LoginThrottle:
    """Refuses guesses of one origin at one account, and slows down what goes on from many.

    Only the origin that guesses at an account is ever refused, and only for that account: a right
    password from an address that has not failed gets in, whatever others do. What is counted by
    account or by origin alone only makes attempts wait, at most ``LONGEST_PAUSE_S``.
    """

    def __init__(
        self,
        *,
        most_keys: int = MOST_KEYS,
        clock: Clock = time.monotonic,
    ) -> None:
        """Allow ``TRIES`` failures of an origin at an account in ``WINDOW_S`` seconds."""
        counts = partial(RecentCounts, window_s=WINDOW_S, most_keys=most_keys, clock=clock)
        self._pairs = counts(most_each=TRIES)
        self._sides = counts(most_each=64)

    def begin(self, account: str, origin: str) -> bool:
        """Count an attempt before anything is known of it; False where there were too many."""
        pair = _pair(account, origin)
        if self._pairs.count(pair) >= TRIES:
            return False
        self._pairs.add(pair)
        for side in _sides(account, origin):
            self._sides.add(side)
        return True

    def take_back(self, account: str, origin: str) -> None:
        """Forget an attempt that turned out right, or was never made."""
        self._pairs.take_back(_pair(account, origin))
        for side in _sides(account, origin):
            self._sides.take_back(side)

    def pause_s(self, account: str, origin: str) -> float:
        """Return how long an attempt that has begun has to wait."""
        most = max(self._sides.count(side) for side in _sides(account, origin))
        return min(LONGEST_PAUSE_S, _PAUSE_PER_ATTEMPT_S * max(0, most - UNSLOWED))


def _pair(account: str, origin: str) -> str:
    return f"{origin}\n{account}"  # an origin has no line break


def _sides(account: str, origin: str) -> tuple[str, str]:
    return f"account {account}", f"origin {origin}"
