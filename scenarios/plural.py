"""A number and what it counts, in words."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """Return ``1 case``, ``2 cases``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
