"""A worker in another process plays a run through the messages of a run link."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hipo.app.endpoints import local_run
from hipo.app.export import export
from hipo.app.generation import generate
from hipo.app.preparation import Prepared, prepare
from hipo.app.resumption import ledger_of, opened
from pipeline.engine import Engine
from pipeline.executors.local import LocalExecutor
from pipeline.recipe import Recipe
from pipeline.runner import RunOutcome
from pipeline.stop import BUDGET, Stop
from pipeline.store.run_store import RunStore
from tests.hipo.remote_worker import Driver, RemotePlayer, Worker


def recipe(**changes: object) -> Recipe:
    return Recipe.model_validate(
        {
            "name": "elsewhere",
            "scenarios": ["used_car"],
            "n": 4,
            "turns": [1],
            "strategies": ["direct", "reflective"],
            "tactics": "balanced",
            "models": {"default": {"model": "offline/rules"}},
            **changes,
        }
    )


@asynccontextmanager
async def driving(prepared: Prepared, store: RunStore, stop: Stop) -> AsyncIterator[Driver]:
    """Start a worker, serve it, and end it."""
    link = local_run(prepared.recipe.limits, store.calls, ledger_of(prepared.recipe, store), stop)
    worker = Worker()
    try:
        driver = await worker.driver(prepared, link, store.calls)
        serving = asyncio.ensure_future(driver.serve())
        yield driver
        serving.cancel()
        driver.close()
    finally:
        assert await asyncio.to_thread(worker.process.wait, 60) == 0


async def played_elsewhere(prepared: Prepared, folder: Path) -> tuple[RunOutcome, int]:
    """Play a plan in a worker; return what was done and how many requests were sent."""
    stop = Stop()
    with opened(folder, prepared) as store:
        before = store.state().calls
        async with driving(prepared, store, stop) as driver:
            players = {arm.id: RemotePlayer(driver, arm.id, store.calls) for arm in prepared.arms}
            outcome = await Engine(store, players, LocalExecutor(4), stop).run(prepared.plan)
        store.set_state("finished")
        return outcome, store.state().calls - before


def exported(run: Path, folder: Path) -> dict[str, bytes]:
    """Return the rows that are exported from a run, by file."""
    export(run, "sft", folder, verdict="any", parquet=False, fractions=(100, 0, 0))
    return {path.name: path.read_bytes() for path in sorted(folder.glob("**/*.jsonl"))}


@pytest.mark.anyio
async def test_a_worker_in_another_process_makes_the_same_run_byte_for_byte(
    tmp_path: Path,
) -> None:
    prepared = prepare(recipe())
    here, elsewhere = tmp_path / "here" / "run", tmp_path / "elsewhere" / "run"
    outcome, calls = await played_elsewhere(prepared, elsewhere)
    assert (outcome.done, outcome.failed, outcome.stopped) == (8, {}, None)
    local = await asyncio.to_thread(generate, recipe(), output=here)
    assert local.calls == calls
    rows = exported(here, tmp_path / "here" / "set")
    assert rows
    assert exported(elsewhere, tmp_path / "elsewhere" / "set") == rows


@pytest.mark.anyio
async def test_what_was_drawn_before_travels_with_the_job_and_is_not_asked_again(
    tmp_path: Path,
) -> None:
    prepared = prepare(recipe(n=2, strategies=["direct"]))
    with opened(tmp_path / "run", prepared) as store:
        async with driving(prepared, store, Stop()) as driver:
            player = RemotePlayer(driver, prepared.arms[0].id, store.calls)
            first = [await player.play(case, 0) for case in prepared.plan]
        assert store.state().calls > 0
    outcome, calls = await played_elsewhere(prepared, tmp_path / "run")
    assert (outcome.done, calls) == (2, 0)
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        assert list(store.dialogues()) == first


@pytest.mark.anyio
async def test_the_budget_of_the_run_holds_for_a_worker_elsewhere(tmp_path: Path) -> None:
    prepared = prepare(recipe(n=4, strategies=["direct"], budget_tokens=20_000))
    outcome, _ = await played_elsewhere(prepared, tmp_path / "run")
    assert outcome.stop_code == BUDGET
    assert "budget reached" in str(outcome.stopped)
    assert outcome.failed == {}
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        assert 0 < store.spent()[1] <= 20_000


def test_what_a_worker_needs_to_build_its_players_can_be_pickled() -> None:
    prepared = prepare(recipe(strategies=["direct", "reflective", "consistency"], vary=["persona"]))
    remade: Prepared = pickle.loads(pickle.dumps(prepared))
    assert remade.prompts.fingerprint == prepared.prompts.fingerprint
    assert remade.arms == prepared.arms
    assert remade.uses == prepared.uses
    assert list(remade.plan) == list(prepared.plan)
    assert all(isinstance(role, str) for _, role in remade.uses)
