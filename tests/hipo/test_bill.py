"""What a run says it cost is what the endpoint counted, to the cent; the rest is called a bound."""

from __future__ import annotations

import asyncio
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from hipo.app.generation.generate import generate_prepared
from hipo.app.runs.resumption import prepare_for
from hipo.app.runs.run import Run
from hipo.cli.reports.run import so_far, state_as_text
from outputs.report.effort import effort_section
from outputs.report.gathered import ReportOptions, gather
from outputs.report.overview import overview_section
from outputs.report.wording import bill
from pipeline.recipes.recipe import Recipe
from tests.pipeline.integration.command import Hipo
from tests.pipeline.integration.records import rows
from tests.wire.faults import Faults
from tests.wire.server import WireServer

PRICES = {"input": 2.0, "output": 8.0, "cached_input": 0.5}
PRICE_FILE = "prices:\n  compatible/m: {input: 2.0, output: 8.0, cached_input: 0.5}\n"


class CountingServer(WireServer):
    """Adds up what it tells as the usage of its answers."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.dollars = 0.0

    def _answer(self, *asked: Any) -> dict[str, Any]:
        answer = super()._answer(*asked)
        if usage := answer.get("usage"):
            cached = usage["prompt_tokens_details"]["cached_tokens"]
            fresh = usage["prompt_tokens"] - cached
            millionths = fresh * 2.0 + cached * 0.5 + usage["completion_tokens"] * 8.0
            self.dollars += millionths / 1e6
        return answer


def generated(folder: Path, server: WireServer, **changes: object) -> Run:
    model = {"model": "compatible/m", "base_url": server.openai_url, "price": PRICES}
    recipe = Recipe.model_validate(
        {"models": {"default": model}, "scenarios": ["used_car"], "n": 6, "turns": [1], **changes}
    )
    return asyncio.run(generate_prepared(prepare_for(folder, recipe), folder))


def told(run: Run) -> str:
    """Return what ``hipo runs show`` and the report say together."""
    gathered = asyncio.run(gather(run.folder, ReportOptions(), name="run"))
    pages = overview_section(gathered), effort_section(gathered)
    return state_as_text(run.folder, run.state()) + "".join(map(str, pages))


@pytest.mark.parametrize("faults", [{}, {"server_error": 0.2}, {"rate_limited": 0.2}])
def test_the_dollars_of_a_run_are_the_tokens_of_the_server_times_the_price(
    tmp_path: Path, faults: Any
) -> None:
    with CountingServer(faults=Faults(rates=faults), keep=False) as server:
        run = generated(tmp_path / "run", server, strategies=["direct", "reflective"])
    state = run.state()
    assert state.cost_usd == pytest.approx(server.dollars, abs=1e-9)
    if "server_error" not in faults:  # a 500 may have been billed
        assert (state.charged_usd, state.bound_usd) == (pytest.approx(server.dollars), 0)
        assert "at most" not in told(run)


def test_roles_with_one_model_are_charged_at_the_price_that_the_recipe_gives_each(
    tmp_path: Path,
) -> None:
    prices = {"initiator": (1.0, 2.0), "responder": (30.0, 40.0)}
    with WireServer(keep=False) as server:
        model = {"model": "compatible/m", "base_url": server.openai_url}
        models = {
            role: {**model, "price": {"input": price[0], "output": price[1]}}
            for role, price in prices.items()
        }
        run = generated(tmp_path / "run", server, models=models, turns=[2])
    bills = rows(
        run.folder,
        "select role, sum(prompt_tokens), sum(completion_tokens), sum(cost_usd) from requests"
        " group by 1",
    )
    assert {role for role, *_ in bills} == prices.keys()
    for role, asked, said, cost in bills:
        assert cost == pytest.approx((asked * prices[role][0] + said * prices[role][1]) / 1e6)


class CacheWritingServer(WireServer):
    """Writes every prompt to its cache, and adds up what it bills for that and for answers."""

    def __init__(self) -> None:
        super().__init__(keep=False)
        self.written = self.output = 0

    def _answer(self, *asked: Any) -> dict[str, Any]:
        answer = super()._answer(*asked)
        usage = answer["usage"]
        prompt = usage["input_tokens"] + usage["cache_read_input_tokens"]
        usage |= {
            "input_tokens": 0,
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": prompt,
        }
        self.written += prompt
        self.output += usage["output_tokens"]
        return answer


@pytest.mark.parametrize(("price", "rate"), [({"cache_write": 4.0}, 4.0), ({}, 2.5)])
def test_what_is_written_to_the_cache_costs_what_the_recipe_says_or_a_quarter_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, price: Any, rate: float
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    with CacheWritingServer() as server:
        model = {"model": "anthropic/m", "base_url": server.anthropic_url, "price": PRICES | price}
        run = generated(tmp_path / "run", server, models={"default": model})
    billed = (server.written * rate + server.output * 8.0) / 1e6
    assert run.state().cost_usd == pytest.approx(billed)


def test_a_bill_without_usage_is_called_a_bound(tmp_path: Path) -> None:
    with CountingServer(faults=Faults(no_usage=True), keep=False) as server:
        run = generated(tmp_path / "run", server)
    state = run.state()
    assert state.cost_usd is None
    assert state.bound_usd == pytest.approx(state.charged_usd)
    assert state.bound_tokens == state.charged_tokens > 0
    words = told(run)
    expected = f"at most ${state.bound_usd:.4f} for {state.calls} calls of unknown usage"
    assert expected in words
    beside = f"at most ${state.bound_usd:.4f} more for {state.calls} calls of unknown usage"
    assert words.count(beside) == 2  # at a glance, and in the tile of the section on cost
    assert "of unknown cost" not in words
    beyond = f" and at most {state.bound_tokens:,} more where usage is unknown"
    assert f"0 completion tokens (0 reasoning){beyond}\n" in words
    assert f" 0 tokens{beyond}" in words  # at a glance
    assert f" 0 tokens{beyond}, at most " in so_far(state)
    assert f"0 of them written{beyond}" in words


def test_requests_lost_in_a_kill_are_in_the_bill_as_a_bound(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text(PRICE_FILE)
    with CountingServer(keep=False, latency_s=0.05) as server:
        command = [
            "generate", "--model", "compatible/m", "--base-url",
            server.openai_url, "--scenarios", "used_car", "-n", "20", "--turns", "1", "--prices",
            "prices.yaml", "--budget-usd", "5", "--max-concurrency", "4", "-o", "run", "-q",
        ]  # fmt: skip
        process = Hipo(tmp_path).start(*command)
        while server.count < 12 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        killed = Run(tmp_path / "run").state()
        assert killed.bound_usd > 0
        server.latency_s = 0.0
        Hipo(tmp_path)(*command)
    after = Run(tmp_path / "run").state()
    assert after.bound_usd == pytest.approx(killed.bound_usd)
    page = told(Run(tmp_path / "run"))
    beside = f"at most ${after.bound_usd:.4f} more for"
    assert page.count(beside) == 2
    assert after.cost_usd is not None
    assert after.cost_usd <= server.dollars <= after.charged_usd
    assert "of unknown usage" in page


@pytest.mark.parametrize(
    ("cost", "unknown", "bound", "text"),
    [
        (0.0, 0, 0.0, "$0.00"),
        (0.0, 3, 0.0, "3 calls of unknown cost"),
        (1.5, 3, 0.0, "$1.50 and 3 calls of unknown cost"),
        (0.0, 1, 2.0, "at most $2.00 for 1 call of unknown usage"),
    ],
)
def test_what_failed_requests_cost_is_not_told_beside_calls_of_unknown_cost(
    cost: float, unknown: int, bound: float, text: str
) -> None:
    assert bill(cost, unknown, bound) == text
