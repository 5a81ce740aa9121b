"""The budget of what a command does, with what was spent before it."""

from __future__ import annotations

from pipeline.recipes.recipe import Recipe
from pipeline.spending.budget import Ledger
from pipeline.store.evaluation_store import EvaluationStore
from pipeline.store.run_store import RunStore


def run_ledger(
    recipe: Recipe, store: RunStore, spent_elsewhere: tuple[float, int] = (0.0, 0)
) -> Ledger:
    """Return the budget of a run, with what it has spent in all its life so far.

    Args:
        recipe: of the run.
        store: of the run.
        spent_elsewhere: dollars and tokens that the budget holds for besides this run.
    """
    state = store.state()
    usd, tokens = store.spent()
    return Ledger(
        budget_usd=recipe.budget_usd,
        budget_tokens=recipe.budget_tokens,
        spent_usd=usd + spent_elsewhere[0],
        spent_tokens=tokens + spent_elsewhere[1],
        bound_usd=state.bound_usd,
        bound_tokens=state.bound_tokens,
        log=store.calls,
    )


def evaluation_ledger(
    store: EvaluationStore, budget_usd: float | None, budget_tokens: int | None
) -> Ledger:
    """Return the budget of an evaluation or a translation, with what it has spent in all its life so far."""
    charges = store.charges()
    return Ledger(
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        spent_usd=charges.charged_usd,
        spent_tokens=charges.charged_tokens,
        bound_usd=charges.bound_usd,
        bound_tokens=charges.bound_tokens,
        log=store.calls,
    )
