"""How many requests may fly at once and per minute, shared by all who talk to one model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple

from aiolimiter import AsyncLimiter

from scenarios.log import logger

STOP_LOOK_S = 0.5
"""A wait looks this often whether the run has been asked to stop."""
LONGEST_CLOSURE_S = 60.0
"""No endpoint can ask for more at once."""

Sleep = Callable[[float], Awaitable[None]]
_log = logger("limits")


class ModelAddress(NamedTuple):
    """Where a model is reached; all requests to one address share its limits."""

    provider: str
    base_url: str | None
    model: str


@dataclass(frozen=True, slots=True)
class RateLimits:
    """What an endpoint may be burdened with."""

    max_concurrency: int = 8
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None

    def __post_init__(self) -> None:
        """Refuse limits that would never let a request through."""
        for name in ("max_concurrency", "requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"{name} must be above 0, got {value}")


async def pause(seconds: float, check: Callable[[], None], sleep: Sleep) -> None:
    """Sleep in short pieces, calling ``check`` before each, which raises to end the wait."""
    left = seconds
    while left > 0:
        check()
        piece = min(left, STOP_LOOK_S)
        await sleep(piece)
        left -= piece


class RateLimiter:
    """The way to one model: a permit, a request rate and a token rate.

    Bursts are kept to one second of requests and ten seconds of tokens: a whole minute's worth at
    once is what endpoints answer with 429.
    """

    def __init__(self, limits: RateLimits, sleep: Sleep = asyncio.sleep) -> None:
        """Admit as much as ``limits`` allow."""
        self.limits = limits
        self._sleep = sleep
        self._permits = asyncio.Semaphore(limits.max_concurrency)
        self._requests = _bucket(limits.requests_per_minute, burst_s=1.0, least=1.0)
        self._tokens = _bucket(limits.tokens_per_minute, burst_s=10.0, least=1.0)
        self._owed_tokens = 0.0
        self._closed_until = 0.0

    async def enter(self, tokens: int, check: Callable[[], None]) -> None:
        """Take one of the concurrent places, at the allowed rates; :meth:`leave` gives it back.

        Args:
            tokens: estimated tokens of the request, prompt and completion.
            check: called while waiting and right before entering; it raises to give up.
        """
        await self._permits.acquire()
        try:
            check()
            left = self._closed_until - asyncio.get_running_loop().time()
            if left > 0:
                _log.debug("waiting %.1f s: the endpoint asked for a pause", left)
                await pause(left, check, self._sleep)
            if self._requests is not None:
                await _acquire(self._requests, 1.0, check)
            if self._tokens is not None:
                await self._pay(self._tokens, tokens, check)
            check()
        except BaseException:
            self._permits.release()
            raise

    def leave(self) -> None:
        """Give the place back that :meth:`enter` took."""
        self._permits.release()

    def correct(self, estimated: int, actual: int) -> None:
        """Book the difference between the tokens estimated and used onto the next request."""
        if self._tokens is not None:
            self._owed_tokens += actual - estimated

    def close_for(self, seconds: float) -> None:
        """Let no further request through for ``seconds``: the endpoint has asked for a pause."""
        seconds = min(seconds, LONGEST_CLOSURE_S)
        _log.info("no request for %.1f s: the endpoint asked for a pause", seconds)
        until = asyncio.get_running_loop().time() + seconds
        self._closed_until = max(self._closed_until, until)

    async def _pay(self, bucket: AsyncLimiter, tokens: int, check: Callable[[], None]) -> None:
        """Take a request's tokens and what earlier ones still owe, as far as the bucket holds."""
        due = self._owed_tokens + tokens
        amount = min(max(due, 0.0), bucket.max_rate)
        self._owed_tokens = due - amount
        if amount > 0:
            await _acquire(bucket, amount, check)


class RateLimiters:
    """One limiter per model and address, made when it is first asked for."""

    def __init__(self, limits: RateLimits, sleep: Sleep = asyncio.sleep) -> None:
        """Give every limiter the same ``limits``."""
        self._limits = limits
        self._sleep = sleep
        self._limiters: dict[ModelAddress, RateLimiter] = {}

    def limiter(self, address: ModelAddress) -> RateLimiter:
        """Return the limiter that all requests to this model share."""
        limiter = self._limiters.get(address)
        if limiter is None:
            limiter = self._limiters[address] = RateLimiter(self._limits, self._sleep)
        return limiter


def _bucket(per_minute: float | None, *, burst_s: float, least: float) -> AsyncLimiter | None:
    """Build a leaky bucket of the given rate that lets ``burst_s`` seconds' worth in at once."""
    if per_minute is None:
        return None
    capacity = max(least, per_minute * burst_s / 60.0)
    return AsyncLimiter(capacity, time_period=capacity * 60.0 / per_minute)


async def _acquire(bucket: AsyncLimiter, amount: float, check: Callable[[], None]) -> None:
    """Wait for room in the bucket, looking now and then whether waiting is still wanted."""
    if bucket.has_capacity(amount):
        await bucket.acquire(amount)
        return
    _log.debug("waiting for the rate: %.0f of %.0f at once", amount, bucket.max_rate)
    waiting = asyncio.ensure_future(bucket.acquire(amount))
    try:
        while not waiting.done():
            check()
            await asyncio.wait({waiting}, timeout=STOP_LOOK_S)
    finally:
        waiting.cancel()
