"""The wish to stop early: no new request is sent, and what is in flight may finish."""

from __future__ import annotations

from scenarios.errors import RunError


class Stopped(RunError):
    """A stop was asked for before this request was sent; nothing was lost, the run resumes."""

    def __init__(self, reason: str) -> None:
        """Keep the reason, e.g. ``interrupted`` or ``budget``."""
        super().__init__(f"stopped: {reason}")
        self.reason = reason


class Stop:
    """One flag for a whole run: whoever is about to send a request looks at it first."""

    def __init__(self) -> None:
        self.reason: str | None = None

    @property
    def requested(self) -> bool:
        """Whether somebody asked to stop."""
        return self.reason is not None

    def request(self, reason: str) -> None:
        """Ask to stop; the first reason given stays."""
        if self.reason is None:
            self.reason = reason

    def check(self) -> None:
        """Do nothing unless a stop was asked for.

        Raises:
            Stopped: a stop was asked for.
        """
        if self.reason is not None:
            raise Stopped(self.reason)
