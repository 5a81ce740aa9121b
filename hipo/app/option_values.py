"""Values of options as people write them."""

from __future__ import annotations

from collections.abc import Sequence


def split(values: Sequence[str]) -> list[str]:
    """Split repeated and comma-separated values into one list."""
    return [part.strip() for value in values for part in value.split(",") if part.strip()]
