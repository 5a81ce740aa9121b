"""Whoever generates with a vote is told that the embedding model is being loaded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from hipo.app.generation.generate import generate
from hipo.app.generation.saturation import SaturatedPlay
from hipo.app.generation.verified import VerifiedPlay
from hipo.app.options.verification import VerificationOverrides
from hipo.app.running.watching import Silent
from hipo.app.workers import processes as workers
from hipo.app.workers import worker
from pipeline.embeddings import embeddings
from pipeline.executors.driver import Driver
from pipeline.executors.worker import work
from pipeline.recipes.recipe import Recipe
from pipeline.vectors import Vectors
from quality.gates.runner import GateChecks


class Noting(Silent):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a model that embeds everything alike."""

    def embed(texts: Sequence[str]) -> Vectors:
        return np.tile(np.array([[1.0, 0.0]], np.float32), (len(texts), 1))

    monkeypatch.setattr(embeddings, "load_on_device", lambda *_: embed)
    monkeypatch.setattr(embeddings, "missing_packages", lambda _=None: [])


def times_told(folder: Path, workers: int | None = None, **changes: object) -> int:
    """Play two dialogues; return how often it was told that the model is loaded."""
    recipe = Recipe.model_validate(
        {
            "n": 2,
            "turns": [1],
            "strategies": ["consistency"],
            "scenarios": ["used_car"],
            "models": {"default": "offline/rules"},
            **changes,
        }
    )
    watcher = Noting()
    outcome = generate(recipe, output=folder / "run", watcher=watcher, workers=workers).outcome
    assert outcome is not None
    assert outcome.done == 2
    return sum("loading the embedding model" in note for note in watcher.notes)


@pytest.mark.parametrize(("strategy", "times"), [("consistency", 1), ("direct", 0)])
def test_a_vote_says_once_that_the_model_is_loaded_and_other_strategies_do_not(
    strategy: str, times: int, tmp_path: Path
) -> None:
    assert times_told(tmp_path, strategies=[strategy]) == times


def test_judging_window_after_window_says_once_what_it_says_and_loads_one_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        GateChecks, "_to_embed", lambda _, subject: [(subject.dialogue.case.id, "all are embedded")]
    )
    loaded = []
    load = embeddings.load_on_device
    monkeypatch.setattr(
        embeddings, "load_on_device", lambda *args: loaded.append(args) or load(*args)
    )
    recipe = Recipe.model_validate(
        {
            "n": 6,
            "turns": [1],
            "scenarios": ["used_car"],
            "models": {"default": "offline/rules"},
            "embedding": {"model": "other/model"},
        }
    )
    watcher = Noting()
    play = SaturatedPlay(0.0, window=2, most=6, play=VerifiedPlay(VerificationOverrides()))
    run = generate(
        recipe.with_changes({"n": 2}), output=tmp_path / "run", watcher=watcher, play=play
    )
    assert run.state().generated == 6
    assert len(loaded) == 1
    ours = [note for note in watcher.notes if "distinct" not in note]
    assert len(ours) == len(set(ours))
    assert "loading the embedding model" in " ".join(ours)


@asynccontextmanager
async def workers_in_this_process(
    driver: Driver,
    port: int,
    command: Sequence[str],
    count: int,
    notice: Callable[[str], None],
    leave_s: float,
) -> AsyncIterator[None]:
    """Stand in for processes, which would load a model of their own."""
    joining = [
        asyncio.ensure_future(
            work("127.0.0.1", port, driver.token, partial(worker._players, None), name=str(number))
        )
        for number in range(count)
    ]
    await driver.ready(count)
    try:
        yield
    finally:
        await driver.close()
        await asyncio.gather(*joining)


@pytest.mark.parametrize("named", [None, "other/model"])
def test_two_workers_say_it_once_also_where_one_tries_the_model_before_it_begins(
    named: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "worker_processes", workers_in_this_process)
    assert times_told(tmp_path, 2, embedding={"model": named}) == 1
