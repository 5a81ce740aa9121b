"""Estimate playing a plan and verifying it together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hipo.app.estimates import (
    Estimate,
    estimate_generation,
    exchanges_of,
    sample_cases,
    stand_in_history,
    stand_in_label,
)
from hipo.app.judge_estimates import (
    JudgingEstimate,
    judge_estimate,
    judge_prompt_tokens,
)
from hipo.app.judges import Panels
from hipo.app.models import ModelUse
from hipo.app.preparation import Prepared, prepare
from hipo.app.run_folders import RUNS
from hipo.app.verified_generation import VerifiedPlay
from pipeline.recipe import Recipe
from pipeline.recipe_source import load_recipe
from pipeline.store.queries.status import ArmState
from pipeline.store.run_store import RunStore
from prompts.judges import JudgePrompts
from quality.judges.protocol import JudgeIdentity
from scenarios.case import Case
from scenarios.dialogue import Dialogue, Turn
from scenarios.margins import Margin
from scenarios.spec import Scenario


@dataclass(frozen=True, slots=True)
class PlanEstimate:
    """What is still to be done of a plan; what a folder holds already is not counted again."""

    generation: Estimate
    unmet: tuple[Margin, ...] = ()
    """Wanted shares of tactics that the rules put out of reach."""
    judging: JudgingEstimate | None = None
    """Of what is to be played, and of what is there and not judged; None: nobody asked for it."""

    @property
    def cost_usd(self) -> float | None:
        """Dollars for everything; None if any model has no price."""
        parts = (self.generation, self.judging)
        costs = [part.cost_usd for part in parts if part is not None]
        return None if None in costs else sum(cost for cost in costs if cost is not None)


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
    arms: tuple[ArmState, ...] = ()
    judged: Mapping[str, int] = {}
    if RunStore.exists(folder):
        with RunStore.open(folder, readonly=True) as store:
            state = store.state()
        arms, judged = state.arms, state.verification.judged
    present = {arm.id: arm.generated + (0 if retry_failed else arm.failed) for arm in arms}
    generation = estimate_generation(prepared, present)
    if play is None:
        return PlanEstimate(generation, prepared.unmet)
    there = {arm.id: arm.generated for arm in arms}
    judging = _judging(prepared, play.check(prepared), generation, there, judged)
    return PlanEstimate(generation, prepared.unmet, judging)


def _judging(
    prepared: Prepared,
    panels: Panels,
    generation: Estimate,
    there: Mapping[str, int],
    judged: Mapping[str, int],
) -> JudgingEstimate:
    """Estimate judging what will be played and what waits; counted, so that no run is too large.

    Args:
        prepared: what is to be played.
        panels: who judges it.
        generation: how much is still to be played.
        there: generated dialogues by arm id.
        judged: dialogues by role of a judge.
    """
    prompts = JudgePrompts(prepared.prompts.templates, prepared.scheme)
    lengths = judge_prompt_tokens(prompts, _stand_ins(prepared))
    exchanges = exchanges_of(prepared.plan) / len(prepared.plan)
    uses: dict[JudgeIdentity, ModelUse | None] = {}
    dialogues: Counter[JudgeIdentity] = Counter()
    for arm in generation.arms:
        for juror in panels.by_arm[arm.arm.id].jurors:
            seat = juror.seat(prompts)
            uses[seat] = juror.use
            dialogues[seat] += arm.dialogues + there.get(arm.arm.id, 0)
    done = Counter(judged)
    judges = []
    for seat, use in uses.items():
        known = min(dialogues[seat], done[seat.role])
        done[seat.role] -= known
        left = dialogues[seat] - known
        judges.append(judge_estimate(seat, use, left, round(exchanges * left), lengths))
    return JudgingEstimate(generation.dialogues + sum(there.values()), tuple(judges))


def _stand_ins(prepared: Prepared) -> Iterator[tuple[Dialogue, Scenario]]:
    """Yield a few cases of the plan as dialogues in which usual things are said."""
    for case in sample_cases(prepared):
        scenario = prepared.scenarios[case.scenario]
        yield _stand_in(prepared, case, scenario), scenario


def _stand_in(prepared: Prepared, case: Case, scenario: Scenario) -> Dialogue:
    tactic = tuple(stand_in_label(d) for d in prepared.scheme.utterance_dimensions)
    turns = []
    for index, (role, text) in enumerate(stand_in_history(scenario, case, case.turns)):
        opening = index < 2
        said = () if opening or role == "initiator" else tactic
        turns.append(Turn(index, role, text, "opening" if opening else "improvised", tactic=said))
    return Dialogue(case, "", tuple(turns))
