"""How many requests may fly at once to a provider, where the user names a number and where not."""

from __future__ import annotations

from pipeline.providers.concurrency import AUTO_CEILING, Places
from pipeline.providers.open_files import connections_allowed
from pipeline.providers.registry import PROVIDERS

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
