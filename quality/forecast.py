"""Forecast yield and cost of a large run from a small pilot."""

from __future__ import annotations

import math
from dataclasses import dataclass

Z95 = 1.959963984540054
"""Quantile of the normal distribution for an interval of 95 %."""


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return the 95 % Wilson score interval of a proportion, within [0, 1].

    Raises:
        ValueError: no trials, or more successes than trials.

    Source: Wilson 1927.
    """
    if trials < 1 or not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes of {trials} trials")
    share, spread = successes / trials, Z95 * Z95 / trials
    centre = (share + spread / 2) / (1 + spread)
    half = Z95 / (1 + spread) * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return max(0.0, centre - half), min(1.0, centre + half)


@dataclass(frozen=True, slots=True)
class Pilot:
    """What a small run came to."""

    generated: int
    failed: int
    accepted: int
    pending: int
    """Flagged, waiting for people."""
    discarded: int
    cost_usd: float | None
    """For generating and judging; None: unknown."""

    @property
    def unjudged(self) -> int:
        """Dialogues without a verdict, since the pilot ended before."""
        return self.generated - self.accepted - self.pending - self.discarded


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a pilot says about a large run; bounds are of a 95 % interval on the yield."""

    pilot: Pilot
    yield_share: float
    """Accepted dialogues per dialogue played."""
    yield_low: float
    yield_high: float
    cost_per_dialogue: float | None
    cost_per_accepted: float | None
    """None: unknown, or nothing was accepted."""

    def dialogues_for(self, accepted: int) -> tuple[int | None, int, int | None]:
        """Return how many dialogues ``accepted`` ones take: expected, at best, at worst.

        None where the yield may be nothing.
        """
        return (
            _over(accepted, self.yield_share),
            math.ceil(accepted / self.yield_high),
            _over(accepted, self.yield_low),
        )

    def cost_of(self, dialogues: int | None) -> float | None:
        """Return what so many dialogues cost in US dollars; None where it is unknown."""
        if dialogues is None or self.cost_per_dialogue is None:
            return None
        return dialogues * self.cost_per_dialogue


def forecast(pilot: Pilot) -> Forecast:
    """Return what a pilot promises.

    Raises:
        ValueError: it played nothing.
    """
    played = pilot.generated + pilot.failed
    low, high = wilson(pilot.accepted, played)
    each = None if pilot.cost_usd is None else pilot.cost_usd / played
    dear = None
    if pilot.cost_usd is not None and pilot.accepted:
        dear = pilot.cost_usd / pilot.accepted
    return Forecast(pilot, pilot.accepted / played, low, high, each, dear)


def _over(accepted: int, share: float) -> int | None:
    return math.ceil(accepted / share) if share > 0 else None
