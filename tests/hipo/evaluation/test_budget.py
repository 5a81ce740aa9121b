"""A budget stops an evaluation before it is overrun, and a raised one goes on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hipo.app.evaluation.estimates import estimate_evaluation
from hipo.app.evaluation.plan import plan_evaluation
from hipo.app.evaluation.settings import EvaluationSettings
from hipo.cli.evaluate.report import (
    estimate_as_json,
    estimate_as_text,
    evaluated_as_json,
    evaluated_as_text,
)
from outputs.evaluation.asked import cost_of
from outputs.evaluation.writing import write_evaluation
from outputs.evaluation_items.runs import load_run
from pipeline.recipes.recipe import Limits
from pipeline.stopping.stop import BUDGET
from quality.evaluation.evaluation_record import read_record
from tests.hipo.evaluation.answering import by_hash
from tests.hipo.evaluation.test_asking import asked, rows
from tests.wire.faults import Faults
from tests.wire.server import WireServer

PRICES = "prices:\n  compatible/reader: {input: 2.0, output: 8.0}\n"


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.yaml"
    path.write_text(PRICES)
    return path


def _asked(folder: Path) -> set[str]:
    return {row.item for row in rows(folder / "e")}


def test_a_budget_stops_it_and_a_raised_one_goes_on(
    tmp_path: Path, run: Path, wire_server: WireServer, prices: Path
) -> None:
    wire_server.answer = by_hash
    own = {"prices": prices, "limits": Limits(max_concurrency=1), "max_tokens": 64}
    done = asked(run, tmp_path / "e", wire_server, settings=own, budget_usd=0.04)
    assert done.outcome.stop_code == BUDGET
    assert 0 < done.counts["answered"] < 16
    assert done.charges.charged_usd <= 0.04
    assert len(rows(tmp_path / "e")) == done.counts["answered"], "what is there can be looked at"
    (score, *_) = write_evaluation(tmp_path / "e", "1").evaluated.scores.scores
    assert score.tally.unasked == 16 - done.counts["answered"]
    by_scenario = Counter(row.scenario for row in rows(tmp_path / "e"))
    assert max(by_scenario.values()) - min(by_scenario.values()) <= 1, "both scenarios, alike"
    assert len(by_scenario) == 2
    order = [item.id for item in load_run(run, verdict="any").items if item.kind == "utterance"]
    assert [row.item for row in rows(tmp_path / "e")] == [i for i in order if i in _asked(tmp_path)]
    assert f"hipo evaluate report {tmp_path / 'e'} makes figures and a page of what is there" in (
        evaluated_as_text(done)
    )
    stopped_at = wire_server.count
    again = asked(run, tmp_path / "e", wire_server, settings=own, budget_usd=5)
    assert again.counts == {"answered": 16}
    assert wire_server.count == 16
    assert again.calls == 16 - stopped_at
    assert again.charges.cost_usd == pytest.approx(again.charges.charged_usd)


def test_the_dry_run_tells_how_far_a_budget_reaches(
    tmp_path: Path, run: Path, wire_server: WireServer, prices: Path
) -> None:
    wire_server.answer = by_hash
    own = {"prices": prices, "limits": Limits(max_concurrency=1), "max_tokens": 64}

    def planned(**limits: float) -> tuple[str, dict[str, Any] | None]:
        settings = EvaluationSettings(
            source=str(run), tasks=["hipo-utterance"], models=["compatible/reader"], any_verdict=True,
            base_url=wire_server.openai_url, **own, **limits,
        )  # fmt: skip
        ready = plan_evaluation(settings)
        told = estimate_evaluation(ready, tmp_path / "e")
        return estimate_as_text(told, ready), estimate_as_json(told)["budget"]  # type: ignore[return-value]

    text, budget = planned(budget_usd=0.04)
    assert budget is not None
    few, share = budget["answers"], 100 * budget["share"]
    assert f"the budget of $0.0400 covers about {few} of 16 answers ({share:.0f} %)" in text
    done = asked(run, tmp_path / "e", wire_server, settings=own, budget_usd=0.04)
    assert 0 < few <= done.counts["answered"] < 16
    assert "of which $0.0" in planned(budget_usd=0.04)[0]
    assert "covers all of it" in planned(budget_usd=9)[0]
    assert planned(budget_tokens=100)[1]["answers"] == 0  # type: ignore[index]
    assert planned()[1] is None


def test_a_bill_without_the_usage_of_some_calls_says_what_they_cost_at_most(
    tmp_path: Path, run: Path, wire_server: WireServer, prices: Path
) -> None:
    wire_server.answer = by_hash
    own = {"prices": prices, "limits": Limits(max_concurrency=1), "max_tokens": 64}
    told = asked(run, tmp_path / "e", wire_server, settings=own, budget_usd=0.04).calls
    wire_server.faults = Faults(no_usage=True)
    done = asked(run, tmp_path / "e", wire_server, settings=own)
    charges = done.charges
    assert charges.unpriced_calls == 16 - told
    words = (
        f"${charges.cost_usd:.4f} and at most ${charges.bound_usd:.4f}"
        f" for {16 - told} calls of unknown usage"
    )
    assert f"{words} in all" in evaluated_as_text(done)
    shown = evaluated_as_json(done)
    assert shown["unpriced_calls"] == 16 - told
    assert shown["charged"]["usd"] == charges.charged_usd > charges.cost_usd
    (model,) = read_record(tmp_path / "e").models
    assert cost_of(model) == words


def test_the_dry_run_tells_the_calls_that_are_left_and_what_they_cost(
    tmp_path: Path, run: Path, wire_server: WireServer, prices: Path
) -> None:
    wire_server.answer = by_hash
    settings = EvaluationSettings(
        source=str(run), tasks=("hipo-utterance-paper", "hipo-conversation"),
        models=("compatible/reader",), modes=("zero-shot", "two-phase"), any_verdict=True,
        base_url=wire_server.openai_url, prices=prices,
    )  # fmt: skip
    before = estimate_evaluation(plan_evaluation(settings), tmp_path / "e")
    assert [(line.answers, line.present, line.calls) for line in before.lines] == [
        (16, 0, 16 * 4), (16, 0, 16 * 8), (8, 0, 8), (8, 0, 16),
    ]  # fmt: skip
    assert not (tmp_path / "e").exists()
    own = {"prices": prices}
    done = asked(
        run, tmp_path / "e", wire_server, settings=own,
        tasks=("hipo-utterance-paper", "hipo-conversation"), modes=["zero-shot", "two-phase"],
    )  # fmt: skip
    assert done.calls == before.calls
    assert before.cost_usd is not None
    assert done.charges.cost_usd is not None
    assert 0.5 * done.charges.cost_usd < before.cost_usd < 2 * done.charges.cost_usd
    after = estimate_evaluation(plan_evaluation(settings), tmp_path / "e")
    assert (after.calls, after.cost_usd) == (0, 0)
