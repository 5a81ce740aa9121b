"""Estimate playing a plan and verifying it together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hipo.app.estimates.accepted_costs import (
    ASSUMED,
    AcceptedCosts,
    AcceptedShare,
    accepted_costs,
    share_of,
)
from hipo.app.estimates.batches import BatchEstimate, batch_estimate
from hipo.app.estimates.budget_coverage import Coverage, coverage, expected_spending
from hipo.app.estimates.judging_estimate import JudgingEstimate
from hipo.app.estimates.playing import (
    BYTES_PER_TOKEN,
    Estimate,
    estimate_generation,
)
from hipo.app.estimates.row_yields import RowYield, row_yields
from hipo.app.models.batch_apis import check_batches
from hipo.app.preparation.prepared import Prepared, prepare
from hipo.app.preparation.remaining import Remainder, remaining, whole_plan
from hipo.app.runs.folders import RUNS
from pipeline.providers.prices import PriceTable
from pipeline.recipes.recipe import Recipe
from pipeline.recipes.source import load_recipe
from pipeline.run_material import load_material
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
) -> PlanEstimate:
    """Estimate generating, and verifying where ``play`` asks for it.

    Args:
        prepared: what is to be played.
        folder: where it will lie; what it holds already is not played again.
        play: how it is verified; None: it is not.
        retry_failed: whether cases that failed are played again.

    Raises:
        UsageError: a judge or the policy is not fit.
    """
    planned = _estimate(prepared, folder, play, retry_failed=retry_failed)
    if play is None or play.quota is None:
        return planned
    generation = planned.generation
    if not generation.dialogues:
        generation = replace(generation, cases=0, exchanges=0)  # no case will be drawn
    quota = play.quota.estimate(folder)
    return replace(planned, generation=generation, rows=(), quota=quota)


def _estimate(
    prepared: Prepared, folder: Path, play: VerifiedPlay | None, *, retry_failed: bool
) -> PlanEstimate:
    """Estimate a new run, or going on with the one that is there."""
    if not RunStore.exists(folder):
        generation = estimate_generation(prepared)
        judging, left = None, whole_plan(prepared)
        if play is not None:
            from hipo.app.estimates.judging import Unjudged  # noqa: PLC0415 - brings all of judging
            from hipo.app.generation.plan_judging import (  # noqa: PLC0415 - as above
                estimate_planned,
                planned_foils,
                planned_lengths,
            )

            panels = play.check(prepared)
            prompts = play.prompts(prepared, prepared.prompts.templates.own or {})
            lengths = planned_lengths(prepared, panels, prompts)
            foils = planned_foils(prepared, panels, play)
            judging = estimate_planned(panels, prompts, left, Unjudged(), lengths, foils=foils)
        planned = _joined(prepared, left, generation, judging, (0.0, 0))
        return replace(planned, accepted=_accepted(prepared, generation, judging, ASSUMED))
    with RunStore.open(folder, readonly=True) as store:
        return _estimate_resumed(prepared, store, play, retry_failed=retry_failed)


def _estimate_resumed(
    prepared: Prepared, store: RunStore, play: VerifiedPlay | None, *, retry_failed: bool
) -> PlanEstimate:
    """Estimate going on with a run: what is in it already is neither played nor judged again."""
    state = store.state()
    at_providers = sum(batch.requests for batch in state.batches)
    share = share_of(state, judged=play is not None)
    if play is None:
        left = remaining(prepared, store, retry_failed=retry_failed)
        generation = estimate_generation(prepared, left, settled=state.settled)
        planned = _joined(prepared, left, generation, None, store.spent())
        whole = estimate_generation(prepared)
        accepted = _accepted(prepared, whole, None, share)
        return replace(planned, accepted=accepted, at_providers=at_providers)
    from hipo.app.estimates.judging import Unjudged, unjudged  # noqa: PLC0415 - brings all of judging
    from hipo.app.generation.plan_judging import (  # noqa: PLC0415 - as above
        estimate_planned,
        planned_foils,
        planned_lengths,
    )

    prepared, left = play.next_round(prepared, store, retry_failed=retry_failed)
    generation = estimate_generation(prepared, left, settled=state.settled)
    panels = play.check(prepared, state.arms)
    prompts = play.prompts(prepared, load_material(store).own_templates)
    enough = play.has_enough(store)
    waiting = Unjudged(state.generated) if enough else unjudged(store, panels, prompts)
    lengths = planned_lengths(prepared, panels, prompts)
    foils = planned_foils(prepared, panels, play)
    judging = estimate_planned(panels, prompts, left, waiting, lengths, foils=foils)
    planned = _joined(prepared, left, generation, judging, store.spent())
    all_of_it = whole_plan(prepared)
    everything = estimate_planned(panels, prompts, all_of_it, Unjudged(), lengths, foils=foils)
    whole = estimate_generation(prepared)
    accepted = _accepted(prepared, whole, everything, share)
    return replace(planned, accepted=accepted, at_providers=at_providers)


def _accepted(
    prepared: Prepared,
    generation: Estimate,
    judging: JudgingEstimate | None,
    share: AcceptedShare,
) -> AcceptedCosts | None:
    """Hold a whole plan against the price list of its recipe."""
    prices = PriceTable.load(prepared.recipe.prices, batch=prepared.recipe.limits.batch)
    return accepted_costs(prepared.uses, prices, generation, judging, share)


def _joined(
    prepared: Prepared,
    left: Mapping[str, Remainder],
    generation: Estimate,
    judging: JudgingEstimate | None,
    spent: tuple[float, int],
) -> PlanEstimate:
    """Join the parts, and compare them with the budget that so much of is spent."""
    check_batches(prepared.uses.values(), prepared.recipe.limits)
    covered = coverage(prepared, generation, judging, spent)
    yields = row_yields(prepared)
    batches = batch_estimate(prepared, left, judged=judging is not None)
    return PlanEstimate(
        generation, prepared.unmet, judging, covered, yields, prepared.packs, batches
    )
