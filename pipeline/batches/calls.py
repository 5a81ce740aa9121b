"""Calls to a batch API that wait through outages: what lies there is paid for, and worth waiting."""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from pipeline.endpoints.gate import Clock, EndpointGate
from pipeline.endpoints.signs import CallSign, Sign
from pipeline.providers.errors import (
    OutOfFunds,
    ProviderError,
    RateLimited,
    Unauthorised,
    UnknownModel,
    Unreachable,
)
from pipeline.providers.failures import NotConnected, WrongPlace
from pipeline.providers.outcome import UNSERVED
from pipeline.providers.rate_limiter import Sleep, pause
from pipeline.providers.retry import Backoff, RetryPolicy
from pipeline.stopping.stop import UNAVAILABLE, Stop

T = TypeVar("T")

ROLE = "batches"
"""In whose name the gate of the endpoint is passed."""


class PatientCalls:
    """The way to the batch API of one model."""

    def __init__(
        self,
        gate: EndpointGate,
        leaving: Stop,
        *,
        wait_s: float,
        sleep: Sleep,
        clock: Clock,
        rng: random.Random | None = None,
    ) -> None:
        """Join what calls wait for.

        Args:
            gate: holds calls back while an outage lasts, and says when it has lasted too long.
            leaving: ends all waiting once it is requested.
            wait_s: how long nothing but faults may come before the run stops.
            sleep: sleeps for seconds.
            clock: seconds that only go forward.
            rng: for the jitter of pauses.
        """
        self._gate = gate
        self._leaving = leaving
        self._wait_s = wait_s
        self._sleep = sleep
        self.clock = clock
        self.answered = False
        """Whether the batch API is known to be there: it answered, now or in an earlier process."""
        policy = RetryPolicy().endless()
        self._policy = replace(policy, max_total_s=math.inf, max_refused_s=math.inf)
        self._rng = rng or random.Random()

    async def once(self, call: Callable[[], Awaitable[T]]) -> T:
        """Make a call as soon as the endpoint is there.

        Raises:
            ProviderError: it failed.
            Stopped: the run leaves, or the endpoint was waited for long enough.
        """
        admission = await self._gate.enter(ROLE)
        came = CallSign("nothing")
        try:
            result = await call()
            came = CallSign("answered")
            self.answered |= bool(result)  # an upload that a provider does without brings nothing
        except ProviderError as error:
            came = CallSign(_sign_of(error), error.status)
            raise
        finally:
            self._gate.settle(admission, came)
        return result

    async def insist(self, call: Callable[[], Awaitable[T]]) -> T:
        """Make a call until it works.

        Raises:
            ProviderError: it failed in a way that trying again does not mend.
            Stopped: the run leaves, or the endpoint was waited for long enough.
        """
        patience = self.patience()
        while True:
            try:
                return await self.once(call)
            except ProviderError as error:
                await patience.after(error)

    def patience(self) -> Patience:
        """Return what waits after each failure of one call."""
        return Patience(self)

    def backoff(self) -> Backoff:
        """Return the pauses of one call, without an end."""
        return Backoff(self._policy, self._rng)

    def leave_if_late(self, since: float | None, error: ProviderError) -> float:
        """Have the run leave where faults have lasted for too long.

        Args:
            since: when the first of them came; None: this is it.
            error: the newest.

        Returns:
            When the first of them came.
        """
        now = self.clock()
        if since is not None and now - since > self._wait_s:
            self._leaving.request(f"the batch API fails: {error.message}", UNAVAILABLE)
        self._leaving.check()
        return now if since is None else since

    def is_misplaced(self, error: ProviderError) -> bool:
        """Return whether an error says that nothing at the address is a batch API, and ever was."""
        return isinstance(error, WrongPlace) and not self.answered

    async def pause(self, seconds: float) -> None:
        """Sleep, and wake when the run leaves.

        Raises:
            Stopped: the run leaves.
        """
        await pause(seconds, self._leaving.check, self._sleep)


class Patience:
    """The failures of one call: a pause after each, and an end when faults have lasted too long.

    How long connections that do not come about and refusals for the rate are waited for is the
    matter of the gate: something else may be answered meanwhile.
    """

    def __init__(self, calls: PatientCalls) -> None:
        """Wait as ``calls`` do; nothing has failed yet."""
        self._calls = calls
        self._backoff = calls.backoff()
        self._since: float | None = None

    async def after(self, error: ProviderError) -> None:
        """Wait before the call is tried again; the gate itself holds back during an outage.

        Raises:
            ProviderError: ``error`` itself, where trying again does not mend it.
            Stopped: the run leaves, or the endpoint was waited for long enough.
        """
        delay = self._backoff.after(error)
        if delay is None or self._calls.is_misplaced(error):
            raise error
        if not isinstance(error, NotConnected | RateLimited):
            self._since = self._calls.leave_if_late(self._since, error)
        if not isinstance(error, NotConnected):
            await self._calls.pause(delay)


def _sign_of(error: ProviderError) -> Sign:
    """Return what a failed call says of the endpoint."""
    if isinstance(error, NotConnected):
        return "unconnected"
    if error.status in UNSERVED:
        return "unserved"
    if isinstance(error, Unreachable):
        return "broken"
    if isinstance(error, RateLimited):
        return "slow_down"
    return "refused" if isinstance(error, Unauthorised | UnknownModel | OutOfFunds) else "failed"
