"""Read whole numbers that strangers send."""

from __future__ import annotations

import re

_COUNT = re.compile(r"[0-9]{1,12}")


def read_count(text: str) -> int | None:
    """Return a number of at most 12 digits; None for anything else, ``²`` and ``-1`` included."""
    return int(text) if _COUNT.fullmatch(text) else None
