"""A run whose requests are gathered into batches makes the dialogues that any other run makes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hipo.app.generation.generate import generate
from hipo.app.models.endpoints import local_run
from hipo.app.preparation.players import connected
from hipo.app.preparation.prepared import prepare
from hipo.app.running.ledgers import run_ledger
from hipo.app.runs.resumption import opened
from pipeline.executors.local import LocalExecutor
from pipeline.playing.engine import Engine
from pipeline.providers.protocol import Provider, Reply, Request
from pipeline.recipes.recipe import Recipe
from pipeline.spending.budget import Reservation
from pipeline.stopping.stop import Stop

DIALOGUES = 9


class BatchSender:
    """Waits until every live dialogue has asked, then sends all that was asked as one batch."""

    takes_permit = False

    def __init__(self, provider: Provider, timeout_s: float, sizes: list[int]) -> None:
        self._provider = provider
        self._timeout_s = timeout_s
        self._sizes = sizes
        self._waiting: list[tuple[Request, asyncio.Future[Reply]]] = []

    def held(self, request: Request) -> None:
        return None

    async def send(self, request: Request, reservation: Reservation) -> Reply:
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, reply))
        if len(self._waiting) == DIALOGUES:
            batch, self._waiting = self._waiting, []
            self._sizes.append(len(batch))
            for waiting, answer in batch:
                answer.set_result(await self._provider.send(waiting, self._timeout_s))
        return await reply


@pytest.mark.anyio
async def test_a_run_in_batches_makes_the_same_dialogues(tmp_path: Path) -> None:
    recipe = Recipe.model_validate(
        {
            "scenarios": ["used_car"],
            "n": DIALOGUES,
            "turns": [2],
            "models": {"default": {"model": "offline/rules"}},
            "limits": {"max_concurrency": 2},
        }
    )
    prepared, sizes = prepare(recipe), list[int]()
    async with connected(prepared) as connections:
        with opened(tmp_path / "batches", prepared) as store:
            link = local_run(recipe.limits, store.calls, run_ledger(recipe, store), Stop())
            players = connections.players(
                link, print, sender=lambda provider, s: BatchSender(provider, s, sizes)
            )
            executor = LocalExecutor(DIALOGUES)
            outcome = await Engine(store, players, executor, link.stop).run(prepared.plan)
            in_batches = list(store.dialogues())
    assert outcome.done == DIALOGUES
    # The first question is fixed: two exchanges are three requests a dialogue, whatever the
    # concurrent places.
    assert sizes == [DIALOGUES] * 3
    run = await asyncio.to_thread(generate, recipe, output=tmp_path / "one-by-one")
    assert list(run.dialogues()) == in_batches
