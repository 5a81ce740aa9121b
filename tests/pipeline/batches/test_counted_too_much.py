"""A batch API that counts more tokens than was asked of it: later batches hold back as much."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import orjson
import pytest

from hipo.app.generation.generate import generate
from pipeline.store.run_store import RunStore
from tests.pipeline.batches.runs import recipe
from tests.wire.batches import Batches
from tests.wire.formats import Wire
from tests.wire.server import WireServer

PRICES = (5.0, 10.0)
"""Of the recipe, in batches: US dollars per million tokens of prompts and of answers."""
TIMES = 1.3


class Bill:
    """Counts every request at so many times the most that was asked for, and adds up what it costs."""

    def __init__(self, batches: Batches, times: float = TIMES) -> None:
        self.usd = 0.0
        self.times = times
        self._answered = batches._answer
        batches._answer = self._counted

    def _counted(self, wire: Wire, body: dict[str, Any], number: int) -> dict[str, Any]:
        answer = self._answered(wire, body, number)
        prompt = sum(len(m["content"].encode()) + 16 for m in body["messages"])
        prompt += len(orjson.dumps(body["response_format"]["json_schema"]["schema"]))
        counted = tuple(
            math.ceil(self.times * most) for most in (prompt, body["max_completion_tokens"])
        )
        answer["usage"] = {
            "prompt_tokens": counted[0],
            "completion_tokens": counted[1],
            "total_tokens": sum(counted),
        }
        self.usd += sum(n * usd for n, usd in zip(counted, PRICES, strict=True)) / 1e6
        return answer


def test_the_first_batch_of_a_run_costs_no_more_than_is_left_if_it_uses_all_it_was_given(
    server: WireServer, tmp_path: Path
) -> None:
    bill = Bill(server.batches, times=1.0)
    budget_usd = 0.2
    run = generate(recipe(server, n=12, budget_usd=budget_usd), output=tmp_path / "run")
    assert run.outcome.stop_code == "budget"
    sizes = [len(batch.requests) for batch in server.batches.made]
    assert 1 < sizes[0] < 12
    assert run.state().charged_usd == pytest.approx(bill.usd)
    assert budget_usd / 2 < bill.usd <= budget_usd


def test_three_starts_of_a_run_in_batches_bill_no_more_than_each_budget(
    server: WireServer, tmp_path: Path
) -> None:
    bill = Bill(server.batches)
    generate(recipe(server, n=1, budget_usd=5.0), output=tmp_path / "run")
    each = bill.usd / 2
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        ((address, excess),) = store.calls.excess().items()
    assert address == ("openai", server.openai_url, "rules")
    assert excess.answers == pytest.approx(TIMES, abs=0.01)
    for budget_usd in (6 * each, 11 * each):
        spent = bill.usd
        run = generate(recipe(server, n=12, budget_usd=budget_usd), output=tmp_path / "run")
        assert run.outcome.stop_code == "budget"
        assert spent < bill.usd <= budget_usd
        assert run.state().charged_usd == pytest.approx(bill.usd)
