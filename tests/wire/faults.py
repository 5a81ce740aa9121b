"""A seeded plan of what goes wrong with which request."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Fault = Literal[
    "rate_limited",
    "server_error",
    "broken_json",
    "unknown_label",
    "hang",
    "empty_choices",
    "prose",
    "dropped",
]


@dataclass(frozen=True, slots=True)
class Faults:
    """What the server gets wrong; all off by default.

    The rates are shares of all requests and must add up to at most 1. Which request is hit follows
    from the seed, its body and how often that body has come before: not from the order in which
    concurrent requests arrive.
    """

    rates: Mapping[Fault, float] = field(default_factory=dict)
    script: tuple[Fault | None, ...] = ()
    """What befalls the first requests, in order of arrival, before the rates apply."""
    seed: int = 0
    retry_after: str = "0"
    """Value of the Retry-After header of a 429."""
    hang_s: float = 30.0
    ignore_n: bool = False
    """Answer one choice whatever ``n`` was."""
    short_by: int = 0
    """Answer this many choices fewer than asked for, but at least one."""
    extra_choices: int = 0
    reject: frozenset[str] = frozenset()
    """Body fields answered with a 400 that names them."""
    no_usage: bool = False
    no_schema: int | None = None
    """Status with which a request for structured output is answered."""
    no_bounds: str | None = None
    """What a request is told, with status 400, whose schema bounds a text."""
    names_schema: bool = True
    """Whether that answer says what it is about."""
    canned: tuple[int, object] | None = None
    """Answer everything with this status and body."""
    redirect_to: str | None = None
    key: str | None = None
    """The only key that is let in; None lets everybody in."""

    def strike(self, number: int, body: bytes, times_seen: int) -> Fault | None:
        """Return what befalls the ``number``-th request (from 0), if anything."""
        if number < len(self.script):
            return self.script[number]
        digest = hashlib.sha256(b"%d|%d|" % (self.seed, times_seen) + body).digest()
        draw = int.from_bytes(digest[:8], "big") / 2**64
        for fault, rate in self.rates.items():
            if draw < rate:
                return fault
            draw -= rate
        return None
