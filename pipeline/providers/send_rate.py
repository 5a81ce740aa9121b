"""How fast an endpoint lets one model be asked, learned from what it refuses (429, 529).

Before the first refusal there is no rate at all. A refusal brings the rate down to what was really
accepted; from there it rises again, ever faster the longer nothing is refused, so that a limit that
was raised is found. At first it rises quickly, since a limit is known only when it was touched twice,
and later the slower the longer it is known: every touch costs a refusal. Everything is a function
of the events and their times: nothing waits here.

What was accepted is counted by when requests were *sent*, since refusals come at once and answers
late: a request that was not refused (yet) counts as accepted. At a refusal the endpoint's bucket or
window is empty; what it accepted from one such moment to a later one, divided by the time between,
is what it allows, however large the bucket.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from pipeline.providers.chance_refusals import AtOnceAgain, ChanceRefusals
from pipeline.providers.pacing import Pace
from scenarios.quick_records import quickly_made

SLOWEST_PER_S = 1.0 / 15.0
"""However much is refused, so often a request goes out to see."""
LEAST_S = 1.0
"""A rate is measured over at least so much time."""
LEAST_ACCEPTED = 10
"""... and so many accepted requests."""
BACK = 0.98
"""Share of the measured rate that a refusal leaves."""
CALM = 20
"""So many accepted requests before a refusal make it a single one: the limit was just touched."""
STEEPEST = 0.3
"""Share of the rate that a change leaves at least."""
ROUND_S = 0.5
"""The least time from one change to the next: refusals of earlier requests are still coming."""
RISE_S = 6.0
"""So long after a single refusal the rate is back at the limit that was touched."""
RISE_REQUESTS = 70
"""... or so many requests after it, if those take longer."""
LONGEST_RISE_S = 120.0
SEARCH_S = 1.0
"""So long after the first refusal, which tells little: until then the endpoint had something in
store, and requests had only begun. Later a rise takes as long as has passed since then, at most
what it takes by the above."""
SEARCH_REQUESTS = 5
"""... or so many requests after it, if those take longer."""
WINDOW_S = 15.0
"""A rise takes so much longer than a window of the endpoint, or twice as long as a shorter one:
before the end of a window it is not known whether it was used too fast."""
TOUCHED = 0.9
"""Share of a rate that an endpoint of windows surely allows if it refused only the last of many."""
IN_A_ROW, MANY_IN_A_ROW = 3, 6
"""So many refusals in a row say that a window is used up: where windows are known, and where not.
Then it is only looked from time to time whether the next one has begun."""
LOOKS = 30
"""Looks in the length of a window, or in as long as it has lasted where no window is known."""
ANEW_PER_S = 1.0
"""So fast the search begins anew where next to nothing was accepted before the first window ended:
it had begun before, and others had used it up."""
DEAD = 0.2
"""A window that is used up for a larger share of it was used too fast."""
DEAD_S = 5.0
"""So long without an accepted request, an endpoint's window was used up, and one begins with the
next that is accepted."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Sent:
    """A request on its way: its number among those to this model, and when it went."""

    number: int
    at: float


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A moment at which the endpoint had nothing left to give."""

    at: float
    accepted: int
    """Requests sent before it that were not refused."""


@dataclass(slots=True)
class _RateStretch:
    """The requests from one change of the rate to the next."""

    first: int
    """Number of its first request."""
    sent: int = 0
    """How many there are; not known before it has ended."""
    refused: int = 0
    ended: float = 0.0
    fastest: float = 0.0
    """How many really went per second."""

    @property
    def accepted(self) -> int:
        return self.sent - self.refused

    def holds(self, number: int) -> bool:
        """Whether a request belongs to it, now that it has ended."""
        return self.first <= number < self.first + self.sent

    @property
    def is_calm(self) -> bool:
        """Whether it was refused only after many had been accepted."""
        return self.accepted >= CALM and self.refused <= self.accepted / 10


@dataclass(slots=True)
class _Rise:
    """A rate that rises like TCP CUBIC's window: fast, slow around its target, then ever faster."""

    low: float
    """Where it begins."""
    target: float
    """What the endpoint was measured to allow."""
    slow_s: float
    """How long it takes from just below the target to the target."""
    risen_s: float = 0.0
    """For how long it has risen: only while requests wait for it."""

    def per_second(self) -> float:
        swing = math.log(self.target / self.low)
        takes_s = self.slow_s * (swing / -math.log(BACK)) ** (1 / 3)
        beyond = self.risen_s / takes_s - 1.0
        return self.target * math.exp(min(swing * beyond ** (3 if beyond < 1.0 else 5), 5.0))


class SendRate:
    """The rate of one model at one address."""

    def __init__(self) -> None:
        self._pace = Pace()
        self._rise: _Rise | None = None
        """None: no limit is known."""
        self._chance = ChanceRefusals()
        self._again = AtOnceAgain()
        self._sent = 0
        self._refused = 0
        self._last_sent = 0.0
        self._pulse: deque[tuple[float, int]] = deque(maxlen=32)
        """When how many had been sent, some eight times a second."""
        self._refusals: deque[_Refusal] = deque(maxlen=256)
        """The first one of each stretch."""
        self._open = _RateStretch(1)
        self._ended: _RateStretch | None = None
        self._window_began = 0.0
        self._accepted_before = 0
        """Requests accepted before that window."""
        self._window_s = 0.0
        """How long the endpoint took nothing at a time: its windows are at least that long."""
        self._began_anew = False
        self._in_a_row = 0
        """Refusals since a request was let in."""
        self._row_began = 0.0
        self._refused_at = 0.0

    def per_second(self) -> float | None:
        """Return how many requests may go per second at the moment; None: as many as like."""
        return None if self._rise is None else self._rise.per_second()

    @property
    def asks_at_once(self) -> bool:
        """Whether a refusal may let the next request go at once, to tell what refuses."""
        return self._rise is not None and self._again.is_open

    def wait_s(self, now: float) -> float:
        """Return in how many seconds the next request may go; 0: at once."""
        at_once = self._rise is None or self._again.is_wanted(now)
        return 0.0 if at_once else self._pace.wait_s(now)

    def sent(self, now: float, *, waited: bool) -> Sent:
        """Note that a request goes, and whether it had to wait for the rate."""
        if self._sent == 0:
            self._window_began = now
        if not self._pulse or now - self._pulse[-1][0] >= 0.125:
            self._pulse.append((now, self._sent))
        if self._rise is not None:
            only_looks = self._in_a_row >= IN_A_ROW and self._sent - self._refused < LEAST_ACCEPTED
            if waited and not only_looks:
                self._rise.risen_s += now - self._last_sent
            self._pace.take(now, 1.0 / self._rise.per_second())
        self._sent += 1
        self._last_sent = now
        self._again.sent(self._sent, now)
        return Sent(self._sent, now)

    def answered(self, sent: Sent, now: float) -> None:
        """Note that a request was let in."""
        self._learn_from_again(sent, refused=False)
        looked_s = now - self._refused_at
        # A window began between two looks, or when those who waited for it came all at once.
        began = now - (looked_s / 2 if looked_s * SLOWEST_PER_S <= 1.5 else 0.0)
        dead_s, refused = began - self._row_began, self._in_a_row
        self._in_a_row = 0
        least_s, least = (LEAST_S, IN_A_ROW) if self._window_s else (DEAD_S, MANY_IN_A_ROW)
        if self._rise is None or refused < least or dead_s < least_s:
            return
        accepted = self._sent - self._refused
        of_window = accepted - self._accepted_before
        rate = of_window / (began - self._window_began)
        self._window_began, self._accepted_before = began, accepted
        if not self._window_s and not self._began_anew and of_window < LEAST_ACCEPTED:
            self._begin_anew(now)
            return
        self._window_s = max(self._window_s, min(dead_s, LONGEST_RISE_S))
        was_too_fast = refused >= MANY_IN_A_ROW and dead_s > DEAD * self._window_s
        if rate > self._rise.low or was_too_fast:
            self._rise_from(rate, rate)
            self._pace.bring_forward(now + 1.0 / self._rise.low)

    def _begin_anew(self, now: float) -> None:
        """Search for the rate of an endpoint that was away at first, or used up by others."""
        self._began_anew = True
        self._refusals.clear()
        self._ended, self._open = None, _RateStretch(self._sent + 1)
        self._rise_from(ANEW_PER_S, ANEW_PER_S, known_s=0.0)
        self._pace.bring_forward(now)

    def refused(self, sent: Sent, now: float, horizon_s: float = 0.0) -> None:
        """Note that the endpoint refused a request for its rate.

        Args:
            sent: the request.
            now: when.
            horizon_s: in how many seconds the endpoint says it will take another one.
        """
        self._refused += 1
        self._learn_from_again(sent, refused=True)
        self._row_began = self._row_began if self._in_a_row else now
        self._refused_at = now
        self._in_a_row += 1
        self._ask_rarely(now)
        if sent.number >= self._open.first:
            self._open.refused += 1
            if self._tells_nothing(sent, now):
                return
            ended = self._end_stretch(sent, now)
            if now - self._refusals[0].at >= RISE_S:  # before, it was too fast by far
                self._chance.lowered(ended.fastest, ended.sent, ended.refused)
        elif self._ended is not None and self._ended.holds(sent.number):
            ended = self._ended
            ended.refused += 1
            self._chance.one_more()
        else:
            return
        self._lower(ended, horizon_s)
        self._again.after_refusal(sent.at, ended.fastest)

    def _learn_from_again(self, sent: Sent, *, refused: bool) -> None:
        """Take back what refusals have brought the rate down to, once it is chance that refuses."""
        share = self._refused / self._sent
        back = self._again.came_back(sent.number, share, refused=refused)
        if back is not None:
            self._chance.believe(share)
            self._open = _RateStretch(self._sent + 1)
            self._rise_from(back, back)

    def _ask_rarely(self, now: float) -> None:
        """Send ever fewer requests while everything is refused, until one is let in."""
        least = IN_A_ROW if self._window_s else MANY_IN_A_ROW
        if self._rise is None or self._in_a_row < least:
            return
        interval_s = 1.0 / self._rise.per_second()
        length_s = self._window_s or min(now - self._row_began, LOOKS / SLOWEST_PER_S)
        rarest_s = max(length_s / LOOKS, 0.0 if self._window_s else LEAST_S)
        doubled = min(self._in_a_row - least, 20)
        self._pace.put_off(now + max(min(2.0**doubled * interval_s, rarest_s), interval_s))

    def _tells_nothing(self, sent: Sent, now: float) -> bool:
        """Return whether a refusal in the open stretch is no reason to slow down (yet)."""
        stretch = self._open
        number = sent.number - stretch.first + 1
        if self._chance.explains(number, stretch.refused):
            if self._chance.is_long(number):
                back = self._chance.conclude(number, stretch.refused)
                self._open = _RateStretch(self._sent + 1)
                if back is not None:
                    self._rise_from(back, back)
            return True
        if self._rise is None or self._ended is None:
            young = now - self._window_began < LEAST_S
            return young and stretch.refused < max(number, 16) / 2
        if self._in_a_row > 1 and now - self._row_began < self._window_s:
            return True  # the window is used up, as its first refusal has said
        return now - self._ended.ended < max(ROUND_S, 3.0 / self._rise.low)

    def _end_stretch(self, sent: Sent, now: float) -> _RateStretch:
        ended = self._ended = self._open
        ended.sent, ended.ended = self._sent - ended.first + 1, now
        going = self._fastest(now)
        ended.fastest = going if self._rise is None else min(going, self._rise.per_second())
        self._open = _RateStretch(self._sent + 1)
        self._refusals.append(_Refusal(sent.at, sent.number - self._refused))
        return ended

    def _fastest(self, now: float) -> float:
        """Return how many really went per second, over the time up to now that had the most.

        Over all of the last seconds it would be too few where requests come in bursts, or ever faster:
        a rate that was found with so few of them would not use what the endpoint allows.
        """
        oldest = self._pulse[0]
        return max(
            (self._sent - before) / max(LEAST_S, now - began)
            for began, before in self._pulse
            if now - began >= LEAST_S or (began, before) == oldest
        )

    def _lower(self, ended: _RateStretch, horizon_s: float) -> None:
        """Bring the rate down after a stretch, again whenever one more of it is refused."""
        fastest, measured = ended.fastest, self._measured()
        if ended.first == 1:
            # What an endpoint says of when it goes on is a hint: many always say a minute.
            took = ended.ended - self._window_began
            horizon_s = max(0.0, horizon_s - 1.0)  # it is told in whole seconds, rounded up
            low = min(ended.accepted / max(LEAST_S, took + horizon_s), fastest * BACK)
            low = low or ANEW_PER_S  # it takes nothing at all: that says nothing of its rate
            # What went on average would be too little where it had only begun to be more and more.
            target = max(fastest, ended.accepted / max(LEAST_S, took))
        elif measured is None:
            share = ended.accepted / ended.sent
            low, target = fastest * min(max(share, STEEPEST), BACK), fastest
        else:
            # Where the endpoint had more in store than it could keep, more would have been
            # accepted than was: what it allows lies between what was measured and the fastest.
            is_calm = ended.is_calm or self._ends_window(ended)
            if is_calm and self._window_s:  # two such moments are no whole windows apart
                measured = max(measured, TOUCHED * fastest)
            target = (min(measured, fastest) + fastest) / 2
            low = target * BACK if is_calm else measured * BACK
            low = min(max(low, STEEPEST * fastest), BACK * fastest)
        known_s = ended.ended - self._refusals[0].at
        self._rise_from(low, target, known_s + horizon_s if ended.first == 1 else known_s)
        self._pace.put_off(ended.ended + 1.0 / max(low, SLOWEST_PER_S))

    def _ends_window(self, ended: _RateStretch) -> bool:
        """Return whether a window was used up by many requests, in one stretch or in several."""
        if not self._window_s or len(self._refusals) < 2:
            return False
        accepted = self._refusals[-1].accepted - self._refusals[-2].accepted
        return accepted >= CALM and ended.refused <= accepted / 10

    def _rise_from(self, low: float, target: float, known_s: float = math.inf) -> None:
        """Let the rate rise anew; ``known_s``: how long ago the first refusal was."""
        low = max(low, SLOWEST_PER_S)
        target = max(target, low / BACK)
        slow_s = max(
            self._window_s + min(self._window_s, WINDOW_S),
            min(
                max(RISE_S, min(RISE_REQUESTS / target, LONGEST_RISE_S)),
                max(SEARCH_S, SEARCH_REQUESTS / target, known_s),
            ),
        )
        self._rise = _Rise(low, target, slow_s)

    def _measured(self) -> float | None:
        """Return what was accepted per second between the last refusal and one before it."""
        last = self._refusals[-1]
        for before in reversed(self._refusals):
            span, accepted = last.at - before.at, last.accepted - before.accepted
            if span >= LEAST_S and accepted >= LEAST_ACCEPTED:
                return accepted / span
        return None
