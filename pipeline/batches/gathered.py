"""What is gathered for one model, what of it is under way, and what earlier processes have left."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from pipeline.batches.journey import Journey, WaitingRequest
from pipeline.batches.surroundings import Surroundings
from pipeline.providers.errors import ProviderError
from pipeline.spending.budget import Reservation
from pipeline.stopping.stop import Stopped


@dataclass(slots=True)
class Left:
    """A request of an earlier process that nobody has asked for again yet."""

    journey: Journey
    place: int
    row: int
    """Number of its durable reservation."""
    reservation: Reservation


@dataclass(slots=True)
class Queue:
    """What is asked of one model."""

    around: Surroundings
    gathered: list[WaitingRequest] = field(default_factory=list)
    oldest: float = 0.0
    """When the first of them came."""
    under_way: set[Journey] = field(default_factory=set)
    """Batches that have not ended."""
    left: dict[bytes, list[Left]] = field(default_factory=dict)
    claimed: dict[int, WaitingRequest] = field(default_factory=dict)
    """By number of their reservation: requests that are left from before and asked for again."""
    most: int = 0
    """Requests in a batch; 0: as many as the rules allow."""
    rests_until: float | None = None
    """The provider had no room: batches go one after the other, the next not before this time."""
    no_room_since: float | None = None
    """Since when it had none, not even for a single request."""

    def too_large(self, count: int, error: ProviderError, rest_s: float) -> None:
        """Rest, then send half as much; have the run leave where one request waits for too long."""
        calls = self.around.calls
        self.most = max(1, count // 2)
        self.rests_until = calls.clock() + rest_s
        if count == 1:
            with suppress(Stopped):  # whoever waits learns it from the stop of the run
                self.no_room_since = calls.leave_if_late(self.no_room_since, error)

    def fitted(self) -> None:
        """Send twice as much next time, where there was no room before."""
        self.most, self.no_room_since = 2 * self.most, None
