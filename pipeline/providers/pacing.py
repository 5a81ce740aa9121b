"""Space requests out evenly in time: when the next one is due, as a function of the last ones."""

from __future__ import annotations

SLACK_S = 0.05
"""How far a request may be late without the next ones being late for it: timers are not exact."""
MINUTE_S = 60.0


class Pace:
    """One request after the other, each a given time after the one before.

    There is no burst: the first minute lets no more through than any other. A pause that nobody
    uses is lost, but for the slack.
    """

    def __init__(self) -> None:
        """Let the first request go at once."""
        self._due_at: float | None = None

    def wait_s(self, now: float) -> float:
        """Return in how many seconds the next request may go; 0: at once."""
        return 0.0 if self._due_at is None else max(0.0, self._due_at - now)

    def take(self, now: float, interval_s: float) -> None:
        """Let one request go; the next one is due ``interval_s`` later."""
        began = now if self._due_at is None else max(self._due_at, now - SLACK_S)
        self._due_at = began + interval_s

    def put_off(self, until: float) -> None:
        """Let the next request go at ``until``, not before and not later."""
        self._due_at = until

    def bring_forward(self, until: float) -> None:
        """Let the next request go no later than ``until``."""
        self._due_at = until if self._due_at is None else min(self._due_at, until)


class MinuteLimit:
    """A limit per minute that holds in every minute, the first included."""

    def __init__(self, per_minute: float) -> None:
        """Allow so many requests, or tokens, in any 60 seconds."""
        # Those that are late shorten the pause behind them by up to the slack: a minute is that
        # much longer, so that it never holds one more than allowed.
        self._each_s = (MINUTE_S + SLACK_S) / per_minute
        self._pace = Pace()
        self._owed = 0.0

    def wait_s(self, now: float) -> float:
        """Return in how many seconds the next request may go; 0: at once."""
        return self._pace.wait_s(now)

    def take(self, now: float, amount: float) -> None:
        """Let a request of this size go, and have it pay what earlier ones still owe.

        A size is paid for after it went: the limit lets one through that is larger than itself.
        """
        due = max(0.0, self._owed + amount)
        self._owed += amount - due
        self._pace.take(now, due * self._each_s)

    def owe(self, amount: float) -> None:
        """Book what a request used beyond its estimate, or less (negative), onto the next one."""
        self._owed += amount
