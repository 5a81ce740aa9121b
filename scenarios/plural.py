"""Numbers and names in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

ROUNDING_USD = 1e-8
"""Sums of floats drift by less: a millionth of a cent is nothing."""


def plural(count: int, noun: str) -> str:
    """Return ``1 case``, ``2 cases``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def in_dollars(amount: float, places: int = 2) -> str:
    """Return ``$12.34``, ``$0.0123`` or ``$0.000012``: a small amount never looks like nothing.

    Args:
        amount: in US dollars.
        places: after the point, of nothing and of a dollar or more. Less than a dollar has four, or as
            many as show two digits that are no leading zeros.
    """
    if amount < ROUNDING_USD or amount >= 1:
        return f"${max(amount, 0.0):,.{places}f}"
    if amount < 0.0001:
        return f"${amount:.{1 - math.floor(math.log10(amount))}f}"
    return f"${amount:.4f}"


def enumerated(names: Sequence[str]) -> str:
    """Return ``Ann``, ``Ann and Ben``, ``Ann, Ben and Cleo``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def first_of(names: Sequence[str], most: int) -> str:
    """Return ``Ann, Ben and 3 more``: the first of some names, and how many others there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"
