"""What is said of a budget: how far it reaches, what of it is a bound, and how much more goes on."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from hipo.app.generation.generate import generate_prepared
from hipo.app.generation.plan_estimates import PlanEstimate, estimate_plan
from hipo.app.generation.verified import VerifiedPlay
from hipo.app.options.verification import VerificationOverrides
from hipo.app.running.watching import Silent
from hipo.app.runs.resumption import prepare_for
from hipo.app.runs.run import Run
from hipo.app.study import plan_study
from hipo.cli.reports.estimate import plan_as_json, plan_as_text
from hipo.cli.terminal.console import dollars
from pipeline.recipes.recipe import Recipe
from tests.hipo.test_announced import go_on
from tests.wire.faults import Faults
from tests.wire.server import WireServer

PRICE = {"input": 2.0, "output": 8.0}
"""Without a rebate for prompts that are cached, which no estimate counts on."""


def wanted(server: WireServer, **changes: object) -> Recipe:
    model = {"model": "compatible/m", "base_url": server.openai_url, "price": PRICE}
    data = {
        "models": {"default": model}, "scenarios": ["used_car"], "turns": [1], "n": 60,
        "limits": {"max_concurrency": 1}, **changes,
    }  # fmt: skip
    return Recipe.model_validate(data)


@pytest.mark.parametrize("budget", [{"budget_usd": 0.15}, {"budget_tokens": 60_000}])
def test_the_share_that_a_budget_covers_is_about_what_is_then_played(
    tmp_path: Path, budget: dict[str, float]
) -> None:
    run = tmp_path / "run"
    with WireServer(keep=False) as server:
        told, after = go_on(run, wanted(server, **budget))
        assert told.covered is not None
        assert 0 < told.covered.share < 1
        played = after.state().generated
        assert 0.6 * played <= told.covered.dialogues <= 1.4 * played
        share = f"{100 * told.covered.share:.0f} %"
        words = f"covers about {told.covered.dialogues} of 60 dialogues ({share})"
        assert words in plan_as_text(told)
        again, _ = go_on(run, wanted(server, **budget))
        assert again.covered is not None
        assert again.covered.dialogues <= 1, "what is spent is not there to be spent again"
        assert plan_as_json(again)["budget"] is not None
        enough, _ = go_on(run, wanted(server, budget_usd=50, budget_tokens=50_000_000))
    assert enough.covered is not None
    assert enough.covered.share == 1
    assert "covers all of it" in plan_as_text(enough)


@pytest.mark.parametrize("judge", [False, True])
def test_what_is_held_back_is_the_largest_request_with_all_its_samples_and_judges_too(
    tmp_path: Path, judge: bool
) -> None:
    (tmp_path / "prices.yaml").write_text("prices:\n  compatible/dear: {input: 20, output: 80}\n")
    model = {"model": "compatible/m", "base_url": "http://h/v1", "price": PRICE, "max_tokens": 512}
    changes = {
        "models": {"default": model}, "scenarios": ["used_car"], "turns": [1], "n": 500,
        "strategies": ["consistency"], "consistency": {"k": 8}, "budget_usd": 2.0,
        "prices": str(tmp_path / "prices.yaml"),
    }  # fmt: skip
    play = VerifiedPlay(
        VerificationOverrides(
            judges=["compatible/dear"], self_judgement=False, judge_max_tokens=4096
        )
    )
    prepared = prepare_for(tmp_path / "run", Recipe.model_validate(changes))
    told = estimate_plan(prepared, tmp_path / "run", play=play if judge else None)
    assert told.covered is not None
    assert told.cost_usd is not None
    held_back = 2.0 - told.covered.share * told.cost_usd
    answers = 4096 * 80e-6 if judge else 8 * 512 * 8e-6
    assert answers < held_back < 2 * answers


class Overcounting(WireServer):
    """Counts words of its own before every prompt, which cost about ten cents, and adds up what it bills."""

    def __init__(self) -> None:
        super().__init__(keep=False)
        self.dollars = 0.0

    def _answer(self, *asked: Any) -> dict[str, Any]:
        answer = super()._answer(*asked)
        answer["usage"] = {"prompt_tokens": 50_000, "completion_tokens": 100}
        self.dollars += (50_000 * PRICE["input"] + 100 * PRICE["output"]) / 1e6
        return answer


@pytest.mark.parametrize("workers", [None, 1])
def test_what_an_endpoint_counts_too_much_is_still_known_when_a_run_goes_on(
    tmp_path: Path, workers: int | None
) -> None:
    with Overcounting() as server:
        first = go_on(tmp_path / "run", wanted(server, budget_usd=0.25))[1]
        assert first.outcome is not None
        assert first.outcome.stop_code == "budget"
        spent = server.dollars
        assert 0 < spent <= 0.25
        watcher = Told()
        prepared = prepare_for(tmp_path / "run", wanted(server, budget_usd=0.25))
        again = asyncio.run(
            generate_prepared(prepared, tmp_path / "run", watcher=watcher, workers=workers)
        )
        assert again.outcome is not None
        assert again.outcome.stop_code == "budget"
        assert server.dollars == spent, "nothing that the budget could not bear was sent"
    (said,) = [note for note in watcher.notes if "more in earlier calls" in note]
    assert "prompts to be 50,000 tokens longer" in said


class Told(Silent):
    """Keeps what a run says."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


def test_calls_that_had_no_price_are_named_when_a_budget_begins_to_count(tmp_path: Path) -> None:
    with WireServer(keep=False) as server:
        unpriced = {"model": "compatible/m", "base_url": server.openai_url}
        run = go_on(tmp_path, wanted(server, n=2, models={"default": unpriced}))[1]
        calls = run.state().calls
        watcher = Told()
        prepared = prepare_for(tmp_path, wanted(server, n=4, budget_usd=5), "always")
        asyncio.run(generate_prepared(prepared, tmp_path, watcher=watcher))
    (said,) = [note for note in watcher.notes if "had no price" in note]
    assert said.startswith(f"{calls} earlier calls had no price, and are not counted")


def test_without_a_budget_or_a_price_nothing_is_said_of_a_share(tmp_path: Path) -> None:
    with WireServer(keep=False) as server:
        told, _ = go_on(tmp_path / "a", wanted(server, n=1))
        assert told.covered is None
    free = Recipe.model_validate(
        {"models": {"default": "offline/rules"}, "scenarios": ["used_car"], "n": 1, "budget_usd": 1}
    )
    assert go_on(tmp_path / "b", free)[0].covered is None


@pytest.mark.parametrize("concurrency", [1, 8])
def test_the_budget_that_a_stop_asks_for_lets_the_run_go_on(
    tmp_path: Path, concurrency: int
) -> None:
    run = tmp_path / "run"
    limits = {"max_concurrency": concurrency}
    with WireServer(keep=False) as server:
        same = go_on(run, wanted(server, limits=limits, budget_usd=0.15))[1]
        # Where several requests are under way, each holds back the most it could cost: when they
        # have cost less, one more may fit in.
        for _ in range(concurrency):
            assert same.outcome is not None
            assert same.outcome.stop_code == "budget"
            same = go_on(run, wanted(server, limits=limits, budget_usd=0.15))[1]
            if not same.calls:
                break
        assert same.outcome is not None
        assert same.calls == 0
        found = re.fullmatch(r"raise --budget-usd above \$([0-9.]+)", same.outcome.advice)
        assert found is not None, same.outcome.advice
        assert Run(run).state().charged_usd < float(found[1]) < 0.5
        _, more = go_on(run, wanted(server, limits=limits, budget_usd=float(found[1])))
        assert more.calls > 0


def test_a_stop_at_a_budget_says_that_missing_usage_was_counted_at_its_bound(
    tmp_path: Path,
) -> None:
    with WireServer(faults=Faults(no_usage=True), keep=False) as server:
        _, run = go_on(tmp_path / "run", wanted(server, budget_usd=0.3, budget_tokens=100_000))
        assert run.outcome is not None
        bound = run.state().bound_tokens
        assert f"({bound:,} of it is a bound: usage is missing)" in str(run.outcome.stopped)
        _, later = go_on(tmp_path / "run", wanted(server, budget_usd=0.3, budget_tokens=100_000))
        assert later.outcome is not None
        assert "usage is missing" in str(later.outcome.stopped), "a resumed run knows it, too"


def test_of_a_study_each_model_is_told_what_those_before_it_leave_of_the_budget(
    tmp_path: Path,
) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("prices:\n  compatible/*: {input: 2.0, output: 8.0}\n", encoding="utf-8")
    recipe = Recipe.model_validate({"scenarios": ["used_car"], "n": 60, "prices": prices})
    given = {"models.default.base_url": "http://127.0.0.1:9/v1", "strategies": ["direct"]}

    def planned(**budget: float) -> list[PlanEstimate]:
        models = ["compatible/first", "compatible/second"]
        own = recipe.with_changes(budget)
        return plan_study(own, models=models, output=tmp_path / "study", given=given).estimates()

    needed = planned()[0].cost_usd
    assert needed
    first, second = planned(budget_usd=1.5 * needed)
    assert first.covered is not None
    assert second.covered is not None
    assert first.covered.share == 1
    assert 0.4 < second.covered.share < 0.5
    assert f"after about {dollars(needed)} for the models before" in plan_as_text(second)
    _, second = planned(budget_tokens=1_000_000)
    assert second.covered is not None
    told = f"after about {second.covered.before_tokens:,} tokens for the models before"
    assert told in plan_as_text(second)
