"""Stop a run early: no new request is sent, and those in flight may finish."""

from __future__ import annotations

from scenarios.errors import RunError
from scenarios.log import logger

INTERRUPTED = "interrupted"
BUDGET = "budget"
CONFIGURATION = "configuration"
"""The user has to mend something first: a key, the name of a model, a setting."""
ENOUGH = "enough"
"""What was asked for is there: the run is complete, though cases of its plan may be left."""
NOT_ENOUGH = "not_enough"
"""Everything that may be played was, and less was accepted than was asked for."""

_log = logger("runner")


class Stopped(RunError):
    """A stop was asked for before this request was sent; nothing was lost, the run resumes."""

    def __init__(self, reason: str, code: str = INTERRUPTED) -> None:
        """Keep the reason in a sentence, and the same in a word as ``code``."""
        super().__init__(f"stopped: {reason}")
        self.reason = reason
        self.code = code


class Stop:
    """One flag for a whole run; it is checked before every request."""

    def __init__(self) -> None:
        self.reason: str | None = None
        """Why, in a sentence; None until a stop is asked for."""
        self.code = ""
        """Why, in a word."""

    @property
    def requested(self) -> bool:
        """Whether a stop was requested."""
        return self.reason is not None

    def request(self, reason: str, code: str = INTERRUPTED) -> None:
        """Ask to stop; the first reason given stays."""
        if self.reason is None:
            _log.info("stopping: %s", reason, extra={"fields": {"code": code}})
            self.reason = reason
            self.code = code

    def check(self) -> None:
        """Do nothing unless a stop was asked for.

        Raises:
            Stopped: a stop was asked for.
        """
        if self.reason is not None:
            raise Stopped(self.reason, self.code)
