"""When to try again: exponential backoff with jitter, and what the endpoint itself asks for."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pipeline.providers.errors import ProviderError, RateLimited

LONGEST_RETRY_AFTER_S = 86_400.0
"""A longer pause than this day is no pause, and taken for none."""

EARLIEST_MOMENT_S = 1e9
"""A greater number of seconds is a moment, counted from 1970 on, and no pause."""

_PAUSE = r"(?:(\d{1,6}) ?h[a-z]*)? ?(?:(\d{1,6}) ?m(?!s|illi)[a-z]*)? ?(?:(\d{1,9}(?:\.\d{1,12})?) ?(ms|s))?"
_SECONDS = re.compile(_PAUSE, re.IGNORECASE)
_IN_WORDS = re.compile(rf"\b(?:retry|try again) (?:in|after) {_PAUSE}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long a failed request is tried again; all times in seconds."""

    max_attempts: int = 8
    """Attempts in all, the first included; 1 never retries. Refusals for the rate do not count."""
    initial_s: float = 1.0
    """Upper end of the first pause; it doubles with every further failure."""
    max_pause_s: float = 60.0
    """No pause is longer, not even one that the endpoint asks for."""
    max_total_s: float = 600.0
    """Pauses of one request after faults add up to no more than this."""
    max_refused_s: float = 3600.0
    """... and those after refusals for the rate to no more than this."""

    def endless(self) -> RetryPolicy:
        """Return the same pauses for any number of attempts."""
        return replace(self, max_attempts=sys.maxsize)


class Backoff:
    """The pauses of one request: a new one for each failure, until the policy is exhausted."""

    def __init__(self, policy: RetryPolicy, rng: random.Random) -> None:
        """Start counting; ``rng`` supplies the jitter."""
        self._policy = policy
        self._rng = rng
        self._failures = 0
        self._waited_s = 0.0
        self._refusals = 0
        self._refused_s = 0.0

    def after(self, error: ProviderError) -> float | None:
        """Return the seconds to wait after ``error``, or None if it is to be raised.

        A pause that the endpoint named is taken (up to the longest allowed) with up to a tenth
        on top, so that waiting requests do not come back in one moment. Otherwise, and where
        the endpoint keeps naming less than ``initial_s``, the pause is drawn between half of the
        exponential step and all of it. A request that is refused for the rate (429, 529) was not
        tried: it does not use up an attempt.
        """
        if not error.retryable:
            return None
        policy = self._policy
        if isinstance(error, RateLimited):
            self._refusals += 1
            pause = self._pause(self._refusals, error.retry_after_s)
            self._refused_s += pause
            return pause if self._refused_s <= policy.max_refused_s else None
        self._failures += 1
        if self._failures >= policy.max_attempts:
            return None
        pause = self._pause(self._failures, error.retry_after_s)
        self._waited_s += pause
        return pause if self._waited_s <= policy.max_total_s else None

    def _pause(self, times: int, asked: float | None) -> float:
        """Return the pause after the same thing happened so many times."""
        policy = self._policy
        if asked is not None and (asked >= policy.initial_s or times == 1):
            pause = asked * (1.0 + 0.1 * self._rng.random())
        else:
            # 2**60 s is long enough, and a float.
            step = policy.initial_s * 2.0 ** min(times - 1, 60)
            pause = min(policy.max_pause_s, step) * (0.5 + 0.5 * self._rng.random())
        return min(pause, policy.max_pause_s)


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Read how many seconds an endpoint asks to wait, from any of the spellings in use.

    ``retry-after-ms`` wins over ``retry-after``, which may hold seconds, an HTTP date or an ISO time.
    Header names are compared without case; a value that is none of these, lies in the past, or is
    longer than a day gives None: no run waits for the year 9999.
    """
    lowered = _lowered(headers)
    seconds = _number(lowered.get("retry-after-ms"))
    if seconds is not None:
        return _plausible(seconds / 1000.0)
    text = lowered.get("retry-after")
    if text is None:
        return None
    seconds = _number(text)
    return _pause_or_moment(text, now) if seconds is None else _plausible(seconds)


def until_reset(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds until a limit is lifted that a request ran into, where a header says when.

    ``x-ratelimit-reset`` holds a pause such as ``30`` or ``1m26.4s``, an ISO time, or seconds or
    milliseconds since 1970; with ``-requests`` or ``-tokens`` behind it, it is of one of two limits,
    of which the sooner counts. Many endpoints send it with whatever they answer: it is to be read of
    refusals for the rate only, and where ``x-ratelimit-remaining`` says that nothing is left of this
    limit, or, of the one without a name, says nothing.
    """
    lowered = _lowered(headers)
    left = {
        limit: _number(lowered.get(f"x-ratelimit-remaining{limit}", "0" if not limit else None))
        for limit in ("", "-requests", "-tokens")
    }
    resets = (
        _until_reset(lowered.get(f"x-ratelimit-reset{limit}", ""), now)
        for limit, count in left.items()
        if count == 0
    )
    return min((seconds for seconds in resets if seconds is not None), default=None)


def _lowered(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value.strip() for name, value in headers.items()}


def _pause_or_moment(text: str, now: datetime | None) -> float | None:
    """Return the seconds of a pause in words, or until a moment that is a date of HTTP or of ISO."""
    seconds = seconds_of(text)
    if seconds is not None:
        return seconds
    try:
        moment = _moment(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        delta = (moment - (now or datetime.now(UTC))).total_seconds()
    except (
        ValueError,
        TypeError,
        IndexError,
        OverflowError,
    ):  # the parsers are not made for garbage
        return None
    return _plausible(delta) if delta > 0 else None


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return parsedate_to_datetime(text)


def _until_reset(text: str, now: datetime | None) -> float | None:
    """Return the seconds until a limit is lifted, from any text that says when."""
    reset = _number(text)
    if reset is None:
        return _pause_or_moment(text, now)
    if reset >= 1_000 * EARLIEST_MOMENT_S:
        reset /= 1_000
    if reset >= EARLIEST_MOMENT_S:
        reset -= (now or datetime.now(UTC)).timestamp()
    return _plausible(reset) if reset > 0 else None


def asked_in_words(message: str) -> float | None:
    """Return how many seconds the words of a refusal ask to wait, e.g. ``retry in 1m3.5s``."""
    return _seconds(_IN_WORDS.search(message))


def seconds_of(text: str) -> float | None:
    """Return a pause in seconds, e.g. of ``1m3.5s``; None where the text is none."""
    return _seconds(_SECONDS.fullmatch(text))


def _seconds(found: re.Match[str] | None) -> float | None:
    if found is None or not any(found.groups()):
        return None
    hours, minutes, rest, unit = found.groups()
    seconds = float(rest or 0.0) / (1000.0 if unit and unit.lower() == "ms" else 1.0)
    return _plausible(int(hours or 0) * 3600.0 + int(minutes or 0) * 60.0 + seconds)


def _plausible(seconds: float) -> float | None:
    """Return a pause that a run can make, or None."""
    return seconds if seconds <= LONGEST_RETRY_AFTER_S else None


def _number(text: str | None) -> float | None:
    """Return a finite, non-negative number of seconds, or None."""
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 <= value < 1e13 else None
