"""How many processors this process may use."""

from __future__ import annotations

import os


def processors() -> int:
    """Return how many processors the system lets this process run on.

    A job of a cluster is often given a few of its machine's; as many threads as the machine has
    processors would get in each other's way on them.
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # macOS and Windows
