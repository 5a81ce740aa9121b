"""Generating: what is estimated, previewed, stored, budgeted, and said about it."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
import yaml

import hipo as api
from pipeline.offline.engine import answer as rules
from pipeline.recipes.recipe import Recipe
from pipeline.recipes.source import load_recipe
from tests.hipo.cli.conftest import Hipo
from tests.wire.faults import Faults
from tests.wire.server import WireServer


def rows(folder: Path) -> dict[str, int]:
    with closing(sqlite3.connect(folder / "run.sqlite")) as database, database:
        return {
            table: database.execute(f"select count(*) from {table}").fetchone()[0]
            for table in ("cases", "dialogues", "requests", "choices", "config_epochs")
        }


def test_a_dry_run_counts_and_writes_nothing(offline: Hipo, tmp_path: Path) -> None:
    result = offline("--strategy", "direct,reflective,consistency", "--dry-run", "--format", "json")
    assert result.code == 0
    assert list(result.data) == [
        "cases", "dialogues", "present", "outside", "exchanges", "arms", "models", "cost_usd", "note",
        "verification", "generation_usd", "budget", "unmet_tactics", "rows", "packs", "batches",
        "at_providers", "disk_bytes", "quota", "accepted_utterances",
    ]  # fmt: skip
    assert list(result.data["arms"][0]) == ["id", "strategy", "dialogues", "calls"]
    [calls, *_] = result.data["arms"][0]["calls"]
    assert list(calls) == ["kind", "role", "expected", "most", "samples"]
    assert list(result.data["models"][0]) == [
        "model", "calls", "prompt_tokens", "completion_tokens", "cost_usd",
    ]  # fmt: skip
    assert result.data["cases"] == 36  # 6 facts, 2 goals, 3 lengths
    assert result.data["dialogues"] == 108
    assert result.data["cost_usd"] == 0
    assert list(tmp_path.iterdir()) == []


def test_the_estimate_of_a_plain_strategy_is_what_is_then_asked(hipo: Hipo, tmp_path: Path) -> None:
    with WireServer() as server:
        command = (
            "generate", "--model", "compatible/m", "--base-url", server.openai_url,
            "--scenarios", "used_car", "-n", "7", "-o", "run",
        )  # fmt: skip
        planned = hipo(*command, "--dry-run", "--format", "json").data
        assert server.count == 0
        assert hipo(*command, "--quiet").code == 0
        assert sum(call["most"] for call in planned["arms"][0]["calls"]) == server.count
    state = hipo("runs", "show", "run", "--format", "json").data
    assert planned["models"][0]["calls"] == state["calls"]
    assert planned["models"][0]["cost_usd"] is None
    asked = state["tokens"]["prompt"]
    assert 0.7 * asked < planned["models"][0]["prompt_tokens"] < 1.3 * asked


def test_an_unknown_price_is_called_unknown_before_the_run(hipo: Hipo) -> None:
    with WireServer() as server:
        result = hipo(
            "generate", "--model", "compatible/m", "--base-url", server.openai_url,
            "--scenarios", "used_car", "-n", "1", "--turns", "1", "-o", "run",
        )  # fmt: skip
    assert result.code == 0
    assert "unknown cost" in result.err
    assert "1 call of unknown cost" in result.out


def test_a_preview_prints_as_many_dialogues_and_keeps_nothing(
    offline: Hipo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "tmp"
    elsewhere.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))
    result = offline("--strategy", "direct,reflective", "--preview", "3", "--format", "json")
    assert result.code == 0
    assert [d["arm"]["strategy"] for d in result.data] == ["direct", "reflective", "direct"]
    assert all(len(d["turns"]) == 2 + 2 * d["case"]["turns"] for d in result.data)
    assert list(elsewhere.iterdir()) == []
    assert list(tmp_path.iterdir()) == [elsewhere]
    assert "A used car with a past" in offline("--preview", "1").out


def test_the_second_run_does_nothing_and_says_so(offline: Hipo, tmp_path: Path) -> None:
    command = ("--strategy", "direct,reflective", "-n", "5", "-o", "run")
    first = offline(*command)
    assert first.code == 0
    assert "10 generated" in first.out
    before = rows(tmp_path / "run")
    second = offline(*command)
    assert second.code == 0
    assert "0 calls, nothing to do: 10 dialogues there already" in second.out
    assert rows(tmp_path / "run") == before


def test_a_larger_number_adds_only_what_is_missing(offline: Hipo, tmp_path: Path) -> None:
    offline("-n", "4", "-o", "run")
    result = offline("-n", "9", "-o", "run")
    assert result.code == 0
    assert "5 generated, 0 failed, 4 there already" in result.out
    assert rows(tmp_path / "run")["cases"] == 9


def test_the_resolved_recipe_is_stored_and_good_as_a_recipe(offline: Hipo, tmp_path: Path) -> None:
    offline("-n", "2", "--seed", "5", "-o", "run", "--quiet")
    stored = load_recipe(tmp_path / "run" / "run.yaml")
    assert (stored.n, stored.seed, stored.scenarios) == (2, 5, ("used_car",))
    assert yaml.safe_load((tmp_path / "run" / "run.yaml").read_text())["seed"] == 5


def test_quiet_says_nothing_and_json_says_the_state(offline: Hipo) -> None:
    quiet = offline("-n", "1", "-o", "a", "--quiet")
    assert (quiet.out, quiet.err) == ("", "")
    state = offline("-n", "1", "-o", "b", "--format", "json").data
    assert state["generated"] == 1


def test_the_output_is_named_after_the_recipe(hipo: Hipo, tmp_path: Path) -> None:
    (tmp_path / "trial.yaml").write_text(
        "models: {default: offline/rules}\nscenarios: used_car\nn: 1\n"
    )
    assert hipo("generate", "trial.yaml", "-q").code == 0
    assert (tmp_path / "runs" / "trial" / "run.sqlite").is_file()


def test_a_token_budget_stops_before_it_is_overrun_and_the_run_goes_on_with_more(
    offline: Hipo, tmp_path: Path
) -> None:
    command = ("-n", "10", "-o", "run", "--max-concurrency", "2")
    stopped = offline(*command, "--budget-tokens", "40000")
    assert stopped.code == 4
    assert "budget reached" in stopped.err
    with closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as database, database:
        (used,) = database.execute("select charged_tokens from totals").fetchone()
    assert 0 < used <= 40_000
    again = offline(*command, "--budget-tokens", "40000")
    assert again.code == 4
    done = offline(*command, "--budget-tokens", "4000000")
    assert done.code == 0
    assert rows(tmp_path / "run")["dialogues"] == 10


def test_failed_cases_are_reported_by_reason_and_played_again_only_on_request(hipo: Hipo) -> None:
    with WireServer(answer=lambda messages, seed: "I would rather not.") as server:
        command = (
            "generate", "--model", "compatible/m", "--base-url", server.openai_url,
            "--scenarios", "used_car", "-n", "2", "--turns", "1", "-o", "run",
        )  # fmt: skip
        failed = hipo(*command)
        assert failed.code == 1
        assert "2 unparseable" in failed.out
        [first] = [line for line in failed.out.splitlines() if line.startswith("  the first, ")]
        assert "answer: found" in first
        count = server.count
        again = hipo(*command)
        assert again.code == 1
        assert server.count == count
        assert hipo("runs", "show", "run", "--format", "json").data["failed"] == {"unparseable": 2}
        listed = hipo("show", "run", "--failed").out.splitlines()[1]
        assert listed.partition("direct")[2].split()[:2] == ["failed", "unparseable:"]
        server.answer = rules
        assert hipo(*command, "--retry-failed").code == 0
        state = hipo("runs", "show", "run", "--format", "json").data
    assert (state["generated"], state["failed"]) == (2, {})


def test_a_refused_key_stops_the_run_at_once(hipo: Hipo) -> None:
    with WireServer(faults=Faults(key="right")) as server:
        result = hipo(
            "generate", "--model", "compatible/m", "--base-url", server.openai_url,
            "--scenarios", "used_car", "--max-concurrency", "1", "-o", "run",
        )  # fmt: skip
        assert result.code == 2
        assert result.err.count("error:") == 1
        assert server.count <= 2
    assert hipo("runs", "show", "run", "--format", "json").data["failed"] == {}


def test_the_api_does_what_the_command_does(offline: Hipo, tmp_path: Path) -> None:
    offline("-n", "3", "-o", "by-command", "-q")
    recipe = Recipe.model_validate(
        {"models": {"default": "offline/rules"}, "scenarios": "used_car", "n": 3}
    )
    run = api.generate(recipe, output=tmp_path / "by-api")
    assert run.outcome is not None
    assert run.outcome.done == run.state().generated == 3
    command = api.open_run(tmp_path / "by-command")
    assert list(run.dialogues()) == list(command.dialogues())
    first = next(run.dialogues())
    assert run.dialogue(first.case.id) == first
    assert {ending.status for ending in run.endings()} == {"generated"}
    assert api.estimate(recipe, output=tmp_path / "new").generation.dialogues == 3
    assert api.estimate(recipe, output=run.folder).generation.dialogues == 0
