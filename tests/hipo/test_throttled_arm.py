"""Two arms with an endpoint each: what one refuses for now does not hold back the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipo.app.generation.generate import generate
from hipo.app.running.watching import Silent
from pipeline.playing import engine
from pipeline.playing.runner import Progress
from pipeline.recipes.recipe import Recipe
from tests.wire.faults import Faults
from tests.wire.server import WireServer

CASES = 12


class LettingGoOn(Silent):
    """Mends a server once so many dialogues are durable."""

    def __init__(self, server: WireServer, after: int) -> None:
        self.done = 0
        self._server = server
        self._after = after

    def see(self, progress: Progress) -> None:
        self.done += progress.count
        if self.done == self._after:
            self._server.faults = Faults()


@pytest.mark.slow
@pytest.mark.parametrize("workers", [None, 1], ids=["one process", "workers"])
def test_one_arm_plays_everything_while_the_endpoint_of_another_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int | None
) -> None:
    monkeypatch.setattr(engine, "CHUNK", 8)
    refusing = Faults(rates={"rate_limited": 1.0}, retry_after="1")
    with WireServer() as free, WireServer(faults=refusing) as throttled:
        recipe = Recipe.model_validate(
            {
                "name": "two",
                "turns": [1],
                "n": CASES,
                "strategies": ["reflective", "direct"],
                "models": {
                    "default": {"model": "compatible/a", "base_url": free.openai_url},
                    "reflector": {"model": "compatible/b", "base_url": throttled.openai_url},
                },
                "limits": {"max_concurrency": 4},
            }
        )
        watcher = LettingGoOn(throttled, CASES)
        run = generate(recipe, output=tmp_path / "run", watcher=watcher, workers=workers)
        assert throttled.count > CASES
    assert run.state().generated == watcher.done == 2 * CASES
