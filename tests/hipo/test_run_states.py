"""A run with pending dialogues is never finished, and a finished one never interrupted."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from hipo.app.generation.generate import PlayContext, generate_prepared, play_plan
from hipo.app.generation.verified import VerifiedPlay
from hipo.app.options.verification import VerificationOverrides
from hipo.app.runs.resumption import prepare_for
from hipo.app.runs.run import Run
from pipeline.playing.runner import RunOutcome
from pipeline.store.run_store import RunStore
from tests.hipo.test_announced import StopAfter, go_on, recipe, stopped_after
from tests.pipeline.integration.command import Hipo
from tests.wire.server import WireServer


def state_of(run: Path) -> tuple[str, int, int]:
    """Return the state, the generated and the pending dialogues, all three as they belong together."""
    state = Run(run).state()
    assert (state.pending == 0) == state.state.startswith("finished")
    assert state.planned == state.generated + sum(state.failed.values()) + state.pending
    return state.state, state.generated, state.pending


def test_a_plan_that_shrank_is_finished_when_its_own_cases_are_played(tmp_path: Path) -> None:
    run = tmp_path / "run"
    go_on(run, recipe(60), play=stopped_after(20))
    word, there, pending = state_of(run)
    assert (word, pending) == ("stopped:interrupted", 60 - there)
    told, _ = go_on(run, recipe(there + 1))
    assert state_of(run) == ("finished", there + told.generation.dialogues, 0)


def test_a_plan_that_grew_is_not_finished_by_what_was_played_before(tmp_path: Path) -> None:
    run = tmp_path / "run"
    go_on(run, recipe(4))
    assert state_of(run) == ("finished", 4, 0)
    go_on(run, recipe(20), play=stopped_after(3))
    word, there, pending = state_of(run)
    assert (word, there + pending) == ("stopped:interrupted", 20)
    go_on(run, recipe(20))
    assert state_of(run) == ("finished", 20, 0)


def test_other_scenarios_are_planned_beside_those_that_are_played(tmp_path: Path) -> None:
    run = tmp_path / "run"
    go_on(run, recipe(10, scenarios=["used_car"]))
    go_on(run, recipe(10, scenarios=["wedding_ring"]), play=stopped_after(2))
    word, there, pending = state_of(run)
    assert (word, there + pending) == ("stopped:interrupted", 20)


def test_a_stop_that_comes_with_the_last_dialogue_leaves_nothing_to_interrupt(
    tmp_path: Path,
) -> None:
    async def play(stage: PlayContext) -> RunOutcome:
        watching = StopAfter(stage.stop, prepared.dialogues)
        return await play_plan(replace(stage, watching=watching))

    prepared = prepare_for(tmp_path / "run", recipe(5))
    run = asyncio.run(generate_prepared(prepared, tmp_path / "run", play=play))
    assert run.outcome is not None
    assert run.outcome.stopped is None
    assert state_of(tmp_path / "run") == ("finished", 5, 0)


def test_a_run_that_failed_before_is_not_finished_without_failures_by_doing_nothing(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    with WireServer(answer=lambda messages, seed: "no JSON", keep=False) as server:
        model = {"default": {"model": "compatible/m", "base_url": server.openai_url}}
        go_on(run, recipe(2, models=model))
        assert state_of(run)[0] == "finished_with_failures"
        go_on(run, recipe(2, models=model))
    assert state_of(run) == ("finished_with_failures", 0, 0)


@pytest.mark.parametrize("accepted", [1, 5])
def test_enough_accepted_dialogues_are_a_finished_run_and_not_one_too_many(
    tmp_path: Path, accepted: int
) -> None:
    run = tmp_path / "run"
    go_on(run, recipe(3))
    overrides = VerificationOverrides(judges=("offline/judge",), policy="gates")
    _, after = go_on(run, recipe(3), play=VerifiedPlay(overrides, accepted=accepted))
    assert state_of(run)[::2] == ("finished", 0)
    assert after.state().verification.verdicts["accepted"] == accepted


def test_a_run_that_stopped_at_its_budget_has_the_rest_pending_until_there_is_more(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    go_on(run, recipe(10, budget_tokens=40_000))
    word, there, pending = state_of(run)
    assert (word, there + pending) == ("stopped:budget", 10)
    go_on(run, recipe(10, budget_tokens=4_000_000))
    assert state_of(run) == ("finished", 10, 0)


def test_a_process_that_died_before_it_could_say_finished_has_finished(tmp_path: Path) -> None:
    run = tmp_path / "run"
    go_on(run, recipe(4))
    with RunStore.open(run) as store:
        store.set_state("running")
    assert state_of(run) == ("finished", 4, 0)
    with RunStore.open(run) as store:
        store.set_state("running", planned=5)
    assert state_of(run) == ("interrupted", 4, 1)


def test_a_run_of_older_code_that_says_finished_has_nothing_pending(tmp_path: Path) -> None:
    run = tmp_path / "run"
    go_on(run, recipe(60), play=stopped_after(20))
    with closing(sqlite3.connect(run / "run.sqlite")) as database, database:
        database.execute("update meta set value = 'finished' where key = 'state'")
        database.execute("delete from meta where key = 'planned'")
    assert state_of(run)[::2] == ("finished", 0)


def test_a_killed_run_is_interrupted_until_its_last_dialogue_is_played(tmp_path: Path) -> None:
    with WireServer(keep=False, latency_s=0.05) as server:
        command = [
            "generate", "--model", "compatible/m", "--base-url",
            server.openai_url, "--scenarios", "used_car", "-n", "20", "--turns", "1",
            "--max-concurrency", "2", "-o", "run", "-q",
        ]  # fmt: skip
        process = Hipo(tmp_path).start(*command)
        while server.count < 8 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        word, there, pending = state_of(tmp_path / "run")
        assert (word, there + pending) == ("interrupted", 20)
        server.latency_s = 0.0
        Hipo(tmp_path)(*command)
    assert state_of(tmp_path / "run") == ("finished", 20, 0)
