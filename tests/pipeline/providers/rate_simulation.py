"""Calls that go through a real limiter to a simulated server with a limit, in virtual time."""

from __future__ import annotations

import asyncio
import math
import random
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pipeline.providers.errors import RateLimited
from pipeline.providers.rate_limiter import RateLimiter, RateLimits
from pipeline.providers.retry import Backoff, RetryPolicy
from tests.virtual_time import run_virtually


class Limit(Protocol):
    def take(self, now: float) -> float | None:
        """Let a request in (None), or say in how many seconds one may come."""


class Bucket:
    """Refills with ``rate`` a second up to ``size``."""

    def __init__(self, rate: float, size: float | None = None) -> None:
        self.rate = rate
        self.size = size or max(1.0, rate)
        self._held, self._at = self.size, 0.0

    def take(self, now: float) -> float | None:
        self._held = min(self.size, self._held + (now - self._at) * self.rate)
        self._at = now
        if self._held >= 1.0 - 1e-9:
            self._held -= 1.0
            return None
        return (1.0 - self._held) / self.rate


class TokenBucket:
    """Refills with ``rate`` tokens a second; requests take 1,000 to 2,500 of them."""

    def __init__(self, rate: float, size: float) -> None:
        self.rate, self.size = rate, size
        self._held, self._at = size, 0.0
        self._dice = random.Random(2)

    def take(self, now: float) -> float | None:
        self._held = min(self.size, self._held + (now - self._at) * self.rate)
        self._at = now
        wanted = self._dice.randint(1000, 2500)
        if self._held >= wanted:
            self._held -= wanted
            return None
        return (wanted - self._held) / self.rate


class FixedWindow:
    """So many in every window of so many seconds."""

    def __init__(self, count: int, seconds: float) -> None:
        self.count, self.seconds = count, seconds
        self._window, self._taken = -1, 0

    def take(self, now: float) -> float | None:
        window = int(now // self.seconds)
        if window != self._window:
            self._window, self._taken = window, 0
        if self._taken < self.count:
            self._taken += 1
            return None
        return (window + 1) * self.seconds - now


class SlidingWindow:
    """So many in any so many seconds."""

    def __init__(self, count: int, seconds: float) -> None:
        self.count, self.seconds = count, seconds
        self._taken: deque[float] = deque()

    def take(self, now: float) -> float | None:
        while self._taken and self._taken[0] <= now - self.seconds:
            self._taken.popleft()
        if len(self._taken) < self.count:
            self._taken.append(now)
            return None
        return self._taken[0] + self.seconds - now


class Chance:
    """Refuses a share of the requests, whatever their rate."""

    def __init__(self, share: float, seed: int = 1) -> None:
        self.share = share
        self._dice = random.Random(seed)

    def take(self, now: float) -> float | None:
        return 1.0 if self._dice.random() < self.share else None


class Away:
    """Refuses everything for ``seconds``, and is another limit from then on."""

    def __init__(self, then: Limit, seconds: float) -> None:
        self.then, self.seconds = then, seconds

    def take(self, now: float) -> float | None:
        return 1.0 if now < self.seconds else self.then.take(now)


class NoLimit:
    def take(self, now: float) -> float | None:
        return None


@dataclass
class Traffic:
    """When requests were sent, and which of them were refused."""

    accepted: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    failed: int = 0
    learned: float | None = None

    def per_second(self, since: float, until: float) -> float:
        return sum(since <= at < until for at in self.accepted) / (until - since)

    def refused_share(self, since: float) -> float:
        refused = sum(at >= since for at in self.refused)
        return refused / (refused + sum(at >= since for at in self.accepted))


@dataclass
class Simulation:
    """Calls one after the other, ``live`` of them at a time, for ``seconds``."""

    limit: Limit
    seconds: float
    latency_s: float = 0.2
    retry_after: bool | float = True
    """Whether a refusal says when to come back; a number: what it always says."""
    places: int = 32
    begin_with: int | None = None
    live: int | None = None
    """Calls at a time; None is a quarter more than there are places."""
    spread: float = 1.0
    """How much latencies differ: by half of them at 1, not at all at 0, so that calls come in step."""
    seed: int = 0
    limiter: RateLimiter | None = None
    """What the calls go through; None makes one with so many places."""
    changes: Mapping[float, Callable[[], None]] = field(default_factory=dict)

    def run(self) -> Traffic:
        return run_virtually(self.traffic())

    async def traffic(self) -> Traffic:
        self._limiter = self.limiter or RateLimiter(
            RateLimits(max_concurrency=self.places), begin_with=self.begin_with
        )
        self._dice = random.Random(self.seed)
        self._traffic = Traffic()
        loop = asyncio.get_running_loop()
        for at, change in self.changes.items():
            loop.call_at(at, change)
        live = self.live or round(1.25 * self.places)
        calls = [asyncio.ensure_future(self._calls()) for _ in range(live)]
        await asyncio.sleep(self.seconds)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        self._traffic.learned = self._limiter.learned_per_second
        return self._traffic

    async def _calls(self) -> None:
        while True:
            backoff = Backoff(RetryPolicy(max_attempts=6), self._dice)
            while (error := await self._call()) is not None:
                pause = backoff.after(error)
                if pause is None:
                    self._traffic.failed += 1
                    break
                await asyncio.sleep(pause)

    async def _call(self) -> RateLimited | None:
        entry = await self._limiter.enter(1000, lambda: None)
        now = asyncio.get_running_loop().time()
        wait_s = self.limit.take(now)
        if wait_s is None:
            odd = self.spread * (self._dice.random() - 0.5)
            await asyncio.sleep(self.latency_s * (1.0 + odd))
            self._traffic.accepted.append(now)
            self._limiter.leave(entry, "answered", latency_s=self.latency_s)
            return None
        await asyncio.sleep(min(self.latency_s, 0.05) * self._dice.uniform(0.7, 1.3))
        self._traffic.refused.append(now)
        named = self._named(wait_s)
        self._limiter.leave(entry, "slow_down", latency_s=0.1, retry_after_s=named)
        return RateLimited("slow down", status=429, retry_after_s=named)

    def _named(self, wait_s: float) -> float | None:
        if isinstance(self.retry_after, float):
            return self.retry_after
        return float(math.ceil(wait_s)) if self.retry_after else None
