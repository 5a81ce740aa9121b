"""Stop a run early: no new request is sent, and those in flight may finish."""

from __future__ import annotations

from collections.abc import Callable

from pipeline.stopping.awaited import AwaitedEndpoints
from pipeline.stopping.open_requests import OpenRequests
from scenarios.errors import RunError
from scenarios.log import logger

INTERRUPTED = "interrupted"
BUDGET = "budget"
OUT_OF_FUNDS = "out_of_funds"
"""The account at the endpoint has no credit left."""
QUOTA = "quota"
"""A quota of a day or longer is used up; it is renewed by itself."""
UNAVAILABLE = "unavailable"
"""The endpoint does not answer, or only with faults that pass."""
REFUSED = "refused"
"""What is sent is refused, or what comes back cannot be read, throughout: it would go on so."""
STORE = "store"
"""The database of the run cannot be written."""
INTERNAL = "internal_error"
"""A fault in hipo or a plugin, throughout."""
CONFIGURATION = "configuration"
"""The user has to mend something first: a key, the name of a model, a setting."""
ENOUGH = "enough"
"""What was asked for is there: the run is complete, though cases of its plan may be left."""
NOT_ENOUGH = "not_enough"
"""Everything that may be played was, and less was accepted than was asked for."""

_log = logger("runner")


class MustStop(RunError):
    """Ends the run: no job could go on now. What is not done stays pending."""

    def __init__(self, reason: str, code: str, advice: str = "") -> None:
        """Keep the reason in a sentence, the same in a word, and what the user can do.

        Without ``advice`` the user is told what always holds for the code.
        """
        super().__init__(reason)
        self.message = reason
        self.code = code
        self.advice = advice


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
        self.advice = ""
        """What the user can do, where that is more than what always holds for the code."""
        self.in_flight = OpenRequests()
        """What a stop waits for: requests that were sent and are paid for."""
        self.awaited = AwaitedEndpoints()
        """What the run itself waits for."""
        self.gives_way = False
        """Whether it waits for hours for what is paid for, so that an interrupt takes its place."""
        self._told: list[Callable[[], None]] = []

    @property
    def requested(self) -> bool:
        """Whether a stop was requested."""
        return self.reason is not None

    def request(self, reason: str, code: str = INTERRUPTED, advice: str = "") -> None:
        """Ask to stop; the first reason given stays, unless it gives way to an interrupt."""
        gives_way = self.gives_way and code == INTERRUPTED
        if self.reason is None or gives_way:
            self.gives_way = False
            _log.info("stopping: %s", reason, extra={"fields": {"code": code}})
            self.reason = reason
            self.code = code
            self.advice = advice
            for tell in self._told:
                tell()

    def on_request(self, tell: Callable[[], None]) -> None:
        """Have ``tell`` called once a stop is requested, at once if it was already."""
        self._told.append(tell)
        if self.requested:
            tell()

    def check(self) -> None:
        """Do nothing unless a stop was asked for.

        Raises:
            Stopped: a stop was asked for.
        """
        if self.reason is not None:
            raise Stopped(self.reason, self.code)
