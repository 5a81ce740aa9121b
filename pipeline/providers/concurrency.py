"""How many requests may fly at once, found out from how long they take.

The number doubles as long as that brings more throughput. A server that works at a few requests
together only makes the others wait: then it goes back to half. By Little's law the throughput of a
full window is its places divided by the mean latency. Everything is a function of what was
measured; nothing waits here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

GAIN = 1.25
"""Twice the places have to bring at least so much more throughput."""
KEPT = 0.9
"""Half the places have to keep at least so much of it."""
GROWN = 2.0
"""A latency that has grown so much at the same number of places asks for fewer."""
FIRST_HOLD = 4
LONGEST_HOLD = 64
"""Rounds that a number is kept before more is tried again; twice as many after each failure."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A place as it was taken: its number, and the round it was taken in."""

    number: int
    round: int


@dataclass(frozen=True, slots=True)
class _Measured:
    places: int
    latency_s: float

    @property
    def per_second(self) -> float:
        return self.places / self.latency_s


class ConcurrencyWindow:
    """The number of concurrent places at one model."""

    def __init__(self, ceiling: int, begin_with: int | None = None) -> None:
        """Begin with so many places, or with all of them (None), and never have more than all."""
        self.places = ceiling if begin_with is None else min(begin_with, ceiling)
        self._ceiling = ceiling
        self._adapts = self.places < ceiling
        self._seats = 0
        self._last_full = 0
        """Number of the last seat that was the last one free."""
        self._round = 0
        self._latencies: list[float] = []
        self._trying: Literal["more", "fewer", "nothing"] = "more"
        self._before: _Measured | None = None
        """What was measured before the last change."""
        self._has_grown = False
        self._hold = 0
        self._next_hold = FIRST_HOLD

    def seat(self, flying: int) -> Seat:
        """Take a place; ``flying`` counts those that are taken, this one included."""
        self._seats += 1
        if flying >= self.places:
            self._last_full = self._seats
        return Seat(self._seats, self._round)

    def answered(self, seat: Seat, latency_s: float) -> None:
        """Take in how long a request took; only those count that flew when all places were taken."""
        if not self._adapts or seat.round != self._round or self._last_full < seat.number:
            return
        self._latencies.append(max(latency_s, 1e-6))
        if len(self._latencies) >= max(self.places, 4):
            mean_s = sum(self._latencies) / len(self._latencies)
            self._latencies.clear()
            self._measured(_Measured(self.places, mean_s))

    def timed_out(self, seat: Seat) -> None:
        """Take in that a request was not answered in time: too many wait for the server."""
        if self._adapts and seat.round == self._round and self.places > 1:
            self._settle(self.places // 2)

    def _measured(self, now: _Measured) -> None:
        before = self._before
        if self._trying == "more":
            if before is not None and now.per_second < GAIN * before.per_second:
                self._settle(before.places)
            elif self.places < self._ceiling:
                self._try("more", min(2 * self.places, self._ceiling), now)
            else:
                self._settle(self.places)
        elif self._trying == "fewer" and before is not None:
            kept = now.per_second >= KEPT * before.per_second
            self._settle(self.places if kept else before.places)
        elif before is None:
            self._before = now
        elif now.latency_s > GROWN * before.latency_s and self.places > 1:
            # The first such round began while it was still faster: the second one tells.
            if self._has_grown:
                self._try("fewer", self.places // 2, now)
            self._has_grown = not self._has_grown
        else:
            self._has_grown = False
            self._hold -= 1
            if self._hold <= 0 and self.places < self._ceiling:
                self._try("more", min(2 * self.places, self._ceiling), now)

    def _try(self, what: Literal["more", "fewer"], places: int, before: _Measured) -> None:
        self._trying, self._before = what, before
        self._change(places)

    def _settle(self, places: int) -> None:
        self._trying, self._before = "nothing", None
        self._hold, self._next_hold = self._next_hold, min(2 * self._next_hold, LONGEST_HOLD)
        self._change(places)

    def _change(self, places: int) -> None:
        self.places = places
        self._round += 1
        self._latencies.clear()
