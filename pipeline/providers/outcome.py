"""What one request came to, as far as it concerns how the next ones may be sent."""

from __future__ import annotations

from typing import Final, Literal

from pipeline.providers.errors import ProviderError, RateLimited
from pipeline.providers.failures import NotConnected

CallOutcome = Literal["answered", "slow_down", "unavailable", "failed"]
"""``answered``: the endpoint did its work, whatever can be made of it; ``slow_down``: it refused
because too much is sent (429, 529); ``unavailable``: there is no connection, or it says that it
cannot serve now (``UNSERVED``); ``failed``: everything else, a request that was broken off included."""
UNSERVED: Final = frozenset({502, 503, 521, 522, 523, 530})
"""Statuses by which a server, or a gateway that cannot reach the one behind it, says that it cannot
serve now; those above 511 are Cloudflare's."""


def outcome_of(error: BaseException) -> CallOutcome:
    """Return what an error that a request ended with says of its endpoint."""
    if isinstance(error, RateLimited):
        return "slow_down"
    if isinstance(error, NotConnected):
        return "unavailable"
    if isinstance(error, ProviderError) and error.status in UNSERVED:
        return "unavailable"
    return "failed"
