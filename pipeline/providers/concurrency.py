"""How many requests may fly at once, found out from how fast they are answered.

The number doubles with every round trip as long as latency does not grow. Where it grows, the
server may make the rest wait in a queue (vLLM, llama.cpp and others never refuse), and a cycle of
measurements finds the knee: more places than are kept show the most throughput there is, fewer show
what each place brings without a queue, and the one divided by the other is the number of places
that the server works at. This is the idea of BBR (Cardwell et al. 2016, "Congestion-Based Congestion
Control"), but all measurements of a cycle are neighbours in time: a server whose speed changes
leaves no minimum behind that is long past. Everything is a function of the events and their times;
nothing waits here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from scenarios.quick_records import quickly_made

AUTO_CEILING = 1024
"""The most requests in flight per model that are found out to be of use: one process carries no more
calls a second than they bring, and the dialogues that wait for them fit into a laptop's memory."""
CLIMB, PROBE, DIP, DEEPER = 2.0, 1.5, 0.8, 0.6
"""How many times the places are tried while latency does not grow, to see later on whether more
bring more, to see what a place brings without a queue, and while there still is one."""
SHORT = 1.67
"""So much longer latencies may become by doubling the places: throughput grows by a fifth."""
ROOM = 1.1
"""Places per request that the server works at: none of its slots waits for a reply to travel."""
SATURATED = 0.95
"""Fewer places that bring such a share of the most throughput still have a queue."""
KEPT = 0.9
"""Share of the most throughput that is never given away for a shorter queue."""
SLOWER = 1.5
"""A throughput that has fallen so much at the same number of places asks for a new cycle."""
LONGEST = 10.0
"""A latency counts at most as so many medians: some have tails without a mean."""
LEAST = 32
LEAST_EACH = 4
"""Answers that a throughput is measured over: the former, but as many as there are places, and fewer
for one or two places, which would keep a server from its work for long: 4 and 16."""
QUICK = 4
"""Answers that show that latency has not grown, or half as many as there are places."""
FIRST_HOLD = 4
LONGEST_HOLD = 32
"""Rounds that a number is kept before more is tried again; twice as many after each time."""

Phase = Literal["climb", "probe", "dip", "check", "hold"]


@dataclass(frozen=True, slots=True)
class Places:
    """Concurrent places at one model."""

    most: int
    begin_with: int | None = None
    """How many to begin with and to find out from; None: with the most, for good."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Seat:
    """A place as it was taken: its number, and the round it was taken in."""

    number: int
    round: int


@dataclass(frozen=True, slots=True)
class _Throughput:
    places: int
    per_second: float
    latency_s: float
    """Median."""


@dataclass(slots=True)
class _PlacesRound:
    """What has been measured since the number of places changed."""

    places: int
    early: list[float] = field(default_factory=list)
    """Latencies of the first of its own requests: others flew beside them."""
    latencies: list[float] = field(default_factory=list)
    """Of all requests that ended afterwards: those of earlier rounds are the long ones."""
    lost: int = 0
    """Requests that were not answered in time."""
    late_lost: int = 0
    """Those among ``latencies``."""

    @property
    def is_swamped(self) -> bool:
        """Whether most requests are not answered in time."""
        ended = len(self.early) + len(self.latencies)
        return 2 * self.lost > ended >= max(self.places // 2, QUICK)

    def end(self, latency_s: float, *, is_own: bool, lost: bool) -> None:
        """Take in the end of a request."""
        self.lost += lost
        if len(self.early) >= self.places:
            self.latencies.append(latency_s)
            self.late_lost += lost
        elif is_own:
            self.early.append(latency_s)

    def throughput(self, least: int) -> _Throughput | None:
        """Return what was measured, once it is enough, by Little's law."""
        count = len(self.latencies)
        if count < max(self.places, least):
            return None
        usual_s = median(self.latencies)
        longest_s = LONGEST * usual_s
        mean_s = max(sum(min(latency, longest_s) for latency in self.latencies) / count, 1e-6)
        answered = 1.0 - self.late_lost / count
        return _Throughput(self.places, self.places * answered / mean_s, usual_s)


class ConcurrencyWindow:
    """The number of concurrent places at one model."""

    def __init__(self, ceiling: int, begin_with: int | None = None) -> None:
        """Begin with so many places, or with all of them (None), and never have more than all."""
        self.places = ceiling if begin_with is None else min(begin_with, ceiling)
        self._begun_with = self.places
        self._ceiling = ceiling
        self.adapts = self.places < ceiling
        """Whether the number of places is found out."""
        self._seats = 0
        self._last_full = 0
        """Number of the last seat that was the last one free."""
        self._numbered = 0
        """How often the number of places has changed."""
        self._phase: Phase = "climb"
        self._round = _PlacesRound(self.places)
        self._kept = self.places
        """The places before more were tried."""
        self._latency_s: float | None = None
        """The median latency with the places before."""
        self._alone_s: float | None = None
        """The shortest median latency of a climb."""
        self._top: _Throughput | None = None
        """The most throughput of this cycle."""
        self._usual: float | None = None
        """The throughput with the number that is kept."""
        self._is_slower = False
        self._hold = 0
        self._next_hold = FIRST_HOLD
        self._peak = 0
        self._peak_began = 1

    def seat(self, flying: int) -> Seat:
        """Take a place; ``flying`` counts those that are taken, this one included."""
        self._seats += 1
        if flying >= self.places:
            self._last_full = self._seats
        if self.adapts:
            self._watch_use(flying)
        return Seat(self._seats, self._numbered)

    def answered(self, seat: Seat, latency_s: float) -> None:
        """Take in how long a request took."""
        self._end(seat, latency_s, lost=False)

    def timed_out(self, seat: Seat, latency_s: float) -> None:
        """Take in that a request was not answered in time, and how long that was."""
        self._end(seat, latency_s, lost=True)

    def _end(self, seat: Seat, latency_s: float, *, lost: bool) -> None:
        if not self.adapts:
            return
        if self._last_full < seat.number:  # others would have had room: it says nothing
            self._round = _PlacesRound(self.places)
            return
        is_own = seat.round == self._numbered
        self._round.end(latency_s, is_own=is_own, lost=lost)
        if self._round.is_swamped and self.places > 1:
            self._next_hold = FIRST_HOLD
            self._keep(self.places // 2, None)
            return
        if self._phase == "climb" and self._goes_on():
            return
        least = LEAST if self._phase == "hold" else min(LEAST, LEAST_EACH * self.places**2)
        seen = self._round.throughput(least)
        if seen is None:
            return
        if self._phase in {"climb", "probe"}:
            self._dip(seen)
        elif self._phase == "hold" or self._top is None:
            self._held(seen)
        elif self._phase == "dip":
            self._dipped(self._top, seen)
        else:
            self._checked(self._top, seen)

    def _watch_use(self, flying: int) -> None:
        """Give places up that nobody has needed for as many requests, as under a learned rate."""
        self._peak = max(self._peak, flying)
        if self._seats - self._peak_began + 1 < self.places:
            return
        needed = max(2 * self._peak, self._begun_with)
        self._peak, self._peak_began = 0, self._seats + 1
        if needed <= self.places // 2:
            self._phase, self._latency_s, self._next_hold = "climb", None, FIRST_HOLD
            self._change(needed)

    def _goes_on(self) -> bool:
        """Double the places if latency has not grown; the ceiling is tested for its throughput."""
        latencies, before = self._round.early, self._latency_s
        if len(latencies) < max(self.places // 2, QUICK) or self.places == self._ceiling:
            return False
        latency_s = median(latencies)
        if before is not None and latency_s > SHORT * before:
            return False
        self._climb(latency_s)
        return True

    def _climb(self, latency_s: float) -> None:
        self._phase, self._latency_s, self._kept = "climb", latency_s, self.places
        self._alone_s = min(latency_s, self._alone_s or latency_s)
        self._change(self._more(CLIMB))

    def _dip(self, top: _Throughput) -> None:
        """Have fewer places than brought as much as ``top``, or nearly.

        What latency was before it grew says how many requests the server may work at.
        """
        busy = round(top.per_second * self._alone_s) if self._alone_s else self._kept
        self._top, self._phase, self._alone_s = top, "dip", None
        self._change(_fewer(min(busy, self._kept), DIP))

    def _dipped(self, top: _Throughput, seen: _Throughput) -> None:
        if seen.per_second >= SATURATED * top.per_second and self.places > 1:
            self._change(_fewer(self.places, DEEPER))
            return
        knee = round(ROOM * seen.places * max(top.per_second / max(seen.per_second, 1e-9), 1.0))
        if knee > top.places and top.places < self._ceiling:
            self.places, self._next_hold = top.places, FIRST_HOLD
            self._climb(seen.latency_s)
        else:
            self._phase = "check"
            self._change(max(min(knee, top.places), seen.places))

    def _checked(self, top: _Throughput, seen: _Throughput) -> None:
        if seen.per_second >= KEPT * top.per_second or self.places >= top.places:
            self._keep(self.places, seen.per_second)
        else:  # a server that gets slower little by little: there is no knee
            between = max(round((self.places * top.places) ** 0.5), self.places + 1)
            self._change(min(between, top.places))

    def _held(self, seen: _Throughput) -> None:
        usual = self._usual = max(self._usual or 0.0, seen.per_second)
        self._hold -= 1
        is_slower, was_slower = seen.per_second * SLOWER < usual, self._is_slower
        self._is_slower, self._kept = is_slower, self.places
        if is_slower and was_slower:
            self._dip(seen)
        elif self._hold <= 0 and not is_slower and self.places < self._ceiling:
            self._phase = "probe"
            self._change(self._more(PROBE))
        else:
            self._round = _PlacesRound(self.places, early=self._round.early)

    def _keep(self, places: int, per_second: float | None) -> None:
        self._phase, self._top, self._usual, self._is_slower = "hold", None, per_second, False
        self._hold, self._next_hold = self._next_hold, min(2 * self._next_hold, LONGEST_HOLD)
        self._change(places)

    def _more(self, factor: float) -> int:
        return min(max(round(factor * self.places), self.places + 1), self._ceiling)

    def _change(self, places: int) -> None:
        self.places = places
        self._numbered += 1
        self._round = _PlacesRound(places)


def _fewer(places: int, factor: float) -> int:
    return max(1, min(round(factor * places), places - 1))
