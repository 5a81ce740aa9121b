"""What endpoints a run waits for at the moment, and how long it has waited for any in all."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wait:
    """An outage that is not over."""

    what: str
    """What is wrong, e.g. ``no connection to http://127.0.0.1:8000/v1``."""
    seconds: float
    """How long it has been."""


class AwaitedEndpoints:
    """A register of the outages that people were told of."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with none; ``clock`` returns seconds."""
        self.over = 0
        """How many outages have ended."""
        self._clock = clock
        self._since: dict[str, float] = {}
        self._began = 0.0
        self._waited_s = 0.0

    def begin(self, what: str, seconds: float) -> None:
        """Note an outage that has been for so many seconds."""
        since = self._clock() - seconds
        if not self._since:
            self._began = since
        self._since[what] = since

    def end(self, what: str) -> None:
        """Note that an outage is over."""
        if self._since.pop(what, None) is None:
            return
        self.over += 1
        if not self._since:
            self._waited_s += self._clock() - self._began

    @property
    def longest(self) -> Wait | None:
        """The outage that has been for longest; None where all endpoints serve."""
        waits = tuple(self._since.items())  # threads that show progress ask, too
        if not waits:
            return None
        what, since = min(waits, key=lambda wait: wait[1])
        return Wait(what, self._clock() - since)

    @property
    def waited_s(self) -> float:
        """Seconds in which any endpoint was away."""
        return self._waited_s + (self._clock() - self._began if self._since else 0.0)
