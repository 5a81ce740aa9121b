"""What ``--dry-run`` says of 1,000 accepted utterances with each model of the price list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from hipo.app.estimates.accepted_costs import AcceptedCosts, AcceptedShare, ModelCosts
from hipo.cli.reports.accepted import accepted_as_text
from tests.hipo.cli.conftest import Hipo

RECIPE = {
    "scenarios": "used_car",
    "models": {"default": "openai/gpt-4o-mini"},
    "n": 6,
    "turns": [2],
    "verification": {"gates": {"off": ["near_duplicate"]}},
}
JUDGED = ("--verify", "--judge", "openai/o4-mini")


@pytest.fixture
def told(hipo: Hipo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(RECIPE))

    def call(*arguments: str) -> Any:
        command = ("generate", "small.yaml", "-o", "run", *arguments)
        return hipo(*command, "--dry-run", "--format", "json").data

    return call


def row(costs: Any, model: str) -> Any:
    return next(one for one in costs["models"] if one["model"] == model)


def test_the_generator_costs_what_the_estimate_says_by_utterance(told: Any) -> None:
    plan = told(*JUDGED)
    costs = plan["accepted_utterances"]
    first = costs["models"][0]
    assert (first["model"], first["in_use"]) == ("openai/gpt-4o-mini", True)
    assert (costs["basis"], costs["share"], costs["judged"]) == ("assumed", 1.0, True)
    each = 1000 / plan["exchanges"]
    assert first["generation_usd"] == pytest.approx(plan["generation_usd"] * each, rel=1e-4)
    assert first["judging_usd"] == pytest.approx(plan["verification"]["cost_usd"] * each, rel=1e-4)
    assert first["cost_usd"] == pytest.approx(plan["cost_usd"] * each, rel=1e-4)


def test_roles_with_one_model_cost_what_the_recipe_says_of_each(told: Any, tmp_path: Path) -> None:
    dear = {"model": "openai/gpt-4o-mini", "price": {"input": 15, "output": 60}}
    models = {"default": "openai/gpt-4o-mini", "initiator": dear}
    (tmp_path / "small.yaml").write_text(yaml.safe_dump({**RECIPE, "models": models}))
    plan = told()
    first = plan["accepted_utterances"]["models"][0]
    assert first["cost_usd"] == pytest.approx(plan["cost_usd"] * 1000 / plan["exchanges"], rel=1e-4)


def test_another_generator_is_its_own_judge_and_leaves_the_others_alone(told: Any) -> None:
    plan = told(*JUDGED)
    costs = plan["accepted_utterances"]
    used, dear = row(costs, "openai/gpt-4o-mini"), row(costs, "openai/gpt-4o")
    ratio = 2.5 / 0.15  # of input and of output alike
    assert dear["generation_usd"] == pytest.approx(ratio * used["generation_usd"])
    [external] = [j for j in plan["verification"]["judges"] if j["source"] == "external"]
    others = external["cost_usd"] * 1000 / plan["exchanges"]
    own = used["judging_usd"] - others
    assert dear["judging_usd"] == pytest.approx(ratio * own + others)
    alone = told()["accepted_utterances"]
    assert not alone["judged"]
    assert row(alone, "openai/gpt-4o")["cost_usd"] == pytest.approx(dear["generation_usd"])


def test_a_generator_that_reads_a_prompt_for_every_candidate_costs_more(told: Any) -> None:
    costs = told("--strategy", "consistency", "--k", "8")["accepted_utterances"]
    alone = told("--strategy", "direct")["accepted_utterances"]
    factors = {
        model: row(costs, model)["cost_usd"] / row(alone, model)["cost_usd"]
        for model in ("openai/gpt-4o", "anthropic/claude-haiku-4-5*")
    }
    assert factors["openai/gpt-4o"] < 5 < factors["anthropic/claude-haiku-4-5*"]


def test_the_cheapest_of_each_provider_are_shown_and_free_ones_are_not(
    told: Any, hipo: Hipo
) -> None:
    names = [one["model"] for one in told(*JUDGED)["accepted_utterances"]["models"]]
    assert not [name for name in names if name.startswith(("offline/", "hf/"))]
    assert len(names) == len(set(names)) > 20
    text = hipo("generate", "small.yaml", "-o", "run", *JUDGED, "--dry-run").out
    table = text[text.index("1,000 accepted utterances would cost (if all are accepted)") :]
    assert table.index("openai/gpt-4o-mini ") < table.index("openai/gpt-5-nano")
    assert "anthropic/claude-haiku-4-5*" in table
    assert "gpt-4o-mini-2024-07-18" not in table
    assert "more models: --format json" in table


def test_an_unknown_price_is_unknown_and_never_nothing(told: Any) -> None:
    strange = ("--model", "compatible/x", "--base-url", "http://127.0.0.1:9/v1")
    costs = told(*strange, "--verify", "--judge", "openai/o4-mini", "--judge-base-url",
                 "http://127.0.0.1:9/v1")["accepted_utterances"]  # fmt: skip
    assert (costs["models"][0]["model"], costs["models"][0]["cost_usd"]) == ("compatible/x", None)
    assert all(one["cost_usd"] > 0 for one in costs["models"][1:])
    judge = ("--judge", "compatible/y", "--judge-base-url", "http://127.0.0.1:9/v1")
    costs = told("--verify", *judge)["accepted_utterances"]
    assert {one["judging_usd"] for one in costs["models"]} == {None}
    assert {one["cost_usd"] for one in costs["models"]} == {None}
    assert costs["models"][0]["generation_usd"] > 0


def test_own_prices_go_before_those_that_ship(told: Any, tmp_path: Path) -> None:
    prices = {"prices": {"openai/gpt-4o": {"input": 0.15, "output": 0.6},
                         "openai/mine": {"input": 0.3, "output": 1.2}}}  # fmt: skip
    (tmp_path / "prices.yaml").write_text(yaml.safe_dump(prices))
    costs = told("--prices", "prices.yaml")["accepted_utterances"]
    used = costs["models"][0]["cost_usd"]
    assert row(costs, "openai/gpt-4o")["cost_usd"] == pytest.approx(used)
    assert row(costs, "openai/mine")["cost_usd"] == pytest.approx(2 * used)


def test_prices_of_batches_are_told_as_such(told: Any, hipo: Hipo) -> None:
    whole, half = (told(*more)["accepted_utterances"] for more in ((), ("--batch",)))
    for model in ("openai/gpt-4o-mini", "openai/gpt-4o"):
        cost = row(half, model)["cost_usd"]
        assert cost == pytest.approx(row(whole, model)["cost_usd"] / 2)
    text = hipo("generate", "small.yaml", "-o", "run", "--batch", "--dry-run").out
    assert "(prices of batches, nothing from a cache" in text
    assert "list prices" not in text


def test_a_run_that_is_there_says_what_share_is_accepted(hipo: Hipo, told: Any) -> None:
    offline = ("--model", "offline/rules", "--verify")
    before = told(*offline)["accepted_utterances"]
    assert hipo("generate", "small.yaml", *offline, "-o", "run", "-q").code in (0, 1)
    verdicts = hipo("runs", "show", "run", "--format", "json").data["verification"]["verdicts"]
    after = told(*offline)["accepted_utterances"]
    assert (after["basis"], after["played"]) == ("run", 6)
    assert after["accepted"] == verdicts.get("accepted", 0) > 0
    for one, was in zip(after["models"], before["models"], strict=True):
        assert one["cost_usd"] == pytest.approx(was["cost_usd"] / after["share"])
    assert told("--model", "offline/rules")["accepted_utterances"]["share"] == 1.0


def test_a_pilot_says_what_share_is_accepted(told: Any) -> None:
    forecast = told("--model", "offline/rules", "--verify", "--pilot", "4")
    costs = forecast["accepted_utterances"]
    assert (costs["basis"], costs["played"]) == ("pilot", 4)
    assert costs["share"] == forecast["yield"]["share"]


def test_where_nothing_was_accepted_no_price_is_told() -> None:
    costs = AcceptedCosts(
        AcceptedShare("assumed"), judged=True, models=(ModelCosts("openai/x", True, 1.0, 0.5),)
    ).at(AcceptedShare("pilot", 0, 12))
    assert costs.models[0].cost_usd is None
    assert accepted_as_text(costs) == (
        "what 1,000 accepted utterances would cost cannot be told"
        " (0% accepted: 0 of 12 dialogues in the pilot)"
    )
