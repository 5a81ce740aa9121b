"""One batch from the gathered requests to the last stored result, in steps a kill can fall between.

The requests are uploaded, the intent is written down, the batch is made, its name is written down,
it is polled, its results are stored. After a kill before the name was written nobody knows whether
the batch arrived: it is looked for at the provider, and sent again only if it is not there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace

from pipeline.batches.search import look_for, out_of_reach
from pipeline.batches.surroundings import Surroundings
from pipeline.endpoints.endpoint import Unsettled
from pipeline.providers.batch_api import BatchLine, BatchStatus, BatchUnknown
from pipeline.providers.batch_results import placed_results
from pipeline.providers.errors import NotProcessed, ProviderError, RateLimited, ServerFault
from pipeline.providers.failures import NotConnected
from pipeline.providers.protocol import Request
from pipeline.spending.budget import Reservation
from pipeline.stopping.stop import INTERRUPTED, Stopped
from pipeline.store.batches import BatchRow, PlacedRequest
from scenarios.durations import in_words
from scenarios.errors import UsageError
from scenarios.plural import plural

STORED_AT_ONCE = 200
"""Results written in one transaction."""
_NOT_PROCESSED = frozenset({"refused", "failed", "expired", "cancelled"})
"""Outcomes of batches whose requests without a result were surely not processed."""
_LACKING = " (results lacking)"
"""Ends the outcome of a batch of which fewer results came than the provider counts."""


@dataclass(slots=True, eq=False)
class WaitingRequest:
    """A request of a dialogue that waits for what comes of it."""

    request: Request
    digest: bytes
    reservation: Reservation
    line: asyncio.Future[bytes | None]
    """What came of it, as the provider wrote it; None: it was not sent after all."""

    def fail(self, error: Exception) -> None:
        """End the waiting."""
        if not self.line.done():
            self.line.set_exception(error)
            self.line.exception()  # retrieved here: perhaps its dialogue was broken off


@dataclass(slots=True, eq=False)
class Journey:
    """A batch under way."""

    around: Surroundings
    token: str
    row: BatchRow | None = None
    """As it is written down; None: not yet."""
    waiting: dict[int, WaitingRequest] = field(default_factory=dict)
    """By place: the requests of dialogues that live in this process."""
    lines: Sequence[BatchLine] = ()
    """To be sent; empty for a batch of an earlier process."""
    sent: bool = False
    """Whether it may have arrived at the provider."""
    voided: Callable[[], None] = lambda: None
    """Is called when it turns out that it was never sent."""
    no_room: Callable[[RateLimited], None] = lambda _: None
    """Is called when the provider has no room for a batch of this size at the moment."""
    had_room: Callable[[], None] = lambda: None
    """Is called when it turns out that it had."""
    storing: bool = False
    """Whether results are coming in: more dialogues will go on at once."""
    over: bool = False

    async def run(self) -> None:
        """Bring the batch to its end, or as far as the run goes on."""
        try:
            await self._run()
        except Stopped:
            for waiting in self.waiting.values():
                waiting.fail(Unsettled(self.around.stop, sent=self.sent))
        except Exception as error:  # noqa: BLE001 - whoever waits raises it, and the run tells it apart
            for waiting in self.waiting.values():
                waiting.fail(error)
        finally:
            self.over = True

    async def _run(self) -> None:
        remote = None if self.row is None else self.row.remote
        self.around.calls.answered |= remote is not None
        if self.row is not None and self.row.state == "ended":
            self._deliver_missing(BatchStatus(self.row.outcome))
            return
        if remote is None:
            rules = self.around.rules
            remote = await (
                self._submitted()
                if self.row is None
                else self._found(rules.settle_s + rules.unheard_s)
            )
            if remote is None:
                return
            await self.around.log.submitted(self._seq, remote)
            self.lines = ()
        self._tell_submitted(remote)
        status = await self._ended(remote)
        if isinstance(status.refusal, RateLimited):
            self.around.notice(f"{self.around.model}: {status.refusal.message}")
            self.no_room(status.refusal)
            await self._void()
            return
        self.had_room()
        await self._collect(remote, status)

    @property
    def _seq(self) -> int:
        return 0 if self.row is None else self.row.seq

    # Bringing it to the provider

    async def _submitted(self) -> str | None:
        """Send the batch; return the provider's name of it, or None where it was refused."""
        around, patience = self.around, self.around.calls.patience()
        upload = await around.calls.insist(lambda: around.api.upload(self.token, self.lines))
        await self._intend()
        asked_at = 0.0

        async def create() -> str:
            nonlocal asked_at
            asked_at = around.calls.clock()
            return await around.api.create(self.token, upload, self.lines)

        while True:
            self.sent = True
            try:
                return await around.calls.once(create)
            except Stopped:
                # at the gate: this time nothing was sent, and nothing is left of before
                await self._void_unsent()
                raise
            except ProviderError as error:
                if _may_have_arrived(error):
                    # a provider that kept us waiting may take as long again to make the batch
                    took_s = around.calls.clock() - asked_at
                    remote = await self._found(around.rules.settle_s + took_s)
                    if remote is not None:
                        return remote
                elif not error.retryable or around.calls.is_misplaced(error):
                    await self._write_end("refused")
                    self._fail_all(error)
                    return None
                self.sent = False
                try:
                    await patience.after(error)
                except Stopped:
                    await self._void_unsent()
                    raise

    async def _intend(self) -> None:
        """Write the batch down, with the worst that each of its requests can cost."""
        waiting = [self.waiting[place] for place in sorted(self.waiting)]
        placed = [PlacedRequest(w.digest, w.reservation.usd, w.reservation.tokens) for w in waiting]
        around = self.around
        self.row, seqs = await around.log.intend(self.token, around.model, around.base_url, placed)
        for one, seq in zip(waiting, seqs, strict=True):
            one.reservation.id = seq

    async def _found(self, settle_s: float) -> str | None:
        """Look for a batch that may have arrived; return None where it surely did not."""
        if self.row is None:
            return None
        self.sent = True
        remote = await look_for(self.around, self.row, settle_s)
        if remote is None:
            self.sent = False
            if not self.lines:
                await self._void()
        return remote

    async def _void_unsent(self) -> None:
        """Take the intent back where the run stops before anything was sent."""
        self.sent = False
        await self.around.log.void(self._seq)

    async def _void(self) -> None:
        """Forget the batch, and let its requests go into another one."""
        await self.around.log.void(self._seq)
        self.voided()
        for waiting in self.waiting.values():
            if not waiting.line.done():
                waiting.line.set_result(None)

    # Waiting for it and taking what came

    async def _ended(self, remote: str) -> BatchStatus:
        """Ask how far it is until it has ended."""
        around = self.around
        pause_s, known_by = around.rules.first_poll_s, self._known_by()
        while True:
            await around.calls.pause(pause_s)
            pause_s = min(1.5 * pause_s, around.rules.poll_s)
            try:
                status = await self._asked(remote)
            except BatchUnknown as error:
                if around.calls.clock() >= known_by:
                    raise self._unknown(remote, str(error)) from error
                continue
            if status.outcome:
                return status

    def _known_by(self) -> float:
        """Return when the provider has to know the batch, which has just been sent or long been there."""
        around, row = self.around, self.row
        sent_at = None if row is None else row.submitted_at
        age_s = 0.0 if sent_at is None else around.clock() - sent_at
        settle_s = around.rules.settle_s
        return around.calls.clock() + (settle_s if 0 <= age_s < settle_s else 0.0)

    async def _asked(self, remote: str) -> BatchStatus:
        """Ask how far it is."""
        try:
            return await self.around.calls.insist(lambda: self.around.api.status(remote))
        except ProviderError as error:  # e.g. the key: what lies there is not lost by it
            raise out_of_reach(f"batch {remote}", error) from error

    async def _collect(self, remote: str, status: BatchStatus) -> None:
        """Store every result, hand it to whoever waits, and say what became of the others."""
        around = self.around
        wanted = {
            placed.place for placed in around.log.requests(self._seq) if not placed.has_result
        }
        if status.refusal is None:
            try:
                status = await self._taken(remote, status, wanted)
            except BatchUnknown as error:
                raise self._unknown(remote, str(error)) from error
        await self._write_end(status.outcome)
        self._tell_ended(remote, status, missing=len(wanted))
        if status.cancelled:
            around.stop.request(
                f"batch {remote} was cancelled at the provider",
                INTERRUPTED,
                "the same command sends what is missing in a new batch",
            )
        self._deliver_missing(status)

    async def _taken(self, remote: str, status: BatchStatus, wanted: set[int]) -> BatchStatus:
        """Store the results; where fewer are there than are counted, ask again for some minutes.

        Returns:
            How the batch ended; its outcome says where results are lacking all the same.
        """
        calls, rules = self.around.calls, self.around.rules
        until, pause_s, told = calls.clock() + rules.late_results_s, rules.first_poll_s, False
        while True:
            await self._store_all(remote, status, wanted)
            if not self._lacks_results(status, len(wanted)):
                return status
            if calls.clock() >= until:
                return replace(status, outcome=status.outcome + _LACKING)
            if not told:
                self.around.notice(
                    f"{self.around.model}: batch {remote} {status.outcome}, and"
                    f" {plural(len(wanted), 'result')} of it cannot be had yet: asking again for up"
                    f" to {in_words(rules.late_results_s)}"
                )
                told = True
            await calls.pause(pause_s)
            pause_s = min(1.5 * pause_s, rules.poll_s)
            newer = await self._asked(remote)
            status = newer if newer.outcome else status

    def _lacks_results(self, status: BatchStatus, missing: int) -> bool:
        """Return whether fewer results came than the provider counts; without counts: than were sent."""
        sent = 0 if self.row is None else self.row.requests
        return missing > 0 and sent - missing < (sent if status.done is None else status.done)

    async def _write_end(self, outcome: str) -> None:
        await self.around.log.ended(self._seq, outcome)
        if self.row is not None:
            self.row = replace(self.row, state="ended", outcome=outcome)

    async def _store_all(self, remote: str, status: BatchStatus, wanted: set[int]) -> None:
        """Store the results of the wanted places; what is stored is wanted no more."""
        try:
            await self.around.calls.insist(lambda: self._store(remote, status, wanted))
        except ProviderError as error:
            raise out_of_reach(f"batch {remote}", error) from error

    async def _store(self, remote: str, status: BatchStatus, wanted: set[int]) -> None:
        """Do so once, as far as they come."""
        around = self.around
        stream = placed_results(around.api.results(remote, status), self.token, wanted)
        self.storing = True
        try:
            async for results in _some(stream):
                await around.log.store_results(self._seq, results)
                for place, line in results:
                    wanted.discard(place)
                    waiting = self.waiting.get(place)
                    if waiting is not None and not waiting.line.done():
                        waiting.line.set_result(line)
        finally:
            self.storing = False

    def _deliver_missing(self, status: BatchStatus) -> None:
        """Say to those who still wait that nothing came of their requests."""
        for place, waiting in self.waiting.items():
            if status.refusal is not None and (not status.refused or place in status.refused):
                waiting.fail(status.refusal)
            elif status.outcome in _NOT_PROCESSED:
                waiting.fail(NotProcessed(f"the batch ended before its turn ({status.outcome})"))
            else:  # it may have been billed, and counts at its worst
                waiting.fail(ServerFault("the results of the batch lack this request"))

    def _fail_all(self, error: Exception) -> None:
        for waiting in self.waiting.values():
            waiting.fail(error)

    # Telling people

    def _tell_submitted(self, remote: str) -> None:
        row, around = self.row, self.around
        size = 0 if row is None else row.requests
        since = ""
        if row is not None and row.submitted_at is not None:
            since = f" since {in_words(max(0.0, around.clock() - row.submitted_at))}"
        around.warn(
            f"{around.model}: a batch of {plural(size, 'request')} is at the provider{since} ({remote});"
            " Ctrl-C leaves it there, and the same command picks it up"
        )

    def _tell_ended(self, remote: str, status: BatchStatus, *, missing: int) -> None:
        row, around = self.row, self.around
        if row is None:
            return
        lasted = in_words(max(0.0, around.clock() - row.intended_at))
        lacking = f", {missing:,} without a result" if missing else ""
        around.notice(
            f"{around.model}: batch {remote} {status.outcome} after {lasted}:"
            f" {plural(row.requests, 'request')}{lacking}"
        )

    def _unknown(self, remote: str, says: str) -> UsageError:
        return UsageError(
            f"batch {remote} of this run is not to be had at {self.around.base_url}: {says}",
            "is it the key of the same project? If the batch is gone, give it up with"
            " hipo runs drop-batches",
        )


def _may_have_arrived(error: ProviderError) -> bool:
    """Return whether a call that failed may have made a batch all the same."""
    if isinstance(error, NotConnected):
        return False
    return error.status is None or error.status >= 500 or error.status == 408


async def _some(
    results: AsyncIterator[tuple[int, bytes]],
) -> AsyncIterator[list[tuple[int, bytes]]]:
    """Yield results several at a time."""
    some: list[tuple[int, bytes]] = []
    async for result in results:
        some.append(result)
        if len(some) == STORED_AT_ONCE:
            yield some
            some = []
    if some:
        yield some
