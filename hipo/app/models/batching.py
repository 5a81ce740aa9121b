"""Whether requests go out at once or in batches at half the price, for every command that asks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hipo.app.running.interrupts import left_when_stopped
from hipo.app.running.watching import Watcher
from pipeline.batches.batcher import Batcher, BatchSender, digest_of
from pipeline.batches.surroundings import BatchRules
from pipeline.endpoints.endpoint import DirectSender, Sender
from pipeline.endpoints.wait_rules import WaitRules
from pipeline.providers.foreign import ForeignProvider
from pipeline.providers.protocol import Provider, Reply, Request
from pipeline.providers.registry import PROVIDERS
from pipeline.recipes.recipe import Limits
from pipeline.spending.budget import Ledger, Reservation
from pipeline.stopping.stop import Stop
from pipeline.store.batches import BatchLog, BatchRow
from pipeline.store.calls import CallLog
from pipeline.store.evaluation_store import EvaluationStore
from pipeline.store.queries.left_batches import LeftBatch
from pipeline.store.run_store import RunStore
from scenarios.errors import UsageError
from scenarios.extensions import imported
from scenarios.plural import plural

SenderFactory = Callable[[Provider, float], Sender]
"""Makes what requests are sent with, from a provider and the seconds allowed for a request."""

RULES = BatchRules()
"""When batches are sent, and how often providers are asked about them."""


@asynccontextmanager
async def batching(
    limits: Limits, calls: CallLog, ledger: Ledger, stop: Stop, watching: Watcher
) -> AsyncIterator[SenderFactory | None]:
    """Give what makes the senders of a run, and leave what lies at providers afterwards.

    None: every request is sent at once.

    Args:
        limits: say whether there are to be batches.
        calls: the log of the run; it knows the batches.
        ledger: its budget.
        stop: its stop.
        watching: is told of batches and of outages of their endpoints.
    """
    direct = partial(DirectSender, open_requests=stop.in_flight)
    if not limits.batch:
        left = LeftRequests.of(calls.batches)

        def refusing(provider: Provider, timeout_s: float) -> Sender:
            return _Refusing(direct(provider, timeout_s), provider, left)

        yield refusing if left.digests else None
        return
    waits = WaitRules(wait_s=limits.wait_for_endpoint)
    batcher = Batcher(
        calls.batches,
        ledger,
        stop,
        watching.note,
        warn=watching.warn,
        writing=lambda: calls.queued.requests > 0,
        rules=RULES,
        waits=waits,
    )

    def sender(provider: Provider, timeout_s: float) -> Sender:
        named = PROVIDERS.get(provider.name).batches
        if not named:
            return direct(provider, timeout_s)  # it runs here, and costs nothing
        build = imported(named) if isinstance(named, str) else named
        own = provider.provider if isinstance(provider, ForeignProvider) else provider
        return BatchSender(batcher, provider, build(own, timeout_s))

    with left_when_stopped(stop):
        async with batcher:
            yield sender


def give_up_batches(folder: Path) -> int:
    """Give up what a run or an evaluation has at providers; return how many requests that were.

    Raises:
        UsageError: another process is writing it, or it cannot be opened.
    """
    is_asked = EvaluationStore.exists(folder)
    with EvaluationStore.begin(folder) if is_asked else RunStore.open(folder) as store:
        return asyncio.run(store.calls.batches.drop())


def left_notes(batches: Sequence[LeftBatch]) -> list[str]:
    """Say of a run that was made of others what it has at providers; nothing where it has nothing."""
    count = sum(batch.requests for batch in batches)
    if not count:
        return []
    requests = plural(count, "request")
    told = (
        f"{requests} in batches are paid for and not used yet: the command that asked, with --batch,"
        " picks them up in the new folder; go on there alone, or what comes after is paid for twice"
    )
    return [told]


@dataclass(frozen=True, slots=True)
class LeftRequests:
    """What lies at providers, or came from there and was not used yet."""

    rows: tuple[BatchRow, ...]
    digests: frozenset[bytes]

    @classmethod
    def of(cls, log: BatchLog) -> LeftRequests:
        """Read what is left."""
        rows = tuple(log.rows(left=True))
        return cls(rows, frozenset(r.digest for row in rows for r in log.requests(row.seq)))


@dataclass(frozen=True, slots=True)
class _Refusing:
    """Sends at once what does not lie at a provider already; what does is not paid for twice."""

    direct: DirectSender
    provider: Provider
    left: LeftRequests
    takes_permit: bool = True

    def held(self, request: Request) -> Reservation | None:
        """Return None.

        Raises:
            UsageError: the request was sent in a batch.
        """
        if digest_of(request, self.provider) in self.left.digests:
            names = ", ".join(row.remote or row.token for row in self.left.rows)
            raise UsageError(
                f"what this run asks next lies at {self.provider.name} in a batch ({names})",
                "go on with --batch, which picks it up; or give it up, and pay for it once more,"
                " with hipo runs drop-batches",
            )
        return None

    async def send(self, request: Request, reservation: Reservation) -> Reply:
        """Send once, at once."""
        return await self.direct.send(request, reservation)
