"""How many dialogues are alive at once: as many as keep the places of all models taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pipeline.providers.rate_limiter import RateLimiters

ALIVE = 2
"""Dialogues alive per request allowed in flight. Some wait for a commit, an embedding or the first
call of a role; the others take a place as soon as it is free, and while the last dialogues of a run
end there are still enough of them. Places that are found out only grow while all of them are taken."""
FEWEST = 8
"""Dialogues alive before any model was asked."""
MOST = 1280
"""Dialogues alive at most while the number of places is found out."""


class Width(Protocol):
    """A number of workers that may change."""

    def now(self) -> int:
        """Return how many there may be at the moment, at least 1."""

    def watch(self, changed: Callable[[], None] | None) -> None:
        """Have ``changed`` called when there may be more; None ends it."""


class FixedWidth:
    """A number of workers that stays."""

    def __init__(self, width: int) -> None:
        """Keep to ``width``.

        Raises:
            ValueError: fewer than one worker.
        """
        if width < 1:
            raise ValueError(f"an executor needs at least 1 worker, got {width}")
        self._width = width

    def now(self) -> int:
        """Return the number."""
        return self._width

    def watch(self, changed: Callable[[], None] | None) -> None:
        """Do nothing: it never changes."""


class FollowingWidth:
    """A number of workers that follows the places at all the models that were asked so far."""

    def __init__(self, limiters: RateLimiters) -> None:
        """Follow the places of ``limiters``."""
        self._limiters = limiters

    def now(self) -> int:
        """Return how many workers keep all places taken."""
        wanted = ALIVE * sum(limiter.places for limiter in self._limiters.all())
        return min(max(wanted, FEWEST), MOST)

    def watch(self, changed: Callable[[], None] | None) -> None:
        """Have ``changed`` called when places were added; None ends it."""
        self._limiters.watch(changed)
