"""What a client needs of the run it works for, as messages that can cross processes and networks.

A client looks up the samples that were drawn before, waits for the permission to send, settles it
with what the request cost, and records what came back. :class:`LocalRun` does this in the process that
holds the store. A worker elsewhere implements the same :class:`RunLink` by sending the messages to
that process: all of them are frozen dataclasses of plain data. Three rules make that possible:

* nothing waits for an answer but permission (:meth:`RunLink.permit`) and durability
  (:meth:`RunLink.record`);
* samples drawn before travel with the job (:class:`~pipeline.playing.engine.Job`), so that looking them up
  never waits, and two questions that are the same cannot overtake each other while they look;
* a stop is pushed into the link's own :class:`~pipeline.stopping.stop.Stop`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from pipeline.endpoints.gate import EndpointGate, EndpointGates
from pipeline.endpoints.outage import Admission
from pipeline.endpoints.signs import call_sign
from pipeline.providers.errors import TimedOut
from pipeline.providers.outcome import CallOutcome
from pipeline.providers.rate_limiter import Entry, ModelAddress, RateLimiters
from pipeline.spending.budget import Ledger, Reservation
from pipeline.stopping.stop import Stop
from pipeline.store.call_rows import CallReport, ChoiceRow, RequestRow, lost_row
from pipeline.store.calls import CallLog
from pipeline.store.excess import NO_EXCESS, Excess
from scenarios.quick_records import quickly_made


@quickly_made
@dataclass(frozen=True, slots=True)
class PermitRequest:
    """Asks for the permission to send one request."""

    address: ModelAddress | None
    """Whom it goes to; None: nobody that has places and rates."""
    likely_tokens: int
    """What the request will probably use, prompt and completion together."""
    usd: float | None
    """The most it can cost; None without a price."""
    tokens: int
    """The most it can use."""
    role: str = ""
    """Whose prompt it is for; the first call of every role goes out alone."""
    patience: int = 1
    """How many times the usual time it may take."""
    in_batch: bool = False
    """Whether it falls under the budget alone, not under places and rates: its sender gathers requests
    into batches, and writes their worst case down itself."""
    changed: bool = False
    """Whether it was refused in another form a moment ago."""

    @property
    def endpoint(self) -> ModelAddress | None:
        """The model whose concurrent places and rates it falls under; None: of no model."""
        return None if self.in_batch else self.address


@quickly_made
@dataclass(frozen=True, slots=True)
class Permit:
    """The permission to send one request; settle it exactly once, whatever becomes of it."""

    request: PermitRequest
    reservation: Reservation
    admission: Admission | None = None
    """How it went through the gate of its endpoint; None where there is none."""
    entry: Entry | None = None
    """The place it takes at the model; None without an address."""
    excess: Excess = NO_EXCESS
    """How much more its endpoint counts than it may, as was learnt anywhere in the run; where the
    request was bounded with less, the permit is to be given back and asked for anew."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Settlement:
    """Gives a permit back with what the request came to."""

    permit: Permit
    row: RequestRow
    """What it was charged, what it used, how long it took."""
    outcome: CallOutcome
    retry_after_s: float | None = None
    """Seconds after which the endpoint wants to be asked again, if it named any."""
    hint: str = ""
    """What can be done about an error, if it came to one that says so."""
    excess: Excess = NO_EXCESS
    """How much more the endpoint counts than it may, as far as whoever settles knows."""


class RunLink(Protocol):
    """A run as a client sees it."""

    @property
    def stop(self) -> Stop:
        """Whether the run is to stop; it is checked before every request."""

    def known(self, key: bytes, samples: Sequence[int], epoch: int) -> Mapping[int, ChoiceRow]:
        """Return the samples of ``epoch``, or else readable ones of earlier epochs, by index."""

    def count_hits(self, count: int) -> None:
        """Count samples that did not have to be drawn again."""

    def excess_of(self, address: ModelAddress | None) -> Excess:
        """Return how much more than it may an endpoint counts, as is known here by now."""

    async def permit(self, request: PermitRequest) -> Permit:
        """Wait until a request may be sent.

        Raises:
            BudgetReached: it could exceed the budget.
            UsageError: there is a budget in dollars and no price for the model.
            Stopped: the run was asked to stop.
        """

    def give_back(self, permit: Permit) -> None:
        """Take back a permit that nothing was sent with; never waits."""

    def settle(self, settlement: Settlement) -> None:
        """Give a permit back; never waits, so that a request that is cancelled can do it, too."""

    def record(self, report: CallReport) -> Awaitable[None]:
        """Queue a report for writing at once; awaiting the result waits until it is durable."""


class LocalRun:
    """The run in the process that holds its store; satisfies :class:`RunLink`."""

    def __init__(
        self,
        calls: CallLog,
        ledger: Ledger,
        limiters: RateLimiters,
        stop: Stop,
        gates: EndpointGates | None = None,
    ) -> None:
        """Join the log of calls, the budget, the rate limits and the stop of one run.

        ``gates`` say how long endpoints are waited for; None: as long as by default.
        """
        self.stop = stop
        self._gates = EndpointGates(stop) if gates is None else gates
        self.known = calls.choices
        self.count_hits = calls.count_hits
        self.known_of_case = calls.known_of_case
        self._calls = calls
        self._ledger = ledger
        self._limiters = limiters
        self._excess = calls.excess()

    async def permit(self, request: PermitRequest) -> Permit:
        """Wait for the endpoint, a place at it, then the budget; see :meth:`RunLink.permit`."""
        gate = self._gate(request.endpoint)
        if gate is None:
            entry, reservation = await self._place(request)
            known = self.excess_of(request.address)
            return Permit(request, reservation, entry=entry, excess=known)
        while True:
            admission = await gate.enter(request.role, changed=request.changed)
            try:
                entry, reservation = await self._place(request, ahead=admission.alone)
            except BaseException:
                gate.give_back(admission)
                raise
            if gate.holds(admission):
                known = self.excess_of(request.address)
                return Permit(request, reservation, admission, entry, known)
            # An outage began meanwhile: who waits for its end holds nothing.
            self.give_back(Permit(request, reservation, admission, entry))

    def excess_of(self, address: ModelAddress | None) -> Excess:
        """Return how much more than it may an endpoint counts; see :meth:`RunLink.excess_of`."""
        return NO_EXCESS if address is None else self._excess.get(address, NO_EXCESS)

    def give_back(self, permit: Permit) -> None:
        """Take back a permit that nothing was sent with."""
        self._ledger.release(permit.reservation)
        address = permit.request.endpoint
        if permit.entry is not None and address is not None:
            self._limiters.limiter(address).withdraw(permit.entry)
        self.make_way(permit)

    def make_way(self, permit: Permit) -> None:
        """Let others go before a request that goes alone: nobody can say what became of it."""
        gate = self._gate(permit.request.endpoint)
        if gate is not None and permit.admission is not None:
            gate.give_back(permit.admission)

    def lose(self, permit: Permit, sent_at: float) -> None:
        """Charge a permit at its worst: the worker that held it is gone, and may have used it.

        ``sent_at`` is when it was granted, in seconds of the Unix epoch.
        """
        request = permit.request
        model = "" if request.address is None else request.address.name
        row = lost_row(
            model=model, role=request.role, sent_at=sent_at, usd=request.usd, tokens=request.tokens
        )
        self.settle(Settlement(permit, row, "failed"))
        self.record_alone(replace(row, reservation=permit.reservation.id))

    def record_alone(self, row: RequestRow) -> None:
        """Record a request that was settled, and of which nothing more will be told."""
        self._calls.lose(row)

    @property
    def limiters(self) -> RateLimiters:
        """How many requests may fly to each model, and how fast."""
        return self._limiters

    @property
    def held_back_to(self) -> float | None:
        """Requests per second that an endpoint holds this run back to, as was learned; or None."""
        return self._limiters.held_back_to

    def keeps_to_rate(self, address: ModelAddress | None) -> bool:
        """Whether requests to a model keep to a rate at the moment, set or learned."""
        return address is not None and self._limiters.limiter(address).keeps_to_rate

    def _gate(self, address: ModelAddress | None) -> EndpointGate | None:
        """Return the gate of an endpoint, if it is one that requests travel to."""
        if address is None or address.base_url is None:
            return None
        return self._gates.gate(address)

    async def _place(
        self, request: PermitRequest, *, ahead: bool = False
    ) -> tuple[Entry | None, Reservation]:
        """Wait for a place at the model, ahead of others if they wait for this, then for the budget."""
        endpoint = request.endpoint
        if endpoint is None:
            self.stop.check()
            return None, await self._reserve(request)
        limiter = self._limiters.limiter(endpoint)
        entry = await limiter.enter(request.likely_tokens, self.stop.check, ahead=ahead)
        try:
            return entry, await self._reserve(request)
        except BaseException:
            limiter.withdraw(entry)
            raise

    async def _reserve(self, request: PermitRequest) -> Reservation:
        reservation = await self._ledger.reserve(
            request.usd,
            request.tokens,
            durable=request.endpoint is not None,
            travels=request.endpoint is not None and request.endpoint.base_url is not None,
        )
        if self.stop.requested:
            self._ledger.release(reservation)
            self.stop.check()
        return reservation

    def settle(self, settlement: Settlement) -> None:
        """Charge the budget, tell gate and limiter what it came to, and give the place back."""
        permit, row = settlement.permit, settlement.row
        address = permit.request.address
        known = self.excess_of(address)
        learnt = known.joined(settlement.excess)
        if address is not None and learnt != known:
            self._excess[address] = learnt
            self._calls.keep_excess(self._excess)
        unknown = row.prompt_tokens is None and row.charged_tokens > 0
        self._ledger.settle(permit.reservation, row.charged_usd, row.charged_tokens, bound=unknown)
        gate = self._gate(permit.request.endpoint)
        if gate is not None and permit.admission is not None:
            asked_s = settlement.retry_after_s
            came = call_sign(settlement.outcome, row, settlement.hint, asked_s)
            gate.settle(permit.admission, came)
        if address is None or permit.entry is None:
            return
        used = (
            None if row.prompt_tokens is None else row.prompt_tokens + (row.completion_tokens or 0)
        )
        self._limiters.limiter(address).leave(
            permit.entry,
            settlement.outcome,
            latency_s=row.latency_s,
            timed_out=row.code == TimedOut.code,
            used_tokens=used,
            retry_after_s=settlement.retry_after_s,
        )

    def record(self, report: CallReport) -> Awaitable[None]:
        """Queue a report for the store's writer."""
        return self._calls.record(report)
