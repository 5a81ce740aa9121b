"""Estimate playing a plan and verifying it together."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hipo.app.estimates.accepted_costs import ASSUMED, AcceptedCosts, accepted_costs, share_of
from hipo.app.estimates.batches import BatchEstimate, batch_estimate
from hipo.app.estimates.budget_coverage import Coverage, coverage, expected_spending
from hipo.app.estimates.judging_estimate import JudgingEstimate
from hipo.app.estimates.playing import BYTES_PER_TOKEN, Estimate, estimate_generation
from hipo.app.estimates.row_yields import RowYield, row_yields
from hipo.app.models.batch_apis import check_batches
from hipo.app.preparation.prepared import Prepared, prepare
from hipo.app.preparation.remaining import remaining, whole_plan
from hipo.app.runs.folders import RUNS
from pipeline.providers.prices import PriceTable
from pipeline.recipes.recipe import Recipe
from pipeline.recipes.source import load_recipe
from pipeline.store.run_store import RunStore
from scenarios.margins import Margin

if TYPE_CHECKING:
    from hipo.app.generation.quota import QuotaEstimate
    from hipo.app.generation.verified import VerifiedPlay


OF_DIALOGUE = 600
"""Bytes of the rows that each dialogue has once: its case, how it ended, the lines of the scenario."""
OF_SAMPLE = 550
"""Bytes of the rows that each answer has: its request, its prompt and its choice, with their indexes."""
TIMES_STORED = 2
"""An answer is stored as it came, and again in what is made of it: turns, labels, later prompts."""


@dataclass(frozen=True, slots=True)
class PlanEstimate:
    """What is still to be done of a plan; what a folder holds already is not counted again."""

    generation: Estimate
    unmet: tuple[Margin, ...] = ()
    """Wanted shares of tactics that the rules put out of reach."""
    judging: JudgingEstimate | None = None
    """Of what is to be played, and of what is there and not judged; None: nobody asked for it."""
    covered: Coverage | None = None
    """How far the budget reaches; None without one, or where nothing costs."""
    rows: tuple[RowYield, ...] = ()
    """The most rows of each kind that the whole plan can yield."""
    packs: Mapping[str, int] = field(default_factory=dict)
    """How many of the selected scenarios come from which pack, in words."""
    batches: BatchEstimate | None = None
    """How often batches are waited for; None where requests are sent at once."""
    at_providers: int = 0
    """Requests in batches that are paid for and not used yet; they are counted once more here."""
    quota: QuotaEstimate | None = None
    """What the cells of a quota will probably take; None without one."""
    accepted: AcceptedCosts | None = None
    """What accepted utterances cost with each model of the price list; None of an empty plan."""

    @property
    def cost_usd(self) -> float | None:
        """Dollars for everything; None if any model has no price."""
        return expected_spending(self.generation, self.judging)[0]

    @property
    def disk_bytes(self) -> int:
        """About how many bytes the database grows by; what a run begins with is not in it.

        Prompts are stored once as far as they are alike, and so hardly count.
        """
        samples = sum(calls.expected for arm in self.generation.arms for calls in arm.calls)
        tokens = sum(model.completion_tokens for model in self.generation.models)
        if self.judging is not None:
            samples += self.judging.calls
            tokens += sum(judge.completion_tokens for judge in self.judging.judges)
        said = TIMES_STORED * BYTES_PER_TOKEN * tokens
        return self.generation.dialogues * OF_DIALOGUE + round(samples) * OF_SAMPLE + said


def estimate(
    recipe: Recipe | str | Path,
    *,
    output: str | Path | None = None,
    play: VerifiedPlay | None = None,
) -> PlanEstimate:
    """Say what a recipe will take: cases, calls, tokens and cost. Nothing is sent or written.

    Example::

        print(estimate("hipo-paper").cost_usd)

    Args:
        recipe: a recipe, its file, or the name of a shipped one.
        output: the folder of the run; None is ``./runs/<name of the recipe>``. What it holds
            already is not counted again.
        play: how dialogues are verified as they are made; None: they are not.

    Raises:
        UsageError: something in the recipe does not exist or does not fit together.
    """
    prepared = prepare(recipe if isinstance(recipe, Recipe) else load_recipe(recipe))
    folder = Path(output) if output is not None else RUNS / prepared.recipe.name
    return estimate_plan(prepared, folder, play=play)


def estimate_plan(
    prepared: Prepared,
    folder: Path,
    *,
    play: VerifiedPlay | None = None,
    retry_failed: bool = False,
    before: tuple[float, int] = (0.0, 0),
) -> PlanEstimate:
    """Estimate generating, and verifying where ``play`` asks for it.

    Args:
        prepared: what is to be played.
        folder: where it will lie; what it holds already is not played again.
        play: how it is verified; None: it is not.
        retry_failed: whether cases that failed are played again.
        before: US dollars and tokens of the budget that others will probably take who play before.

    Raises:
        UsageError: a judge or the policy is not fit.
    """
    there = RunStore.open(folder, readonly=True) if RunStore.exists(folder) else nullcontext()
    with there as store:
        planned = _estimate(prepared, store, play, before, retry_failed=retry_failed)
    if play is None or play.quota is None:
        return planned
    generation = planned.generation
    if not generation.dialogues:
        generation = replace(generation, cases=0, exchanges=0)  # no case will be drawn
    quota = play.quota.estimate(folder)
    return replace(planned, generation=generation, rows=(), quota=quota)


def _estimate(
    prepared: Prepared,
    store: RunStore | None,
    play: VerifiedPlay | None,
    before: tuple[float, int],
    *,
    retry_failed: bool,
) -> PlanEstimate:
    """Estimate a new run, or going on with one: what is in it is neither played nor judged again."""
    state = None if store is None else store.state()
    if store is None:
        left = whole_plan(prepared)
    elif play is None:
        left = remaining(prepared, store, retry_failed=retry_failed)
    else:
        prepared, left = play.next_round(prepared, store, retry_failed=retry_failed)
    generation = estimate_generation(prepared, left, settled=0 if state is None else state.settled)
    judging, everything = None, None
    if play is not None:
        from hipo.app.generation.plan_judging import estimate_verifying  # noqa: PLC0415 - brings all of judging

        judging, everything = estimate_verifying(prepared, store, play, left)
    check_batches(prepared.uses.values(), prepared.recipe.limits)
    prices = PriceTable.load(prepared.recipe.prices, batch=prepared.recipe.limits.batch)
    whole = generation if store is None else estimate_generation(prepared)
    share = ASSUMED if state is None else share_of(state, judged=play is not None)
    return PlanEstimate(
        generation,
        prepared.unmet,
        judging,
        coverage(
            prepared, generation, judging, (0.0, 0) if store is None else store.spent(), before
        ),
        row_yields(prepared),
        prepared.packs,
        batch_estimate(prepared, left, judged=0 if judging is None else judging.rounds),
        at_providers=0 if state is None else sum(batch.requests for batch in state.batches),
        accepted=accepted_costs(prepared.uses, prices, whole, everything, share),
    )
