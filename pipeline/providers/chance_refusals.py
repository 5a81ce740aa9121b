"""Refusals that come whatever the rate is: an overloaded service, or one shared with many others.

If slowing down to nearly half does not make them rarer, they say nothing about the rate: it goes
back to where it was, and as large a share of refusals is taken as it comes from then on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

ENOUGH = 8
"""Requests a share of refusals is measured over, at least."""
MANY = 100
"""... and so many before the share taken as it comes is measured anew."""
NO_FASTER = 0.6
"""Share of the rate it began at that a descent has to come down to before it is judged."""
EXPECTED = 5
"""So many refusals have to be expected before it counts that there are fewer."""
MOST = 0.7
"""A larger share of refusals is never taken as it comes."""


@dataclass(slots=True)
class _Descent:
    """A rate that is lowered again and again, and what was sent and refused meanwhile."""

    rate: float
    sent: int
    refused: int


class ChanceRefusals:
    """Judges one model's refusals, by the stretches of requests between two changes of its rate."""

    def __init__(self) -> None:
        self.share = 0.0
        """Which share of the requests is refused whatever their rate."""
        self._descent: _Descent | None = None

    def explains(self, sent: int, refused: int) -> bool:
        """Return whether so many refusals among those sent have nothing to do with the rate."""
        if not self.share:
            return False
        spread = math.sqrt(self.share * (1.0 - self.share) * sent)
        return refused <= self.share * sent + 3.0 * spread + 1.0

    def measured(self, sent: int, refused: int) -> bool:
        """Bring the share up to date after a long stretch; return whether it was one."""
        if not self.share or sent < MANY:
            return False
        self.share += 0.2 * (refused / sent - self.share)
        if self.share < 0.002:
            self.share = 0.0
        return True

    def rate_to_return_to(self, rate: float, sent: int, refused: int) -> float | None:
        """Return the rate that a descent began at, if coming down did not make refusals rarer.

        Args:
            rate: that a stretch of requests went at before it is lowered now.
            sent: their number.
            refused: how many of them were refused.
        """
        descent = self._descent
        if self.share or descent is None or self._are_rarer(descent, sent, refused):
            self.share, self._descent = 0.0, _Descent(rate, sent, refused)
            return None
        descent.rate = max(descent.rate, rate)
        descent.sent += sent
        descent.refused += refused
        share = refused / sent
        if sent < ENOUGH or rate > NO_FASTER * descent.rate or share > MOST:
            return None
        self.share = min(descent.refused / descent.sent, MOST)
        return descent.rate

    def one_more(self) -> None:
        """Count a refusal that came after its stretch was judged."""
        if self._descent is not None:
            self._descent.refused += 1

    @staticmethod
    def _are_rarer(descent: _Descent, sent: int, refused: int) -> bool:
        expected = sent * descent.refused / descent.sent
        return expected >= EXPECTED and refused < 0.5 * expected
