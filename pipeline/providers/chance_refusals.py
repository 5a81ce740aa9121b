"""Refusals that come whatever the rate is: an overloaded service, or one shared with many others.

At first two requests go at once after a refusal: a limit refuses one of them, too, chance hardly does.
Where that cannot tell, as of a limit that gives out more than a request meanwhile, the rate is
lowered with every refusal. When it has come down to half it is kept there for a while. If refusals are
as frequent as before, they say nothing about the rate: it goes back to where it was, and as large a
share of refusals is taken as it comes, until that is found out again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

SLOW = 0.5
"""Share of the rate it began at that a descent has to come down to."""
AS_OFTEN = 0.3
"""Refusals that are less often than so, when slow, depend on the rate: at half the speed a limit
refuses next to nothing, while chance, over a few refusals, is off by a third either way."""
EXPECTED = 8
"""Requests are sent slowly until so many refusals would be expected if they came as often."""
MOST = 0.6
"""A larger share of refusals is never taken as it comes."""
MANY = 100
"""Requests a share that is taken as it comes is measured over."""
AT_ONCE = 2
"""So many requests go at once after a refusal: a limit that was only just touched may let the first in."""
REFILLED = 0.8
"""... and the last tells something where a limit has given out less than so much of a request since."""
TOLD = 2
"""So many that were let in, or refused, are enough: a limit refuses each of them."""
MOST_AT_ONCE = 0.25
"""A larger share of refusals is not told from a limit in this way."""
BELIEVED = 10
MOST_BELIEVED = 320
"""After so many times as many it is found out again whether refusals depend on the rate; later
each time that they do not."""


@dataclass(slots=True)
class _Descent:
    """A rate that is lowered again and again, and what was sent and refused meanwhile."""

    rate: float
    sent: int = 0
    refused: int = 0

    @property
    def share(self) -> float:
        return min(self.refused / self.sent, 1.0) if self.sent else 0.0


@dataclass(slots=True)
class AtOnceAgain:
    """What becomes of requests that go right after refusals, before a rate is known for long."""

    _let_in: int = 0
    _refused: int = 0
    _fastest: float = 0.0
    _left: int = 0
    """So many requests are still to go at once."""
    _until: float = 0.0
    _number: int = 0
    """The one that will tell; 0: none is on its way."""

    @property
    def is_open(self) -> bool:
        """Whether it is not known yet what refuses."""
        return max(self._let_in, self._refused) < TOLD

    def is_wanted(self, now: float) -> bool:
        """Whether the next request should go at once."""
        return self._left > 0 and now < self._until

    def after_refusal(self, refused_at: float, per_s: float) -> None:
        """Note that a request sent then, at that rate, was refused."""
        self._fastest = max(self._fastest, per_s)
        if self.is_open and not self._number:
            self._left, self._until = AT_ONCE, refused_at + REFILLED / per_s

    def sent(self, number: int, now: float) -> None:
        """Note that a request goes."""
        if self.is_wanted(now):
            self._left -= 1
            self._number = 0 if self._left else number

    def came_back(self, number: int, share: float, *, refused: bool) -> float | None:
        """Learn from a request; return the rate to go back to, if it is chance that refuses.

        Args:
            number: of the request.
            share: of all requests so far that was refused.
            refused: whether this one was.
        """
        if number != self._number:
            return None
        self._number = 0
        self._refused += refused
        self._let_in += not refused
        return self._fastest if self._let_in >= TOLD and share <= MOST_AT_ONCE else None


class ChanceRefusals:
    """Judges one model's refusals, by the stretches of requests between two changes of its rate."""

    def __init__(self) -> None:
        self.share = 0.0
        """Which share of the requests is refused, or seems to be, whatever their rate."""
        self._descent: _Descent | None = None
        self._is_trial = False
        self._stretches = 0
        """Long stretches since the share was believed."""
        self._believed = BELIEVED

    def explains(self, sent: int, refused: int) -> bool:
        """Return whether so many refusals among those sent have nothing to do with the rate."""
        if not self.share:
            return False
        spread = math.sqrt(self.share * (1.0 - self.share) * sent)
        return refused <= self.share * sent + 3.0 * spread + 1.0

    def is_long(self, sent: int) -> bool:
        """Return whether a stretch of so many requests is long enough to measure the share."""
        return sent >= (EXPECTED / self.share if self._is_trial else MANY)

    def conclude(self, sent: int, refused: int) -> float | None:
        """Measure the share over a long stretch; return the rate to go back to, if any."""
        measured, descent = refused / sent, self._descent
        if self._is_trial and descent is not None:
            self._is_trial, self._stretches = False, 0
            if measured >= AS_OFTEN * self.share:
                self._believed = min(2 * self._believed, MOST_BELIEVED)
                return descent.rate
            self._believed = BELIEVED
            self.forget()
            return None
        self.share += 0.2 * (min(measured, self.share) - self.share)
        self._stretches += 1
        if self.share < 0.002 or self._stretches >= self._believed:
            self.forget()
        return None

    def believe(self, share: float) -> None:
        """Take as large a share of refusals as it comes."""
        self.forget()
        self.share, self._stretches = share, 0

    def forget(self) -> None:
        """Take every refusal for one that depends on the rate."""
        self.share, self._descent, self._is_trial = 0.0, None, False

    def lowered(self, rate: float, sent: int, refused: int) -> None:
        """Note that the rate is lowered.

        Args:
            rate: that a stretch of requests went at before.
            sent: their number.
            refused: how many of them were refused.
        """
        if self.share or self._descent is None or rate > self._descent.rate:
            self.forget()
            self._descent = _Descent(rate)
        descent = self._descent
        if rate <= SLOW * descent.rate and 0.0 < descent.share <= MOST:
            self.share, self._is_trial = descent.share, True
        elif rate <= SLOW * descent.rate:
            self._descent = _Descent(rate, sent, refused)
        else:
            descent.sent += sent
            descent.refused += refused

    def one_more(self) -> None:
        """Count a refusal that came after its stretch was noted."""
        if self._descent is not None:
            self._descent.refused += 1
