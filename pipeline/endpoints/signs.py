"""What one request says of its endpoint: that it is there, away, or has a fault."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pipeline.providers.errors import (
    ContextExceeded,
    OutOfFunds,
    QuotaUsedUp,
    ServerFault,
    TimedOut,
    Unauthorised,
    UnknownModel,
    Unreachable,
)
from pipeline.providers.outcome import CallOutcome
from pipeline.store.call_rows import LOST, RequestRow
from scenarios.quick_records import quickly_made

Sign = Literal[
    "answered",
    "slow_down",
    "unconnected",
    "unserved",
    "broken",
    "erring",
    "silent",
    "refused",
    "failed",
    "nothing",
]
"""``unconnected``: no connection came about; ``unserved``: it says that it cannot serve now;
``broken``: the connection broke; ``erring``: it has a fault, or sends what cannot be read;
``silent``: no answer came in the time allowed; ``refused``: nobody else is going to be let in,
probably; ``nothing``: the request was broken off on this side."""
_OF_FAILURES: dict[str, Sign] = {
    "cancelled": "nothing",
    LOST: "nothing",
    Unauthorised.code: "refused",
    UnknownModel.code: "refused",
    ContextExceeded.code: "refused",
    OutOfFunds.code: "refused",
    QuotaUsedUp.code: "refused",
    Unreachable.code: "broken",
    TimedOut.code: "silent",
    ServerFault.code: "erring",
}
"""What a request that failed says, by its code."""


@quickly_made
@dataclass(frozen=True, slots=True)
class CallSign:
    """What one request says of its endpoint, and in which words."""

    sign: Sign
    status: int | None = None
    """The HTTP status that it was answered with, if any."""
    said: str = ""
    """What its error says, in a sentence."""
    hint: str = ""
    """What can be done about that."""
    case: str = ""
    """What it was for."""
    waited_s: float = 0.0
    """How long it was under way."""
    asked_s: float = 0.0
    """How long the endpoint asks not to be asked again."""


def call_sign(
    outcome: CallOutcome, row: RequestRow, hint: str = "", asked_s: float | None = None
) -> CallSign:
    """Return what the record of a request says of its endpoint, which asks for so long a pause."""
    sign = _sign_of(outcome, row)
    return CallSign(sign, row.status, row.message, hint, row.case, row.latency_s, asked_s or 0.0)


def _sign_of(outcome: CallOutcome, row: RequestRow) -> Sign:
    if outcome == "unavailable":
        return "unconnected" if row.status is None else "unserved"
    return _OF_FAILURES.get(row.code, "failed") if outcome == "failed" else outcome
