"""Runs in batches against the local server, on a clock that runs a hundred times as fast."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.batches.surroundings import BatchRules
from pipeline.recipes.recipe import Recipe
from tests.pipeline.integration.records import rows
from tests.wire.server import WireServer

QUICK = BatchRules(
    look_s=0.01, quiet_looks=5, age_s=5.0, first_poll_s=0.01, poll_s=0.05, settle_s=0.2,
    unheard_s=0.2, late_results_s=0.3,
)  # fmt: skip
PATIENT = replace(QUICK, settle_s=600.0, late_results_s=600.0)
"""For what comes in the end, after so many questions: however slow the machine is."""
KEYS = {"OPENAI_API_KEY": "sk-test", "ANTHROPIC_API_KEY": "sk-ant-test"}


def recipe(server: WireServer, provider: str = "openai", n: int = 12, **changes: Any) -> Recipe:
    """Return a recipe of ``n`` dialogues of one exchange, two calls each, in batches."""
    url = server.openai_url if provider == "openai" else server.anthropic_url
    model = {"model": f"{provider}/rules", "base_url": url, "price": {"input": 10, "output": 20}}
    limits = {"batch": True, "max_attempts": 4} | changes.pop("limits", {})
    return Recipe.model_validate(
        {"n": n, "turns": [1], "openings": "by-goal", "models": {"default": model}}
        | {"limits": limits}
        | changes
    )


def assert_whole(run: Path, server: WireServer, dialogues: int) -> None:
    """Every dialogue is there, every request was processed once, and nothing is left."""
    assert rows(run, "select status, count(*) from dialogues group by 1") == [
        ("generated", dialogues)
    ]
    assert rows(run, "select count(*) from requests where code = 'ok'") == [(2 * dialogues,)]
    assert rows(run, "select count(*) from reservations") == [(0,)]
    assert len(server.batches.paid) == len(set(server.batches.paid)) == 2 * dialogues
