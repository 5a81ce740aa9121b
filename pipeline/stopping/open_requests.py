"""What has been sent and not answered yet: how many requests, for how long, for how long at most."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OpenSummary:
    """The requests that are open at one moment."""

    count: int
    longest_s: float
    """Seconds since the oldest of them was sent."""
    left_s: float
    """Seconds until the last of them will have run into its time limit."""


class OpenRequests:
    """A register of the requests that are being waited for."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with none; ``clock`` returns seconds."""
        self._clock = clock
        self._opened = 0
        self._open: dict[int, tuple[float, float]] = {}

    def begin(self, timeout_s: float) -> int:
        """Put a request into the register, for ``timeout_s`` seconds at most; return its number."""
        self._opened += 1
        now = self._clock()
        self._open[self._opened] = (now, now + timeout_s)
        return self._opened

    def end(self, number: int) -> None:
        """Take a request out of the register."""
        del self._open[number]

    @property
    def count(self) -> int:
        """How many are open."""
        return len(self._open)

    def summary(self) -> OpenSummary:
        """Return how many are open, and for how long."""
        now = self._clock()
        longest = max((now - began for began, _ in self._open.values()), default=0.0)
        left = max((ends - now for _, ends in self._open.values()), default=0.0)
        return OpenSummary(len(self._open), longest, max(0.0, left))
