"""Times as people write and read them: ``1h``, ``90 s``, ``5 min 10 s``."""

from __future__ import annotations

import math
import re

_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_PART = re.compile(
    r"\s*(\d+(?:\.\d+)?)\s*"
    r"(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)?(?![a-z])",
    re.IGNORECASE,
)


def seconds_of(text: str) -> float:
    """Return the seconds of a time such as ``1h``, ``1h30m``, ``90s``, ``10 min``, or ``90``.

    Raises:
        ValueError: it is no time; says what one looks like.
    """
    total, place = 0.0, 0
    while place < len(text.rstrip()):
        part = _PART.match(text, place)
        is_plain_number = part is not None and part[2] is None
        if part is None or (is_plain_number and part.span() != (0, len(text.rstrip()))):
            raise ValueError("a time such as 1h, 30m or 90s")
        total += float(part[1]) * _SECONDS[(part[2] or "s")[0].lower()]
        place = part.end()
    if place == 0 or not math.isfinite(total):
        raise ValueError("a time such as 1h, 30m or 90s")
    return total


def in_words(seconds: float) -> str:
    """Return a time in at most two units, e.g. ``45 s``, ``5 min 10 s``, ``60 min``, ``2 h``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s" if seconds >= 1 or seconds == 0 else f"{seconds:.2g} s"
    minutes, rest = divmod(whole, 60)
    if whole <= 3600:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(round(whole / 60), 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"
