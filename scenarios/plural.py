"""Numbers and names in words."""

from __future__ import annotations

from collections.abc import Sequence


def plural(count: int, noun: str) -> str:
    """Return ``1 case``, ``2 cases``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def enumerated(names: Sequence[str]) -> str:
    """Return ``Ann``, ``Ann and Ben``, ``Ann, Ben and Cleo``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
