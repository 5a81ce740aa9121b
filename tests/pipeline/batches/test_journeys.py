"""One batch on a clock of its own: what is looked for, for how long, and what is sent again."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from pipeline.batches.calls import PatientCalls
from pipeline.batches.journey import Journey, WaitingRequest
from pipeline.batches.surroundings import BatchRules, Surroundings
from pipeline.providers.batch_api import BatchLine, BatchStatus, StillUnknown
from pipeline.providers.batch_results import custom_id
from pipeline.providers.errors import NotProcessed, ProviderError, ServerFault, TimedOut
from pipeline.spending.budget import Reservation
from pipeline.stopping.stop import Stop
from pipeline.store.batches import BatchRow, PlacedRequest
from scenarios.errors import UsageError

START = 1_000_000.0
TOKEN = "a1b2"
Creation = tuple[float, float | None, ProviderError | None]
AGAIN: Creation = (1.0, 0.0, None)
"""A creation that works at once."""


@dataclass
class Made:
    """A batch at the provider."""

    name: str
    shown_at: float
    """When the provider's list begins to show it."""


@dataclass
class Provider:
    """A batch API whose creations are as slow, and fail, as is said one by one."""

    creations: list[Creation]
    """Seconds until the call is answered; seconds after that when the batch is to be seen, None: it
    is never made; what the answer is."""
    unknown: StillUnknown | None = None
    """What a look at the list comes to."""
    now: float = START
    made: list[Made] = field(default_factory=list)
    looks: int = 0

    async def upload(self, token: str, lines: Sequence[BatchLine]) -> str:
        return "upload"

    async def create(self, token: str, upload: str, lines: Sequence[BatchLine]) -> str:
        took, shown, error = self.creations.pop(0)
        self.now += took
        name = f"batch_{len(self.made)}"
        if shown is not None:
            self.made.append(Made(name, self.now + shown))
        if error is not None:
            raise error
        return name

    async def find(
        self, token: str, requests: int, since: float, known: Collection[str]
    ) -> str | None:
        self.looks += 1
        assert self.looks < 1000, "it is looked for without end"
        if self.unknown is not None:
            raise self.unknown
        seen = [made.name for made in self.made if made.shown_at <= self.now]
        return seen[0] if seen else None

    async def status(self, remote: str) -> BatchStatus:
        return BatchStatus("completed", done=0)

    async def results(self, remote: str, status: BatchStatus) -> Any:
        yield b""


class Gate:
    """Lets everything through."""

    async def enter(self, role: str) -> None:
        return None

    def settle(self, *_: object) -> None:
        pass


class Log:
    """What is written down of the one batch there is."""

    def __init__(self, row: BatchRow | None, placed: int = 0) -> None:
        self.row = row
        self.placed = placed
        self.voided = False

    def rows(self) -> list[BatchRow]:
        return [] if self.row is None else [self.row]

    def requests(self, batch: int) -> list[PlacedRequest]:
        return [PlacedRequest(b"", 0.1, 10, place + 1, place) for place in range(self.placed)]

    async def intend(
        self, token: str, model: str, base_url: str, requests: Sequence[PlacedRequest]
    ) -> tuple[BatchRow, list[int]]:
        self.placed = len(requests)
        self.row = BatchRow(1, token, model, base_url, len(requests), START)
        return self.row, list(range(1, self.placed + 1))

    async def submitted(self, batch: int, remote: str) -> None:
        pass

    async def ended(self, batch: int, outcome: str) -> None:
        pass

    async def void(self, batch: int) -> None:
        self.voided = True


@dataclass
class Case:
    """A journey of one request with what is around it."""

    provider: Provider
    row: BatchRow | None = None
    notices: list[str] = field(default_factory=list)

    def run(self) -> Any:
        """Run it; return what came of its request."""
        return asyncio.run(self._run())

    async def _run(self) -> Any:
        provider, log = self.provider, Log(self.row, 1)

        async def sleep(seconds: float) -> None:
            provider.now += seconds

        calls = PatientCalls(
            cast("Any", Gate()), Stop(), wait_s=1e9, sleep=sleep, clock=lambda: provider.now,
            rng=random.Random(1),
        )  # fmt: skip
        around = Surroundings(
            cast("Any", provider), calls, cast("Any", log), Stop(), BatchRules(),
            self.notices.append, self.notices.append, "openai/rules", "http://there", clock=lambda: provider.now,
        )  # fmt: skip
        line: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()
        waiting = WaitingRequest(cast("Any", None), b"", Reservation(1, 0.1, 10, None), line)
        lines = [] if self.row else [BatchLine(custom_id(TOKEN, 0), b"{}")]
        journey = Journey(around, TOKEN, self.row, {0: waiting}, lines, sent=self.row is not None)
        await journey.run()
        self.voided = log.voided
        error = line.exception()
        return line.result() if error is None else error


def timed_out() -> TimedOut:
    return TimedOut("no answer within 120 s")


def fault(status: int) -> ServerFault:
    return ServerFault("not now", status=status)


def left(intended_at: float) -> BatchRow:
    return BatchRow(1, TOKEN, "openai/rules", "http://there", 1, intended_at)


def assert_made_once(provider: Provider) -> None:
    """The batch is there, and the call that was kept in reserve was never made."""
    assert (provider.creations, [made.name for made in provider.made]) == ([AGAIN], ["batch_0"])


def test_a_batch_that_is_made_after_its_call_has_timed_out_is_not_sent_again() -> None:
    provider = Provider([(120.0, 6.0, timed_out()), AGAIN])
    Case(provider).run()
    assert_made_once(provider)


def test_a_provider_that_kept_us_waiting_is_given_as_long_again_to_make_the_batch() -> None:
    provider = Provider([(120.0, 150.0, timed_out()), AGAIN])
    Case(provider).run()
    assert_made_once(provider)


def test_the_second_call_is_looked_after_as_long_as_the_first() -> None:
    provider = Provider([(70.0, None, fault(500)), (1.0, 30.0, fault(502)), AGAIN])
    Case(provider).run()
    assert_made_once(provider)


def test_what_did_not_arrive_is_sent_again_once_that_is_certain() -> None:
    provider = Provider([(1.0, None, fault(500)), AGAIN])
    Case(provider).run()
    assert (provider.creations, len(provider.made)) == ([], 1)
    assert provider.now - START > BatchRules().settle_s


@pytest.mark.parametrize("ahead_s", [7200.0, 0.0, -1e6])
def test_a_batch_of_an_earlier_process_is_looked_for_by_no_clock_that_can_be_set(
    ahead_s: float,
) -> None:
    provider, rules = Provider([]), BatchRules()
    case = Case(provider, left(START + ahead_s))
    assert case.run() is None
    assert case.voided
    longest = rules.settle_s + rules.unheard_s
    assert longest <= provider.now - START <= longest + 2 * rules.poll_s
    told = [notice for notice in case.notices if "looking for a batch" in notice]
    assert len(told) == 1


def test_what_nobody_will_ever_be_able_to_tell_is_said_and_not_looked_at_without_end() -> None:
    case = Case(Provider([], StillUnknown("it is archived", lasting=True)), left(START))
    error = case.run()
    assert isinstance(error, UsageError)
    assert "cannot be told: it is archived" in str(error)
    assert not case.voided


def test_requests_of_a_batch_that_was_refused_as_a_whole_cost_nothing_after_a_kill() -> None:
    ended = BatchRow(1, TOKEN, "openai/rules", "", 1, START, state="ended", outcome="refused")
    assert isinstance(Case(Provider([]), ended).run(), NotProcessed)
