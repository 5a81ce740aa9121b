"""A quota together with the other ways to play: shards, arms, batches, budgets, flows, workers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
import yaml

from hipo.app.models import batching
from pipeline.offline.engine import answer as offline_answer
from tests.hipo.cli.conftest import Hipo, Result
from tests.hipo.cli.test_quota import QUICK, QUOTA, cells, drawn, write_quota
from tests.pipeline.batches.runs import KEYS
from tests.pipeline.batches.runs import QUICK as QUICK_RULES
from tests.pipeline.integration.records import count, rows
from tests.wire.fixtures import wire_server
from tests.wire.server import WireServer, actors_and_judges

__all__ = ["wire_server"]


@pytest.fixture
def generate(hipo: Hipo, tmp_path: Path) -> Any:
    """Generate towards ``quota.yaml`` into a folder."""
    write_quota(tmp_path, QUOTA)

    def call(*arguments: str, output: str = "run", **recipe: object) -> Result:
        (tmp_path / "quick.yaml").write_text(yaml.safe_dump(QUICK | recipe))
        return hipo(
            "generate", "quick.yaml", "--quota", "quota.yaml", "--no-self", "-q", "-o", output,
            *arguments,
        )  # fmt: skip

    return call


def assert_filled(hipo: Hipo, run: str = "run") -> None:
    found = cells(hipo, run)
    assert {cell["state"] for cell in found.values()} <= {"filled", "out of reach"}
    assert any(cell["state"] == "filled" for cell in found.values())


def test_every_shard_fills_the_quota_and_together_they_have_what_both_have(
    generate: Any, hipo: Hipo, tmp_path: Path
) -> None:
    for shard in ("1/2", "2/2"):
        assert generate("--shard", shard, output=shard[0]).code == 0
        assert_filled(hipo, shard[0])
    merged = hipo("runs", "merge", "1", "2", "-o", "both", "--format", "json")
    assert (merged.data["missing"], merged.data["conflicts"], merged.data["alike"]) == (0, 0, 0)
    parts, both = [cells(hipo, run) for run in ("1", "2")], cells(hipo, "both")
    for name, cell in both.items():
        for field in ("accepted", "tried", "cases"):
            assert cell[field] == sum(part[name][field] for part in parts), (name, field)
    before = len(drawn(tmp_path / "both"))
    assert hipo("runs", "show", "both", "--format", "json").data["state"] == "finished"
    assert generate(output="both").code == 0
    assert len(drawn(tmp_path / "both")) == before


def test_a_merged_run_goes_on_with_the_round_that_one_of_its_parts_was_in(
    generate: Any, hipo: Hipo, tmp_path: Path
) -> None:
    assert generate("--shard", "1/2", output="1").code == 0
    spent = hipo("runs", "show", "1", "--format", "json").data["charged"]["tokens"]
    assert generate("--shard", "2/2", "--budget-tokens", str(spent // 3), output="2").code == 4
    merged = hipo("runs", "merge", "1", "2", "-o", "both", "--format", "json").data
    assert merged["missing"] > 0
    assert generate(output="both").code == 0
    state = hipo("runs", "show", "both", "--format", "json").data
    assert state["generated"] >= merged["generated"] + merged["missing"]
    assert state["pending"] == 0


def test_a_merged_run_names_what_is_missing_of_shards_plan_and_quota(
    generate: Any, hipo: Hipo
) -> None:
    plan = ("generate", "quick.yaml", "-n", "6", "-q", "--shard")
    assert generate("--shard", "1/3", output="1").code == 0
    assert hipo(*plan, "1/3", "-o", "1").code == 0
    told = hipo("runs", "merge", "1", "-o", "one", "--format", "json").data
    assert (told["missing"], told["begun"], told["missing_shards"]) == (4, 0, ["2/3", "3/3"])
    spent = hipo("runs", "show", "1", "--format", "json").data["charged"]["tokens"]
    assert generate("--shard", "2/3", "--budget-tokens", str(spent // 3), output="2").code == 4
    two = hipo("runs", "merge", "2", "-o", "two").out
    assert "no run is of shard 1/3, 3/3" in two
    assert "same recipe and --quota FILE, without --shard, and -o two" in " ".join(two.split())
    assert "of the plan missing" not in two


def test_a_merge_says_which_of_different_quotas_is_kept(
    generate: Any, hipo: Hipo, tmp_path: Path
) -> None:
    assert generate("--shard", "1/2", output="1").code == 0
    write_quota(tmp_path, {"cells": [{"veracity": "Manner", "accepted": 1}]})
    assert generate("--shard", "2/2", output="2").code == 0
    for number, order in enumerate((("1", "2"), ("2", "1"))):
        both = f"both{number}"
        told = hipo("runs", "merge", *order, "-o", both, "--format", "json").data
        (note,) = told["notes"]
        assert note.startswith("the quota of 2 is kept, 1 had another one")
        assert list(cells(hipo, both)) == ["Manner"]


def test_several_arms_count_together(generate: Any, hipo: Hipo) -> None:
    assert generate("--strategy", "direct,reflective").code == 0
    assert_filled(hipo)
    state = hipo("runs", "show", "run", "--format", "json").data
    drawn_cases = sum(cell["cases"] for cell in cells(hipo).values())
    assert [arm["generated"] for arm in state["arms"]] == [drawn_cases] * 2


@pytest.mark.slow  # two processes of their own
def test_workers_draw_and_accept_what_one_process_does(
    generate: Any, hipo: Hipo, tmp_path: Path
) -> None:
    assert generate("--workers", "2", output="workers").code == 0
    assert generate(output="alone").code == 0
    assert drawn(tmp_path / "workers") == drawn(tmp_path / "alone")


def test_a_scenario_with_a_flow_is_asked_for_the_labels_of_whoever_speaks(
    generate: Any, hipo: Hipo, tmp_path: Path
) -> None:
    write_quota(tmp_path, {"accepted": 2, "each": {"face_act": ["hneg-", "spos+"]}})
    (tmp_path / "all.yaml").write_text("name: all\nunflagged: accepted\nflagged: ignore\n")
    flow = {"scheme": "face_acts", "scenarios": None, "turns": [1]}
    assert generate("--policy", "all.yaml", **flow).code == 0
    assert_filled(hipo)
    for _, variation, _, _, wanted in drawn(tmp_path / "run"):
        label = "hneg-" if "hneg-" in variation else "spos+"
        assert set(wanted.split(",")) == {f"face_act{label}"}


@pytest.fixture
def priced(wire_server: WireServer, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A model with a price, at the local server; batches there end at once."""
    monkeypatch.setattr(batching, "RULES", QUICK_RULES)

    wire_server.answer = actors_and_judges
    price = {"input": 10, "output": 20}
    model = {"model": "openai/rules", "base_url": wire_server.openai_url, "price": price}
    return {"models": {"default": model}}


def test_rounds_travel_in_batches_and_a_budget_ends_them_for_the_time_being(
    generate: Any, hipo: Hipo, priced: Any, wire_server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    batch = ("--batch", "--judge", "offline/judge")
    assert generate(*batch, output="whole", **priced).code == 0
    assert_filled(hipo, "whole")
    whole = hipo("runs", "show", "whole", "--format", "json").data
    assert whole["cost_usd"] > 0
    budget = whole["cost_usd"] / 2
    assert generate(*batch, "--budget-usd", f"{budget:.4f}", **priced).code == 4
    state = hipo("runs", "show", "run", "--format", "json").data
    assert 0 < state["charged"]["usd"] <= budget
    assert generate(*batch, **priced).code == 0
    assert_filled(hipo)
    assert drawn(Path("run")) == drawn(Path("whole"))
    done = hipo("runs", "show", "run", "--format", "json").data
    assert done["cost_usd"] == pytest.approx(whole["cost_usd"])
    assert wire_server.count == 0
    assert count(Path("run"), "reservations") == 0
    assert rows(Path("run"), "select count(*) from requests where code <> 'ok'") == [(0,)]


@pytest.mark.parametrize("until", [("--quota", "quota.yaml"), ("--until-saturated", "0.5")])
def test_a_pilot_forecasts_a_plan_and_refuses_what_has_none(
    hipo: Hipo, tmp_path: Path, until: tuple[str, str]
) -> None:
    write_quota(tmp_path, QUOTA)
    refused = hipo("generate", "-m", "offline/rules", *until, "--dry-run", "--pilot", "2")
    assert (refused.code, refused.out) == (2, "")
    assert f"--pilot forecasts a plan, and {until[0]} has none" in refused.err
    assert "with -n" in refused.err


def test_the_estimate_of_a_quota_counts_failures_that_are_played_again(
    generate: Any, hipo: Hipo, wire_server: WireServer
) -> None:
    def answer(messages: Sequence[tuple[str, str]], seed: int) -> str:
        fails = crc32(str(messages[:2]).encode()) % 4 == 0
        return "No." if fails else offline_answer(messages, seed)

    wire_server.answer = answer
    models = {"default": {"model": "compatible/m", "base_url": wire_server.openai_url}}
    assert generate(models=models).code == 1
    failed = sum(hipo("runs", "show", "run", "--format", "json").data["failed"].values())
    ahead = ("--dry-run", "--format", "json")
    lacking = generate(*ahead, models=models).data["dialogues"]
    again = generate(*ahead, "--retry-failed", models=models).data["dialogues"]
    assert (failed > 0, again) == (True, lacking + failed)
