"""How many requests may fly at once to a provider, where the user names a number and where not."""

from __future__ import annotations

import resource

from pipeline.providers.concurrency import AUTO_CEILING, Places
from pipeline.providers.registry import PROVIDERS

RESERVED = 128
"""Open files for everything else: the store, logs, plugins, an encoder."""
MODELS_BESIDE = 2
"""So many models may reach that ceiling without running out of open files."""
IN_PROCESS = 32
"""For a provider in this process, where nothing is to be found out."""
BEGIN = {"compatible": 4}
BEGIN_ELSEWHERE = 32
"""Behind ``compatible/`` there may be a server that works at one or two at a time."""


def places_at(provider: str, number: int | None) -> Places:
    """Return the places of a model of a provider; a ``number`` of the user's is what it gets."""
    if number is not None:
        return Places(number)
    if PROVIDERS.get(provider).is_local:
        return Places(IN_PROCESS)
    allowed = connections_allowed(MODELS_BESIDE * AUTO_CEILING) // MODELS_BESIDE
    begin_with = BEGIN.get(provider, BEGIN_ELSEWHERE)
    return Places(max(min(AUTO_CEILING, allowed), begin_with), begin_with)


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
