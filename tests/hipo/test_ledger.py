"""Commands against a provider that keeps a bill of its own: budgets hold, and what is told is on it."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hipo.app.evaluation.evaluate import evaluate
from hipo.app.evaluation.settings import EvaluationSettings
from hipo.app.generation.generate import generate_prepared
from hipo.app.generation.plan_estimates import estimate
from hipo.app.models import endpoints
from hipo.app.options.verification import VerificationOverrides
from hipo.app.runs.resumption import prepare_for
from hipo.app.runs.run import GeneratedRun
from hipo.app.study import study
from hipo.cli.reports.run import state_as_text
from hipo.cli.study import study_as_text
from outputs.evaluation.asked import cost_section, overview_section
from outputs.evaluation.writing import WrittenEvaluation
from outputs.report.effort import effort_section
from outputs.report.gathered import ReportOptions, gather
from pipeline.providers.retry import RetryPolicy
from pipeline.recipes.recipe import Limits, Recipe
from pipeline.stopping.stop import BUDGET
from pipeline.store.evaluation_store import EvaluationStore
from pipeline.store.queries.charges import Charges
from tests.wire.faults import Faults
from tests.wire.ledger import LedgerServer, Noise, Noises, every, shipped_prices

MODELS = {"openai": "openai/gpt-4o-mini", "anthropic": "anthropic/claude-haiku-4-5"}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again at once, with keys that the local server takes."""
    policy = partial(RetryPolicy, initial_s=0.01, max_pause_s=0.02)
    monkeypatch.setattr(endpoints, "RetryPolicy", policy)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "a-key")


def model_at(server: LedgerServer, provider: str = "openai", **more: object) -> dict[str, object]:
    url = server.anthropic_url if provider == "anthropic" else server.openai_url
    return {"model": MODELS.get(provider, f"{provider}/m"), "base_url": url, **more}


def recipe(model: dict[str, object], **changes: object) -> Recipe:
    given = {"scenarios": ["used_car"], "turns": [1], "n": 4, "models": {"default": model}}
    return Recipe.model_validate({**given, **changes})


def played(folder: Path, wanted: Recipe) -> GeneratedRun:
    return asyncio.run(generate_prepared(prepare_for(folder, wanted), folder))


def assert_on_the_bill(charges: Charges, server: LedgerServer) -> None:
    """What is known is what was told, and the rest of the bill is not more than the bound."""
    assert (charges.cost_usd or 0.0) == pytest.approx(server.told_usd, abs=1e-9)
    assert server.usd <= charges.charged_usd + 1e-9


@pytest.mark.parametrize(
    ("provider", "noise", "concurrency"),
    [
        ("openai", every(3, "silent", "zero"), 1),
        ("anthropic", every(3, "silent", "zero"), 64),
        ("openai", every(2, "over"), 64),
        ("openai", every(2, "fault"), 64),
        ("anthropic", every(2, "fault"), 64),
        ("compatible", every(2, "fault"), 1),
    ],
)
def test_no_bill_is_above_its_budget_and_no_more_than_a_request_is_left(
    tmp_path: Path, provider: str, noise: Noises, concurrency: int
) -> None:
    budget = {"openai": 0.01, "anthropic": 0.06, "compatible": 0.02}[provider]
    prices = shipped_prices() | {"compatible/m": PLAIN}
    with LedgerServer(prices, noise=noise, reasoning=200) as server:
        limits = {"max_concurrency": concurrency}
        price = {"price": PLAIN} if provider == "compatible" else {}
        wanted = recipe(model_at(server, provider, **price), n=40, budget_usd=budget, limits=limits)
        run = played(tmp_path / "run", wanted)
        assert run.outcome.stop_code == BUDGET
        state = run.state()
        assert_on_the_bill(state, server)
        assert state.charged_usd <= budget
        next_one = re.search(r"may cost up to \$([\d.]+)", str(run.outcome.stopped))
        assert next_one is not None
        assert budget - state.charged_usd < float(next_one[1]) + 1e-4
        lines = len(server.bill)
        again = played(tmp_path / "run", wanted)
        assert again.state().charged_usd <= budget
        assert_on_the_bill(again.state(), server)
    assert len(server.bill) - lines <= concurrency


def lost(number: int) -> Noise | None:
    noises: dict[int, Noise] = {1: "error", 2: "cut"}
    return noises.get(number)


def test_what_was_computed_and_never_arrived_is_in_the_bound(tmp_path: Path) -> None:
    with LedgerServer(shipped_prices(), noise=lost) as server:
        state = played(tmp_path / "run", recipe(model_at(server), n=2)).state()
    assert state.unpriced_calls == 2
    assert_on_the_bill(state, server)


LONG = {"input": 2, "output": 8, "cached_input": 0.5, "long_above": 900, "long_input": 4,
        "long_output": 12}  # fmt: skip
PLAIN = {"input": 3, "output": 9}


@pytest.mark.parametrize(("price", "place"), [(LONG, "recipe"), (PLAIN, "file")])
def test_prices_of_ones_own_are_those_of_the_bill_and_of_the_estimate(
    tmp_path: Path, price: dict[str, float], place: str
) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(f"prices:\n  openai/gpt-*: {price}\n".replace("'", ""), encoding="utf-8")
    with LedgerServer({"openai/gpt-*": price}) as server:
        if place == "recipe":
            wanted = recipe(model_at(server, price=price))
        else:
            wanted = recipe(model_at(server), prices=str(file))
        told = estimate(wanted)
        state = played(tmp_path / "run", wanted).state()
    assert state.cost_usd == state.charged_usd == pytest.approx(server.usd)
    assert told.cost_usd is not None
    least = 0.9 if price is PLAIN else 1.0  # no estimate counts on the cache
    assert least * server.usd < told.cost_usd < 2.5 * server.usd


def test_a_price_that_rises_leaves_what_was_paid_and_the_budget_as_they_were(
    tmp_path: Path,
) -> None:
    with LedgerServer({"openai/*": PLAIN}) as server:
        played(tmp_path / "run", recipe(model_at(server, price=PLAIN), n=2))
        before = server.usd
        dear = {name: 10 * usd for name, usd in PLAIN.items()}
        server.prices = {"openai/*": dear}
        wanted = recipe(model_at(server, price=dear), n=20, budget_usd=before + 0.7)
        run = played(tmp_path / "run", wanted)
    assert run.outcome.stop_code == BUDGET
    assert before < server.usd <= before + 0.7
    assert run.state().cost_usd == pytest.approx(server.usd)


@pytest.mark.parametrize("cache_write", [None, 3.75])
def test_what_is_kept_in_the_cache_for_an_hour_costs_twice_as_much(
    tmp_path: Path, cache_write: float | None
) -> None:
    price = {"input": 3.0, "output": 15.0, "cached_input": 0.3}
    price |= {} if cache_write is None else {"cache_write": cache_write}
    hour = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    with LedgerServer({"anthropic/*": price}) as server:
        model = model_at(server, "anthropic", price=price, extra=hour)
        state = played(tmp_path / "run", recipe(model)).state()
    assert sum(line.hourly for line in server.bill) > 0
    assert state.cost_usd == pytest.approx(server.usd)


def evaluated(folder: Path, server: LedgerServer, **more: Any) -> Any:
    settings = EvaluationSettings(base_url=server.openai_url, limits=Limits(max_concurrency=8))
    return evaluate(
        "gold", tasks=["hipo-utterance"], models=[MODELS["openai"]], output=folder, n=4,
        settings=settings, **more,
    )  # fmt: skip


def test_a_page_of_an_evaluation_tells_what_was_lost_in_a_kill(tmp_path: Path) -> None:
    with EvaluationStore.begin(tmp_path / "e") as killed:
        asyncio.run(killed.calls.reserve(0.0125, 1_000))
    with LedgerServer(shipped_prices(), noise=every(2, "silent")) as server:
        done = evaluated(tmp_path / "e", server)
    assert_on_the_bill(done.charges, server)
    written: WrittenEvaluation = done.written
    record = written.evaluated.record
    bound = sum(took.bound_usd for took in record.took)
    assert sum(took.known_usd for took in record.took) == pytest.approx(done.charges.cost_usd)
    assert bound == pytest.approx(done.charges.bound_usd)
    cost = str(cost_section(written.evaluated))
    assert "in flight when a process was killed" in cost
    assert "at most $0.0125 for 1 call of unknown usage" in cost
    assert f"at most ${bound:.4f} for" in str(overview_section(written.evaluated))


def test_a_call_that_cost_nothing_does_not_make_the_others_free(tmp_path: Path) -> None:
    with LedgerServer(shipped_prices(), noise=lambda _: "silent") as server:
        server.faults = Faults(script=("rate_limited",))
        run = played(tmp_path / "run", recipe(model_at(server)))
    state = run.state()
    assert (state.cost_usd, state.unpriced_calls) == (None, state.calls - 1)
    gathered = asyncio.run(gather(run.folder, ReportOptions(), name="run"))
    pages = str(effort_section(gathered)) + state_as_text(run.folder, state)
    assert "$0.00 " not in pages
    assert "'$0.00'" not in pages
    assert re.search(r"'at most \$0\.\d+ for \d+ calls? of unknown usage'", pages)


def test_a_study_says_what_calls_of_unknown_usage_cost_at_most(tmp_path: Path) -> None:
    with LedgerServer(shipped_prices(), noise=every(2, "silent")) as server:
        wanted = recipe({"base_url": server.openai_url}, n=2)
        models = [MODELS["openai"], "openai/gpt-4.1-mini"]
        done = study(
            wanted, models=models, strategies=["direct"], output=tmp_path / "study",
            overrides=VerificationOverrides(embeddings=False),
        )  # fmt: skip
    told = sum(effort.cost_usd or 0.0 for effort in done.result.efforts)
    bound = sum(effort.bound_usd for effort in done.result.efforts)
    assert told == pytest.approx(server.told_usd)
    assert told < server.usd <= told + bound
    pages = done.page.read_text(encoding="utf-8"), study_as_text(done)
    for one in done.result.efforts:
        words = f"and at most ${one.bound_usd:.4f} for {one.unpriced_calls} calls of unknown usage"
        assert all(words in page for page in pages)
