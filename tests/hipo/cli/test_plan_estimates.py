"""What is announced is what is then asked, judges included, and nothing is announced twice."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from pipeline.offline_judge.engine import answer as judge_answer
from tests.hipo.cli.conftest import Hipo, generating
from tests.hipo.cli.damage import PAGE
from tests.pipeline.integration.records import rows
from tests.wire.server import WireServer

# The embedding model would be loaded for near-duplicates, which is tested elsewhere.
RECIPE = {
    "scenarios": "used_car",
    "models": {"default": "offline/rules"},
    "n": 7,
    "strategies": ["direct", "reflective"],
    "verification": {"gates": {"off": ["near_duplicate"]}},
}


@pytest.fixture
def generate(hipo: Hipo, tmp_path: Path) -> Hipo:
    return generating(hipo, tmp_path, RECIPE)


def planned(generate: Hipo, *arguments: str) -> Any:
    return generate(*arguments, "--dry-run", "--format", "json").data


def asked(role: str) -> tuple[int, int]:
    connection = sqlite3.connect("run/run.sqlite")
    row = connection.execute(
        "select count(*), sum(prompt_tokens) from requests where role like ?", (f"{role} %",)
    ).fetchone()
    connection.close()
    return row


def test_judges_are_estimated_before_there_is_anything_to_judge(generate: Hipo) -> None:
    command = ("--verify", "--strategy", "direct")  # arms that say the same share a judgement
    told = planned(generate, *command)["verification"]
    assert not Path("run").exists()
    assert told["dialogues"] == 7
    assert generate(*command, "--quiet").code == 0
    for judge in told["judges"]:
        calls, tokens = asked(judge["source"])
        assert (judge["dialogues"], judge["calls"]) == (7, calls)
        assert 0.7 * tokens < judge["prompt_tokens"] < 1.3 * tokens


def test_what_a_scheme_does_not_ask_judges_is_not_estimated(hipo: Hipo) -> None:
    command = ("generate", "dilemmas", "-m", "offline/reasoner", "-n", "1", "-o",
               "run", "--verify", "--no-embeddings", "--judge", "offline/judge")  # fmt: skip
    judges = hipo(*command, "--dry-run", "--format", "json").data["verification"]["judges"]
    assert hipo(*command, "-q").code == 0
    assert [(judge["source"], judge["calls"]) for judge in judges] == [
        ("self", 0), ("external", asked("external")[0]),
    ]  # fmt: skip


def test_what_is_there_is_not_counted_again(generate: Hipo) -> None:
    assert generate("--quiet").code == 0
    told = planned(generate, "--verify", "-n", "10")
    assert (told["present"], told["dialogues"]) == (14, 6)
    assert {arm["dialogues"] for arm in told["arms"]} == {3}
    assert told["verification"]["dialogues"] == 20
    assert {judge["dialogues"] for judge in told["verification"]["judges"]} == {20}
    assert "14 dialogues more are there already" in generate("--dry-run", "-n", "10").out
    assert generate("--verify", "--quiet", "-n", "10").code == 0
    told = planned(generate, "--verify", "-n", "10")
    assert (told["present"], told["dialogues"]) == (20, 0)
    assert {arm["calls"][0]["expected"] for arm in told["arms"]} == {0}
    assert told["verification"]["calls"] == 0
    told = planned(generate, "--verify", "-n", "12")
    assert {judge["dialogues"] for judge in told["verification"]["judges"]} == {4}


def test_without_verification_no_judge_is_announced(generate: Hipo) -> None:
    told = planned(generate)
    assert told["verification"] is None
    assert "Verifying" not in generate("--dry-run").out


def test_judges_that_cost_are_announced_and_add_to_the_sum(
    generate: Hipo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    command = ("--verify", "--judge", "openai/o4-mini")
    told = planned(generate, *command)
    [own, other] = told["verification"]["judges"]
    assert (own["judge"], own["cost_usd"]) == ("offline/judge", 0)
    assert other["cost_usd"] > 0
    assert told["generation_usd"] == 0
    assert told["cost_usd"] == told["verification"]["cost_usd"] == other["cost_usd"]
    assert f"in all ${told['cost_usd']:.4f}" in generate(*command, "--dry-run").out


def test_a_judge_without_a_price_makes_the_sum_unknown(generate: Hipo) -> None:
    with WireServer(answer=judge_answer) as server:
        command = ("--verify", "--judge", "compatible/x", "--judge-base-url", server.openai_url)
        assert planned(generate, *command)["cost_usd"] is None
        assert server.count == 0
        result = generate(*command)
    assert "Verifying:" in result.err
    assert "unknown" in result.err


def test_a_dry_run_refuses_what_the_run_would_refuse(generate: Hipo) -> None:
    assert generate("--quiet").code == 0
    refused = generate("--dry-run", "--seed", "5")
    assert refused.code == 2
    assert "holds a run of another configuration" in refused.err
    assert generate("--dry-run", "--seed", "5", "--resume", "always").code == 0


@pytest.mark.parametrize("strategy", ["direct", "reflective"])
def test_the_size_of_the_database_is_estimated_from_what_will_be_said(
    generate: Hipo, strategy: str
) -> None:
    few, many = ("--strategy", strategy, "-n", "10"), ("--strategy", strategy, "-n", "50")
    assert generate(*few, "-q").code == 0
    before = pages()
    expected = planned(generate, *many)["disk_bytes"]
    assert generate(*many, "-q").code == 0
    assert 0.67 < expected / (PAGE * (pages() - before)) < 1.5


def pages() -> int:
    return int(rows(Path("run"), "pragma page_count")[0][0])
