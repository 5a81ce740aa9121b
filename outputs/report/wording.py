"""Format numbers for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from scenarios.plural import ROUNDING_USD, in_dollars, plural
from scenarios.terms import LabelValue

if TYPE_CHECKING:
    from outputs.reliability.judge_agreement import ConfirmedShare
    from pipeline.store.queries.status import RunState
    from quality.statistics.bootstrap import Interval
    from scenarios.schemes.model import Scheme

NOTHING = "\u2013"
FEW = 10
"""Scenarios below which a percentile bootstrap over them is hardly worth its name."""


def count(number: int | None) -> str:
    """Return a whole number with thousands separated."""
    return NOTHING if number is None else f"{number:,}"


def percent(value: float | None) -> str:
    """Return a share of one as a percentage."""
    return NOTHING if value is None else f"{100 * value:.1f}%"


def part(number: int, whole: int) -> str:
    """Return a count with its share of the whole."""
    return f"{count(number)} ({percent(number / whole)})" if whole else count(number)


def spread(interval: Interval | None) -> str:
    """Return an interval of shares, in per cent."""
    return "" if interval is None else f"{100 * interval.low:.0f}{NOTHING}{100 * interval.high:.0f}"


def share(confirmed: ConfirmedShare) -> str:
    """Return a share with its interval."""
    bounds = spread(confirmed.interval)
    return percent(confirmed.value) + (f" [{bounds}]" if bounds else "")


def ratio(value: float | None) -> str:
    """Return a number around one with two digits."""
    return NOTHING if value is None else f"{value:.2f}"


def dollars(cost: float | None) -> str:
    """Return a cost; an unknown one is called unknown."""
    return "unknown" if cost is None else in_dollars(cost)


def bill(cost: float | None, unknown: int, bound: float) -> str:
    """Return what calls have cost, and how much more that can be where it is not known of some.

    Args:
        cost: of the calls whose cost is known, in US dollars; None where that is no call.
        unknown: calls whose cost is not known.
        bound: the most that those of them can have cost whose price is known.
    """
    if not unknown:
        return dollars(cost)
    known = f"{dollars(cost)} and " if cost else ""  # "$0.00 and ..." reads as if they were free
    if bound <= ROUNDING_USD:
        return f"{known}{plural(unknown, 'call')} of unknown cost"
    return f"{known}at most {dollars(bound)} for {plural(unknown, 'call')} of unknown usage"


def untold_cost(state: RunState) -> str:
    """Return what is said after the known cost of a run: what other calls can have cost; or nothing."""
    unknown = state.unpriced_calls + state.calls_in_flight
    if state.bound_usd > ROUNDING_USD:
        return f"at most {dollars(state.bound_usd)} more for {plural(unknown, 'call')} of unknown usage"
    return f"{plural(unknown, 'call')} of unknown cost" if unknown else ""


def untold(bound: int) -> str:
    """Return what is said after a number of tokens of calls that did not tell theirs.

    Args:
        bound: the most that those can have taken.
    """
    return f" and at most {count(bound)} more where usage is unknown" if bound else ""


def duration(milliseconds: float | None) -> str:
    """Return a time in the unit that fits it."""
    if milliseconds is None:
        return NOTHING
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


def moment(seconds: float) -> str:
    """Return a Unix time as date and time in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def label(value: LabelValue) -> str:
    """Return a label, several of them, or a number."""
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return value if isinstance(value, str) else f"{value:g}"


def dimension_title(scheme: Scheme, dimension: str) -> str:
    """Return what people call a dimension, in few words."""
    for candidate in scheme.dimensions:
        if candidate.id == dimension:
            return (candidate.title or candidate.id).partition(" (")[0]
    return dimension.replace("_", " ").capitalize()


def narrow(scenarios: int) -> str:
    """Return a warning where intervals rest on too few scenarios to be trusted; else nothing."""
    if scenarios >= FEW:
        return ""
    return (
        f"Only {plural(scenarios, 'scenario')} to draw from: intervals over fewer than {FEW} are "
        "narrower than they should be."
    )


def reasons(counts: Mapping[str, int] | Iterable[tuple[str, int]], most: int = 6) -> str:
    """Return reasons with their counts, the commonest first; beyond ``most`` only how many."""
    pairs = counts.items() if isinstance(counts, Mapping) else counts
    ranked = sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
    shown = ", ".join(f"{name} {number:,}" for name, number in ranked[:most])
    return shown + (f", and {len(ranked) - most} more" if len(ranked) > most else "")
