"""Runs that are played in several processes, over the stream between a driver and its workers."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hipo.app.export.export import export
from hipo.app.generation.generate import PlayContext, generate, generate_prepared, play_plan
from hipo.app.generation.verified import VerifiedPlay
from hipo.app.options.verification import VerificationOverrides
from hipo.app.preparation.prepared import prepare
from hipo.app.running.watching import Silent
from hipo.app.runs.run import Run
from hipo.app.workers import processes as app_workers
from pipeline.executors import worker_session
from pipeline.executors.driver import Driver
from pipeline.playing.runner import Progress, RunOutcome
from pipeline.recipes.recipe import Recipe
from pipeline.stopping.stop import BUDGET
from pipeline.store.run_store import RunStore
from scenarios.errors import UsageError
from scenarios.plugins import load_plugins
from tests.pipeline.integration.records import count, rows
from tests.processes import children
from tests.wire.server import WireServer

pytestmark = pytest.mark.slow


def recipe(**changes: object) -> Recipe:
    return Recipe.model_validate(
        {
            "name": "elsewhere",
            "scenarios": ["used_car"],
            "n": 4,
            "turns": [1],
            "strategies": ["direct", "reflective"],
            "tactics": "free",
            "models": {"default": {"model": "offline/rules"}},
            **changes,
        }
    )


def served_by(server: WireServer, **changes: object) -> Recipe:
    models = {"default": {"model": "compatible/rules", "base_url": server.openai_url}}
    return recipe(scenarios="all", n=40, strategies=["direct"], models=models, **changes)


def exported(run: Run, folder: Path) -> dict[str, bytes]:
    """Return the rows that are exported from a run, by file."""
    export(run, "sft", folder, verdict="any", parquet=False, fractions=(100, 0, 0))
    return {path.name: path.read_bytes() for path in sorted(folder.glob("**/*.jsonl"))}


class Seeing(Silent):
    """Calls something when a dialogue is durable, and keeps the notes."""

    def __init__(self, see: Callable[[int], None] = lambda _: None) -> None:
        self.notes: list[str] = []
        self._see = see
        self._seen = 0

    def see(self, progress: Progress) -> None:
        self._seen += progress.count
        self._see(self._seen)

    def note(self, message: str) -> None:
        self.notes.append(message)


@pytest.mark.parametrize(
    ("workers", "strategies"),
    [(2, ["direct", "reflective"]), (1, ["consistency"])],  # each loads an encoder of its own
    ids=["two", "one that encodes"],
)
def test_workers_make_the_same_run_as_one_process_byte_for_byte(
    tmp_path: Path, workers: int, strategies: list[str]
) -> None:
    same = recipe(vary=["persona"], strategies=strategies)
    here = generate(same, output=tmp_path / "here" / "run")
    there = generate(same, output=tmp_path / "there" / "run", workers=workers)
    assert there.outcome == here.outcome
    assert here.outcome is not None
    assert (here.outcome.done, there.calls) == (4 * len(strategies), here.calls)
    expected = exported(here, tmp_path / "here" / "set")
    assert expected
    assert exported(there, tmp_path / "there" / "set") == expected


def test_a_budget_holds_for_all_workers_and_what_was_paid_before_is_not_paid_again(
    tmp_path: Path,
) -> None:
    whole = generate(recipe(), output=tmp_path / "whole")
    stopped = generate(recipe(budget_tokens=20_000), output=tmp_path / "run", workers=2)
    assert stopped.outcome is not None
    assert stopped.outcome.stop_code == BUDGET
    assert "budget reached" in str(stopped.outcome.stopped)
    assert stopped.outcome.failed == {}
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        assert 0 < store.spent()[1] <= 20_000
    assert count(tmp_path / "run", "reservations") == 0
    ended = generate(recipe(), output=tmp_path / "run", workers=1)
    assert ended.state().generated == 8
    assert stopped.calls + ended.calls == whole.calls


class LongWindedServer(WireServer):
    """Counts fifty times the tokens that an answer may have, and adds up what it bills."""

    def __init__(self) -> None:
        super().__init__(keep=False, latency_s=0.05)
        self.dollars = 0.0

    def _answer(self, *asked: Any) -> dict[str, Any]:
        answer = super()._answer(*asked)
        answer["usage"] = {"prompt_tokens": 100, "completion_tokens": 50 * 1024}
        self.dollars += 50 * 1024 / 1e6
        return answer


def test_a_budget_holds_for_workers_of_an_endpoint_that_answers_at_more_length_than_it_may(
    tmp_path: Path,
) -> None:
    with LongWindedServer() as server:
        price = {"input": 0.0, "output": 1.0}
        model = {"model": "compatible/m", "base_url": server.openai_url, "price": price}
        long = recipe(n=40, strategies=["direct"], models={"default": model}, budget_usd=0.25)
        run = generate(long, output=tmp_path / "run", workers=2)
    assert run.outcome is not None
    assert run.outcome.stop_code == BUDGET
    assert 0 < server.dollars <= 0.25
    assert run.state().cost_usd == pytest.approx(server.dollars)


def test_dialogues_are_verified_while_workers_play_others(tmp_path: Path) -> None:
    play = VerifiedPlay(VerificationOverrides(policy="auto", embeddings=False), accepted=3, most=9)
    run = generate(recipe(strategies=["direct"]), output=tmp_path / "run", play=play, workers=1)
    assert run.outcome is not None
    assert run.outcome.stopped is None
    accepted = rows(tmp_path / "run", "select count(*) from decisions where verdict = 'accepted'")
    assert accepted[0][0] >= 3


PLUGIN = """
from pipeline.providers.registry import ProviderExtension
from pipeline.providers.offline import build

EXTENSIONS = [ProviderExtension(name="mine", build=build)]
"""


@pytest.mark.anyio
async def test_a_worker_that_cannot_import_a_plugin_says_so_before_anything_is_made(
    tmp_path: Path,
) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text(PLUGIN)
    with_plugin = {"plugins": [str(plugin)], "models": {"default": {"model": "mine/rules"}}}
    load_plugins([plugin])
    prepared = prepare(recipe(**with_plugin))
    plugin.write_text("import not_installed_anywhere\n")
    watcher = Seeing()
    with pytest.raises(UsageError, match="not_installed_anywhere"):
        await generate_prepared(prepared, tmp_path / "run", workers=1, watcher=watcher)
    assert not (tmp_path / "run").exists()
    assert watcher.notes == []


def test_cases_of_a_killed_worker_are_played_by_others_and_each_once(tmp_path: Path) -> None:
    before = children(os.getpid())

    def kill(seen: int) -> None:
        if seen == 10:
            new = [child for child in children(os.getpid()) if child not in before]
            os.kill(new[0], signal.SIGKILL)

    watcher = Seeing(kill)
    width = 8
    with WireServer(latency_s=0.05, keep=False) as server:
        asked = served_by(server, limits={"max_concurrency": width}, budget_tokens=10**9)
        run = generate(asked, output=tmp_path / "run", workers=2, watcher=watcher)
        requests = server.count
    assert run.outcome is not None
    assert (run.outcome.done, run.outcome.failed, run.outcome.stopped) == (40, {}, None)
    (note,) = watcher.notes
    assert "SIGKILL" in note
    folder = tmp_path / "run"
    assert rows(folder, "select count(*), count(distinct case_seq) from dialogues") == [(40, 40)]
    lost = rows(folder, "select charged_tokens from requests where code = 'lost'")
    assert len(lost) <= width
    assert all(tokens > 0 for (tokens,) in lost)
    assert requests <= count(folder, "choices") + len(lost)
    assert count(folder, "reservations") == 0
    assert children(os.getpid()) == before


def test_a_halted_worker_is_ended_and_another_one_plays_its_dialogues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_session, "LOOK_S", 0.2)
    monkeypatch.setattr(app_workers, "SILENT_S", 3.0)
    before = children(os.getpid())

    def halt(seen: int) -> None:
        if seen == 5:
            (new,) = (child for child in children(os.getpid()) if child not in before)
            os.kill(new, signal.SIGSTOP)

    watcher = Seeing(halt)
    played = recipe(scenarios="all", n=300, strategies=["direct"])  # more than are sent at once
    run = generate(played, output=tmp_path / "run", workers=1, watcher=watcher)
    assert run.outcome is not None
    assert (run.outcome.done, run.outcome.failed, run.outcome.stopped) == (300, {}, None)
    ended = "worker 1 has ended (SIGKILL): another one plays its dialogues again"
    assert watcher.notes == [
        "worker 1 does not answer any more: it counts as gone",
        f"{ended}; what it had in flight is charged at its worst",
    ]
    assert children(os.getpid()) == before


@pytest.mark.anyio
async def test_one_more_interrupt_while_workers_say_goodbye_ends_no_run_with_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closing = Driver.close

    async def interrupted(driver: Driver) -> None:
        monkeypatch.setattr(Driver, "close", closing)
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await closing(driver)

    async def stop(stage: PlayContext) -> RunOutcome:
        stage.stop.request("interrupted")
        monkeypatch.setattr(Driver, "close", interrupted)
        return await play_plan(stage)

    prepared = prepare(recipe(strategies=["direct"]))
    run = await generate_prepared(prepared, tmp_path / "run", workers=1, play=stop)
    assert run.outcome is not None
    assert run.outcome.stopped == "interrupted"


def test_what_workers_had_in_flight_is_charged_where_a_run_is_left_at_once(tmp_path: Path) -> None:
    async def leave(stage: PlayContext) -> RunOutcome:
        playing = asyncio.ensure_future(play_plan(stage))
        while not server.count:  # the first call goes out alone
            await asyncio.sleep(0.01)
        stage.stop.request("interrupted")
        playing.cancel()
        return await playing

    with WireServer(latency_s=600.0, keep=False) as server:
        roles = {
            "models": {"default": {"model": "compatible/rules", "base_url": server.openai_url}}
        }
        asked = recipe(**roles, strategies=["direct"])
        generate(asked, output=tmp_path / "run", workers=1, play=leave)
    charged = rows(tmp_path / "run", "select code, charged_tokens > 0 from requests")
    assert charged == [("cancelled", 1)]
