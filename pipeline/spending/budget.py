"""A budget that cannot be overrun: the worst case is reserved before a request is sent."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass

from pipeline.stopping.stop import BUDGET, MustStop
from pipeline.store.calls import CallLog
from pipeline.store.flight_mark import FlightMark
from scenarios.errors import UsageError
from scenarios.plural import ROUNDING_USD, in_dollars


class BudgetReached(MustStop):
    """The next request could cost more than what is left; the run can be resumed with more."""

    def __init__(self, reason: str, advice: str = "") -> None:
        """Say what is spent, and how much would let the run go on."""
        super().__init__(reason, BUDGET, advice)


@dataclass(slots=True)
class Reservation:
    """Money and tokens held back for one request, its worst case."""

    number: int
    """Among the reservations of its ledger."""
    usd: float
    tokens: int
    id: int | None
    """Id of the durable row (None without a budget): the record of the request carries it, and the
    row goes away in the transaction that stores the record. That of a request that is gathered into
    a batch gets its row when the batch is written down."""


class Ledger:
    """What was spent and what is held back; grants reservations while the budget allows.

    The sum of what was spent and every open reservation never exceeds the budget. Without a
    budget every reservation is granted at once, and only the most that was in flight is written.
    """

    def __init__(
        self,
        *,
        budget_usd: float | None = None,
        budget_tokens: int | None = None,
        spent_usd: float = 0.0,
        spent_tokens: int = 0,
        bound_usd: float = 0.0,
        bound_tokens: int = 0,
        log: CallLog | None = None,
    ) -> None:
        """Start from what the run has spent so far (``RunStore.spent()``).

        Reservations are written to ``log``, so that what a process had in flight when it died
        stays charged: under a budget each of them, otherwise the most that was held at once.
        """
        self.budget_usd = budget_usd
        self.budget_tokens = budget_tokens
        self.spent_usd = spent_usd
        self.spent_tokens = spent_tokens
        self.bound_usd = bound_usd
        """The part of ``spent_usd`` that is the most possible, because usage is not known."""
        self.bound_tokens = bound_tokens
        self.held_usd = 0.0
        self.held_tokens = 0
        self._log = log
        self._largest_usd = 0.0
        self._largest_tokens = 0
        self._granted = 0
        self._open: set[int] = set()
        self._waiting: list[asyncio.Future[None]] = []
        self._flight = _Flight(log)

    @property
    def limited(self) -> bool:
        """Whether there is any budget to keep."""
        return self.budget_usd is not None or self.budget_tokens is not None

    async def reserve(
        self, usd: float | None, tokens: int, *, durable: bool = True, travels: bool = True
    ) -> Reservation:
        """Hold back the worst case of one request, waiting for others to settle if need be.

        Args:
            usd: the most the request can cost in US dollars; None where the price is unknown.
            tokens: the most tokens it can use, prompt and completion together.
            durable: whether it is written down now; the requests of a batch are with the batch.
            travels: whether it goes to an endpoint; what is computed here is lost for nothing.

        Returns:
            A reservation, durable where a budget is set; settle or release it.

        Raises:
            BudgetReached: it would not fit even if every open request turned out to be free.
            UsageError: there is a budget in dollars, but no price for this model.
        """
        if usd is None and self.budget_usd is not None:
            raise UsageError(
                "a budget in dollars needs a price for every model, and one has none",
                "add the model to a price table (--prices) or use --budget-tokens",
            )
        worst = 0.0 if usd is None else usd
        self._largest_usd = max(self._largest_usd, worst)
        self._largest_tokens = max(self._largest_tokens, tokens)
        while not self._fits(worst, tokens):
            if not self._open or not self._could_fit(worst, tokens):
                raise BudgetReached(self._exhausted(worst, tokens), self._enough())
            await self._next_settlement()
        self._granted += 1
        number = self._granted
        self._open.add(number)
        self.held_usd += worst
        self.held_tokens += tokens
        row: int | None = None
        try:
            if durable and travels and not self.limited:
                await self._flight.begin(number, usd, tokens)
            elif durable and self.limited and self._log is not None:
                row = await self._log.reserve(usd, tokens)
        except BaseException:
            self.release(Reservation(number, worst, tokens, None))
            raise
        return Reservation(number, worst, tokens, row)

    def take_over(self, usd: float | None, tokens: int, row: int) -> Reservation:
        """Return the reservation of a request that an earlier process sent in a batch.

        It counted as spent so far; from now on it is held, until the reply is there.
        """
        worst = 0.0 if usd is None else usd
        self.spent_usd -= worst
        self.spent_tokens -= tokens
        self.bound_usd = max(0.0, self.bound_usd - worst)
        self.bound_tokens = max(0, self.bound_tokens - tokens)
        self._granted += 1
        self._open.add(self._granted)
        self.held_usd += worst
        self.held_tokens += tokens
        return Reservation(self._granted, worst, tokens, row)

    def settle(
        self,
        reservation: Reservation,
        usd: float | None,
        tokens: int | None,
        *,
        bound: bool = False,
    ) -> None:
        """Replace the worst case by what the request cost; None (unknown) charges the worst.

        A reservation that is settled already stays as it is. ``bound``: what is given is the most
        that is possible, not what was used.
        """
        if reservation.number not in self._open:
            return
        self._open.remove(reservation.number)
        self._flight.end(reservation.number)
        self.held_tokens -= reservation.tokens
        # Nothing open holds nothing: the rounding of a million additions is not carried along.
        self.held_usd = self.held_usd - reservation.usd if self._open else 0.0
        charged_usd = reservation.usd if usd is None else usd
        charged_tokens = reservation.tokens if tokens is None else tokens
        self.spent_usd += charged_usd
        self.spent_tokens += charged_tokens
        if bound or usd is None:
            self.bound_usd += charged_usd
        if bound or tokens is None:
            self.bound_tokens += charged_tokens
        waiting, self._waiting = self._waiting, []
        for settled in waiting:
            if not settled.done():
                settled.set_result(None)

    def release(self, reservation: Reservation) -> None:
        """Give everything back: the request was not sent after all."""
        is_open = reservation.number in self._open
        if is_open and reservation.id is not None and self._log is not None:
            self._log.release(reservation.id)
        self.settle(reservation, 0.0, 0)

    def _fits(self, usd: float, tokens: int) -> bool:
        return self._within(
            self.spent_usd + self.held_usd + usd, self.spent_tokens + self.held_tokens + tokens
        )

    def _could_fit(self, usd: float, tokens: int) -> bool:
        return self._within(self.spent_usd + usd, self.spent_tokens + tokens)

    def _within(self, usd: float, tokens: int) -> bool:
        # Sums of floats drift: a millionth of a cent is no reason to stop.
        in_usd = self.budget_usd is None or usd <= self.budget_usd + ROUNDING_USD
        return in_usd and (self.budget_tokens is None or tokens <= self.budget_tokens)

    async def _next_settlement(self) -> None:
        settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(settled)
        await settled

    def _exhausted(self, usd: float, tokens: int) -> str:
        parts = []
        if self.budget_usd is not None:
            parts.append(
                f"{in_dollars(self.spent_usd, 4)} of {in_dollars(self.budget_usd, 4)} spent"
                f"{_of_which(in_dollars(self.bound_usd, 4), self.bound_usd)}, "
                f"the next request may cost up to {in_dollars(usd, 4)}"
            )
        if self.budget_tokens is not None:
            parts.append(
                f"{self.spent_tokens:,} of {self.budget_tokens:,} tokens used"
                f"{_of_which(f'{self.bound_tokens:,}', self.bound_tokens)}, "
                f"the next request may use up to {tokens:,}"
            )
        return f"budget reached: {'; '.join(parts)}"

    def _enough(self) -> str:
        """Return what budget lets the run go on.

        What is in flight counts at its worst, for it will be spent by then, and of the requests
        asked for the largest: it may be the first to be sent when the run goes on.
        """
        parts = []
        needed_usd = self.spent_usd + self.held_usd + self._largest_usd
        needed_tokens = self.spent_tokens + self.held_tokens + self._largest_tokens
        if self.budget_usd is not None and not self._within(needed_usd, 0):
            parts.append(f"raise --budget-usd above ${rounded_up(needed_usd)}")
        if self.budget_tokens is not None and not self._within(0.0, needed_tokens):
            parts.append(f"raise --budget-tokens above {needed_tokens}")
        return " and ".join(parts)


class _Flight:
    """What is in flight without a budget; the most of it at once is written down, not each request.

    A row for every request would slow a run down that nobody limits. The most that is in flight
    grows with the width of the run and then hardly any more. What is answered and not on disk yet
    counts with it. Where it was less than half for a while, what is written down follows.
    """

    _AHEAD = 1.125
    """Dollars and tokens are written with so much room, for prompts that grow a little."""
    _LOOK_BACK_S = 30.0
    """The most that was in flight in such a while is compared with what is written down."""

    def __init__(self, log: CallLog | None) -> None:
        """Hold nothing; without a ``log`` nothing is written."""
        self._log = log
        self._usd: dict[int, float | None] = {}
        self._tokens: dict[int, int] = {}
        self._sum_usd, self._sum_tokens = 0.0, 0
        self._written = self._lately = FlightMark(0, None, 0)
        self._until = 0.0

    async def begin(self, number: int, usd: float | None, tokens: int) -> None:
        """Count a request; before there are more at once than is written down, that is raised."""
        if self._log is None:
            return
        self._usd[number], self._tokens[number] = usd, tokens
        self._sum_usd += usd or 0.0
        self._sum_tokens += tokens
        queued = self._log.queued
        priced = self._written.usd is not None or usd is not None
        flying = FlightMark(
            len(self._usd) + queued.requests,
            self._sum_usd + queued.usd if priced else None,
            self._sum_tokens + queued.tokens,
        )
        mark = self._followed(flying).raised_to(flying, self._AHEAD)
        if mark is not self._written:
            self._written = mark
            await self._log.mark_flight(mark)

    def _followed(self, flying: FlightMark) -> FlightMark:
        """Return what is written down, or the most of late where that was less than half of it."""
        self._lately = self._lately.raised_to(flying)
        now = asyncio.get_running_loop().time()
        if now < self._until:
            return self._written
        lately, self._lately, self._until = self._lately, flying, now + self._LOOK_BACK_S
        return lately if lately.is_below_half_of(self._written) else self._written

    def end(self, number: int) -> None:
        """Count a request no more."""
        if number in self._usd:
            usd = self._usd.pop(number)
            self._sum_usd = self._sum_usd - (usd or 0.0) if self._usd else 0.0
            self._sum_tokens -= self._tokens.pop(number)


def _of_which(shown: str, bound: float) -> str:
    """Say which part of what is spent is only a bound, after a comma; or nothing."""
    return f" ({shown} of it is a bound: usage is missing)" if bound > ROUNDING_USD else ""


def rounded_up(usd: float) -> str:
    """Return an amount in dollars that is not less: in cents, or below a dollar in hundredths of one."""
    digits = 2 if usd >= 1 else 4
    # Sums of floats drift: a millionth of a cent does not make the next cent.
    return f"{math.ceil(round(usd * 10**digits, 6)) / 10**digits:.{digits}f}"
