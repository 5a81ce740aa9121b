"""How many connections the operating system lets this process hold."""

from __future__ import annotations

import resource

RESERVED = 128
"""Open files for everything else: the store, logs, plugins, an encoder."""


def connections_allowed(wanted: int) -> int:
    """Return how many connections may be open, at most ``wanted``.

    A soft limit below that (1,024 files on many systems, 256 on some) is raised as far as the hard
    one allows; nothing else of the system is changed.
    """
    needed = wanted + RESERVED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    if soft < needed:
        raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        except (OSError, ValueError):  # the system has a lower bound of its own
            raised = soft
        soft = raised
    return max(1, min(wanted, soft - RESERVED))
