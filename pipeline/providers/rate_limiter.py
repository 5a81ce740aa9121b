"""How many requests may fly at once and how fast, shared by all who talk to one model."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace
from typing import NamedTuple

from pipeline.providers.concurrency import ConcurrencyWindow, Places, Seat
from pipeline.providers.outcome import CallOutcome
from pipeline.providers.pacing import MinuteLimit
from pipeline.providers.send_rate import SendRate, Sent
from scenarios.log import logger
from scenarios.quick_records import quickly_made

STOP_LOOK_S = 0.5
"""A wait looks this often whether the run has been asked to stop."""
SOON_S = 0.05
"""... and so often while one may be let in at any moment."""
NEWS = 1.25
"""A learned rate that changes by this factor is told again."""

Sleep = Callable[[float], Awaitable[None]]
Clock = Callable[[], float]
_log = logger("limits")


class ModelAddress(NamedTuple):
    """Where a model is reached; all requests to one address share its limits."""

    provider: str
    base_url: str | None
    model: str

    @property
    def name(self) -> str:
        """``provider/model``."""
        return f"{self.provider}/{self.model}"


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


@quickly_made
@dataclass(frozen=True, slots=True)
class Entry:
    """One of the concurrent places, taken; it is given back by :meth:`RateLimiter.leave`."""

    sent: Sent
    seat: Seat
    likely_tokens: int


@dataclass(frozen=True, slots=True, eq=False)
class _InLine:
    """Somebody in the line."""

    tokens: int
    called: asyncio.Future[Entry | None]
    """A place; None: there is none yet, and who is called is the first of the line now."""


async def pause(seconds: float, check: Callable[[], None], sleep: Sleep) -> None:
    """Sleep in short pieces, calling ``check`` before each, which raises to end the wait."""
    left = seconds
    while left > 0:
        check()
        piece = min(left, STOP_LOOK_S)
        await sleep(piece)
        left -= piece


def loop_time() -> float:
    """Return the time of the running event loop, in seconds."""
    return asyncio.get_running_loop().time()


class RateLimiter:
    """The way to one model: a place, the user's rates per minute, and the rate that was learned.

    Who waits stands in one line, first come, first served; only the first looks at places and
    rates, and lets in at once all behind it for whom there is a place, too. What to wait for is decided by :class:`SendRate` and :class:`MinuteLimit`, which know no
    event loop.
    """

    def __init__(
        self,
        limits: RateLimits,
        sleep: Sleep = asyncio.sleep,
        clock: Clock = loop_time,
        begin_with: int | None = None,
        grown: Callable[[], None] = lambda: None,
    ) -> None:
        """Admit as much as ``limits`` allow.

        Args:
            limits: the most that is allowed.
            sleep: waits.
            clock: says what time it is, in seconds.
            begin_with: so many places are there at first, and how many are best is found out;
                None: as many as ``limits`` allow, for good.
            grown: is called when there are more places than before.
        """
        self._grown = grown
        self.limits = limits
        self._sleep = sleep
        self._clock = clock
        self._line: deque[_InLine] = deque()
        self._ahead: deque[_InLine] = deque()
        """Another line, which comes before the first."""
        self._has_first = False
        """Whether somebody is the first, who is in no line any more."""
        self._window = ConcurrencyWindow(limits.max_concurrency, begin_with)
        self._flying = 0
        self._freed: asyncio.Future[None] | None = None
        """The first in the line waits for it while all places are taken."""
        self._requests = _per_minute(limits.requests_per_minute)
        self._tokens = _per_minute(limits.tokens_per_minute)
        self._rate = SendRate()
        self._told: float | None = None
        self._held_back = False
        """Whether the last request had to wait for the learned rate."""

    @property
    def places(self) -> int:
        """How many requests may fly at once at the moment."""
        return self._window.places

    @property
    def learned_per_second(self) -> float | None:
        """Requests per second that the endpoint seems to allow; None where it refused none."""
        return self._rate.per_second()

    @property
    def keeps_to_rate(self) -> bool:
        """Whether requests keep to a rate, set or learned."""
        limited = self._requests is not None or self._tokens is not None
        return limited or self.learned_per_second is not None

    @property
    def held_back_to(self) -> float | None:
        """Requests per second, if the learned rate is what requests wait for at the moment."""
        return self.learned_per_second if self._held_back else None

    async def enter(self, tokens: int, check: Callable[[], None], *, ahead: bool = False) -> Entry:
        """Take one of the concurrent places, at the allowed rates.

        Args:
            tokens: estimated tokens of the request, prompt and completion.
            check: called while waiting and right before entering; it raises to give up.
            ahead: whether to stand before all others in the line, but for those who do so, too.
        """
        if self._has_first:
            entry = await self._called(tokens, check, ahead=ahead)
            if entry is not None:
                return entry
        self._has_first = True
        try:
            return await self._as_first(tokens, check)
        finally:
            self._let_in()

    async def _as_first(self, tokens: int, check: Callable[[], None]) -> Entry:
        """Wait for a place, then for the rates."""
        waited = False
        while True:
            check()
            if self._flying >= self._window.places:
                await self._place()
                continue
            now = self._clock()
            learned_s = self._rate.wait_s(now)
            wait_s = max(learned_s, self._minutes_wait_s(now))
            if wait_s <= 0.0:
                return self._entry(tokens, now, waited=waited)
            waited = waited or learned_s > 0.0
            self._held_back = waited
            look_s = SOON_S if self._rate.asks_at_once else STOP_LOOK_S
            await self._sleep(min(wait_s, look_s))

    async def _called(self, tokens: int, check: Callable[[], None], *, ahead: bool) -> Entry | None:
        """Wait in the line for a place, or to be the first."""
        waiting = _InLine(tokens, asyncio.get_running_loop().create_future())
        (self._ahead if ahead else self._line).append(waiting)
        try:
            entry = await waiting.called
        except asyncio.CancelledError:
            if not waiting.called.cancelled():  # called, and called off in the same moment
                entry = waiting.called.result()
                self._let_in() if entry is None else self.withdraw(entry)
            raise
        if entry is not None:
            try:
                check()
            except BaseException:
                self.withdraw(entry)
                raise
        return entry

    def _let_in(self) -> None:
        """Give places to those in the line as long as there are any; who gets none is the first.

        One after the other, each a step of the event loop later, would be as slow as those steps are
        long: while the answers to 256 requests are read, the next 256 would wait.
        """
        self._has_first = False
        if not (self._ahead or self._line):
            return
        now = self._clock()
        while (line := self._ahead or self._line) and not self._has_first:
            waiting = line.popleft()
            if waiting.called.done():
                continue  # it was called off
            self._has_first = self._flying >= self._window.places or (
                max(self._rate.wait_s(now), self._minutes_wait_s(now)) > 0.0
            )
            waiting.called.set_result(
                None if self._has_first else self._entry(waiting.tokens, now, waited=False)
            )

    def _entry(self, tokens: int, now: float, *, waited: bool) -> Entry:
        """Take a place that is free."""
        self._flying += 1
        self._held_back = waited
        if self._requests is not None:
            self._requests.take(now, 1.0)
        if self._tokens is not None:
            self._tokens.take(now, tokens)
        seat = self._window.seat(self._flying)
        return Entry(self._rate.sent(now, waited=waited), seat, tokens)

    def withdraw(self, entry: Entry) -> None:
        """Give a place back that no request was sent from."""
        self._give_back(entry, 0)

    def leave(
        self,
        entry: Entry,
        outcome: CallOutcome,
        *,
        latency_s: float,
        timed_out: bool = False,
        used_tokens: int | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        """Give a place back and learn from what the request came to.

        Args:
            entry: the place.
            outcome: what became of the request.
            latency_s: how long it took.
            timed_out: whether it was not answered in time.
            used_tokens: what it really used, where that is known.
            retry_after_s: when the endpoint wants to be asked again, if it said so.
        """
        now = self._clock()
        if outcome == "slow_down":
            self._rate.refused(entry.sent, now, retry_after_s or 0.0)
            self._tell()
        elif outcome != "unavailable":
            self._rate.answered(entry.sent, now)
        before = self.places
        if outcome == "answered":
            self._window.answered(entry.seat, latency_s)
        elif timed_out:
            self._window.timed_out(entry.seat, latency_s)
        self._give_back(entry, used_tokens)
        if self.places > before:
            self._grown()

    def _give_back(self, entry: Entry, used_tokens: int | None) -> None:
        self._flying -= 1
        if self._freed is not None and not self._freed.done():
            self._freed.set_result(None)
        if self._tokens is not None and used_tokens is not None:
            self._tokens.owe(used_tokens - entry.likely_tokens)

    async def _place(self) -> None:
        """Wait until a place may have become free."""
        self._freed = asyncio.get_running_loop().create_future()
        try:
            await self._freed
        finally:
            self._freed = None

    def _minutes_wait_s(self, now: float) -> float:
        requests = 0.0 if self._requests is None else self._requests.wait_s(now)
        return requests if self._tokens is None else max(requests, self._tokens.wait_s(now))

    def _tell(self) -> None:
        """Log the learned rate when it is new, or much changed."""
        rate = self._rate.per_second()
        if rate is None or (self._told and self._told / NEWS < rate < self._told * NEWS):
            return
        self._told = rate
        fields = {"requests_per_second": round(rate, 3)}
        _log.info(
            "the endpoint allows about %.3g requests a second", rate, extra={"fields": fields}
        )


class RateLimiters:
    """One limiter per model and address, made when it is first asked for."""

    def __init__(
        self,
        limits: RateLimits,
        sleep: Sleep = asyncio.sleep,
        clock: Clock = loop_time,
        places: Callable[[str], Places] | None = None,
    ) -> None:
        """Give every limiter the same ``limits``.

        Args:
            limits: of each model.
            sleep: waits.
            clock: says what time it is, in seconds.
            places: says for a provider how many requests may fly at once; None: ``limits`` do.
        """
        self._limits = limits
        self._sleep = sleep
        self._clock = clock
        self._places = places
        self._grown: Callable[[], None] | None = None
        self._limiters: dict[ModelAddress, RateLimiter] = {}

    def limiter(self, address: ModelAddress) -> RateLimiter:
        """Return the limiter that all requests to this model share."""
        limiter = self._limiters.get(address)
        if limiter is None:
            limits, begin_with = self._limits, None
            if self._places is not None:
                places = self._places(address.provider)
                limits = replace(limits, max_concurrency=places.most)
                begin_with = places.begin_with
            limiter = RateLimiter(limits, self._sleep, self._clock, begin_with, self._tell)
            self._limiters[address] = limiter
            self._tell()
        return limiter

    def all(self) -> Collection[RateLimiter]:
        """Return the limiters of all models that were asked so far."""
        return self._limiters.values()

    def watch(self, grown: Callable[[], None] | None) -> None:
        """Have ``grown`` called when there are more places than before; None ends it."""
        self._grown = grown

    def _tell(self) -> None:
        if self._grown is not None:
            self._grown()

    @property
    def held_back_to(self) -> float | None:
        """Requests per second that the slowest model is held back to, if any is.

        Threads that show progress ask for it, too, while other models are asked for the first time.
        """
        rates = (limiter.held_back_to for limiter in tuple(self._limiters.values()))
        return min((rate for rate in rates if rate is not None), default=None)


def _per_minute(limit: float | None) -> MinuteLimit | None:
    return None if limit is None else MinuteLimit(limit)
