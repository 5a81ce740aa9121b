"""What requests are sent with can be replaced: here by a sender that makes batches."""

from __future__ import annotations

import asyncio

import pytest

from pipeline.calls.client import Client
from pipeline.calls.records import CallContext
from pipeline.providers.errors import ServerFault
from pipeline.providers.prices import Price
from pipeline.providers.protocol import Choice, Provider, Reply, Request, Usage
from pipeline.providers.rate_limiter import RateLimits
from pipeline.spending.budget import Ledger, Reservation
from pipeline.store.run_store import RunStore
from scenarios.run_configuration import RunConfiguration
from tests.pipeline.scripted import Scripted, ask, endpoint_of, link_of, requests_of, says


class BatchSender:
    """Gathers requests until no further one comes, and answers all of them together."""

    takes_permit = False

    def __init__(self) -> None:
        self.batches: list[list[Request]] = []
        self._waiting: list[tuple[Request, asyncio.Future[Reply]]] = []

    def held(self, request: Request) -> None:
        return None

    async def send(self, request: Request, reservation: Reservation) -> Reply:
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, reply))
        if len(self._waiting) == 1:
            asyncio.get_running_loop().create_task(self._submit())
        return await reply

    async def _submit(self) -> None:
        gathered = -1
        while gathered < len(self._waiting):
            gathered = len(self._waiting)
            await asyncio.sleep(0.05)
        batch, self._waiting = self._waiting, []
        self.batches.append([request for request, _ in batch])
        for number, (request, reply) in enumerate(batch):
            if number == 0 and len(self.batches) == 1:
                reply.set_exception(ServerFault("this line of the batch failed"))
            else:
                reply.set_result(
                    Reply((Choice(says(f"seed {request.seed}"), "stop"),), Usage(100, 10))
                )


def about(case: int) -> CallContext:
    return CallContext("initiator", seed=case, epoch=0, case=f"c{case}", purpose="initiator")


@pytest.mark.anyio
async def test_a_sender_may_gather_the_requests_of_all_waiting_dialogues(tmp_path) -> None:
    provider: Provider = Scripted(lambda request, number: pytest.fail("sent by itself"))
    sender = BatchSender()
    with RunStore.create(tmp_path / "run", RunConfiguration()) as store:
        ledger = Ledger(budget_usd=1.0, log=store.calls)
        link = link_of(store, ledger=ledger, limits=RateLimits(max_concurrency=2))
        endpoint = endpoint_of(provider, link, sender=sender, price=Price(1.0, 10.0))
        client = Client(link, {"initiator": endpoint}, "arm")
        answers = await asyncio.gather(*(ask(client, about(case)) for case in range(9)))
        assert answers == [f"seed {case}" for case in range(9)]
        # All nine travel together, whatever the permits, and the one that failed goes again.
        assert [len(batch) for batch in sender.batches] == [9, 1]
        assert [row.code for row in requests_of(store, "c0")] == ["server_fault", "ok"]
        assert ledger.held_usd == 0.0
        assert ledger.spent_usd == pytest.approx(store.spent()[0])
        assert await ask(client, about(4)) == "seed 4"
        assert len(sender.batches) == 2
