"""What playing a plan and verifying it will take together, before a single request is sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.cli.estimates import (
    Estimate,
    as_json,
    as_text,
    estimate,
    exchanges_of,
    sample_cases,
    stand_in_history,
    stand_in_label,
)
from pipeline.cli.judge_estimates import (
    JudgingEstimate,
    estimate_judging,
    judge_estimate,
    judge_prompt_tokens,
    judging_as_json,
    judging_as_text,
)
from pipeline.cli.judging import Panels, seats_of
from pipeline.cli.screen import dollars
from pipeline.cli.verification import make_ready
from pipeline.cli.verified_generation import VerifiedPlay
from pipeline.cli.wiring import ModelUse, Prepared
from pipeline.store.run_store import RunStore
from prompts.environment import Templates
from prompts.judges import JudgePrompts
from quality.judges.protocol import Seat
from scenarios.case import Case
from scenarios.dialogue import Dialogue, Turn
from scenarios.spec import Scenario


@dataclass(frozen=True, slots=True)
class PlanEstimate:
    """What is still to be done of a plan; what a folder holds already is not counted again."""

    generation: Estimate
    judging: JudgingEstimate | None = None
    """Of the dialogues that are to be played; None: nobody asked for verification."""
    backlog: JudgingEstimate | None = None
    """Of those that are there and not judged yet; None: there are none."""

    @property
    def cost_usd(self) -> float | None:
        """Dollars for everything; None if any model has no price."""
        parts = (self.generation, self.judging, self.backlog)
        costs = [part.cost_usd for part in parts if part is not None]
        return None if None in costs else sum(cost for cost in costs if cost is not None)


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
    present: dict[str, int] = {}
    backlog: JudgingEstimate | None = None
    if RunStore.exists(folder):
        with RunStore.open(folder, readonly=True) as store:
            for arm in store.state().arms:
                present[arm.id] = arm.generated + (0 if retry_failed else arm.failed)
            if play is not None:
                found = estimate_judging(store, make_ready(store, play.wishes))
                backlog = found if found.calls else None
    generation = estimate(prepared, present)
    judging = None if play is None else _judging(prepared, play.check(prepared), generation)
    return PlanEstimate(generation, judging, backlog)


def _judging(prepared: Prepared, panels: Panels, generation: Estimate) -> JudgingEstimate:
    """Estimate the verification of dialogues that nobody has played yet."""
    prompts = JudgePrompts(Templates(prepared.recipe.prompt_dir), prepared.scheme)
    lengths = judge_prompt_tokens(prompts, _stand_ins(prepared))
    exchanges = exchanges_of(prepared.plan) / len(prepared.plan)
    uses: dict[Seat, ModelUse] = {}
    dialogues: Counter[Seat] = Counter()
    for arm in generation.arms:
        panel = panels.by_arm[arm.arm.id]
        for seat, (_, use) in zip(seats_of(panel, prompts), panel.uses, strict=True):
            uses[seat] = use
            dialogues[seat] += arm.dialogues
    return JudgingEstimate(
        generation.dialogues,
        tuple(
            judge_estimate(seat, use, dialogues[seat], round(exchanges * dialogues[seat]), lengths)
            for seat, use in uses.items()
        ),
    )


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


def plan_as_json(planned: PlanEstimate) -> dict[str, object]:
    """Return what ``hipo generate --dry-run --format json`` prints.

    What :func:`pipeline.cli.estimates.as_json` returns; ``verification``: what
    :func:`pipeline.cli.judge_estimates.judging_as_json` returns of the dialogues that are to be
    played, and ``unverified``: of those that are there already; null where there is nothing to
    verify. ``cost_usd`` is the sum of all, ``generation_usd`` that of generating; null if any is
    unknown.
    """
    parts = {"verification": planned.judging, "unverified": planned.backlog}
    return {
        **as_json(planned.generation),
        **{name: part and judging_as_json(part) for name, part in parts.items()},
        "generation_usd": planned.generation.cost_usd,
        "cost_usd": planned.cost_usd,
    }


def plan_as_text(planned: PlanEstimate) -> str:
    """Return the estimate the way ``hipo generate --dry-run`` prints it."""
    if planned.judging is None:
        return as_text(planned.generation)
    blocks = [as_text(planned.generation), "Verifying them:", judging_as_text(planned.judging)]
    if planned.backlog is not None:
        blocks += ["Verifying those that are there:", judging_as_text(planned.backlog)]
    return "\n\n".join([*blocks, f"in all {dollars(planned.cost_usd)}"])
