"""Show judges wrong labels, to see what their yes is worth; or count what that would take."""

from __future__ import annotations

from collections.abc import Iterable

from hipo.app.endpoints import EndpointPool
from hipo.app.judges import Juror, Panels, seat_judges
from pipeline.chunks import chunks
from pipeline.recipe import Recipe
from pipeline.run_material import RunMaterial
from pipeline.runner import Executor
from pipeline.stop import Stop
from pipeline.store.run_store import RunStore
from prompts.judges import JudgePrompts
from quality.foil_trials import PAGE, FoilTrials, TrialJob, left_to_try
from quality.foils import draw_foils
from quality.judges.verifying_judge import JUDGE, VerifyingJudge


async def try_foils(
    panels: Panels,
    recipe: Recipe,
    material: RunMaterial,
    prompts: JudgePrompts,
    *,
    store: RunStore,
    pool: EndpointPool,
    executor: Executor,
    stop: Stop,
) -> None:
    """Show wrong labels to the judges that are shown declared ones, as far as they have not been.

    Args:
        panels: the judges of every arm.
        recipe: says of how many answers.
        material: what the dialogues are made of.
        prompts: of the judges.
        store: the run; everything in it is verified.
        pool: has the judges' models.
        executor: shows several at once.
        stop: ends it early.
    """
    jobs = list(foil_jobs(panels, recipe, material, prompts, store))
    if not jobs:
        return
    seated = seat_judges(panels, scheme=material.scheme, prompts=prompts, pool=pool)
    judges = {
        (arm, judge.seat): judge
        for arm, some in seated.items()
        for judge in some
        if isinstance(judge, VerifyingJudge)
    }
    trials = FoilTrials(store.judgements, judges, stop, len(material.scenario_names))
    await trials.run(jobs, executor)


def shows_labels(juror: Juror) -> bool:
    """Whether a judge is shown the declared labels."""
    return juror.extension.name == JUDGE.name


def foils_of(panels: Panels, recipe: Recipe) -> int:
    """Return of how many answers judges are also shown wrong labels; 0 where none is shown labels."""
    jurors = (juror for panel in panels.by_arm.values() for juror in panel.external)
    return recipe.verification.foils if any(map(shows_labels, jurors)) else 0


def foil_jobs(
    panels: Panels, recipe: Recipe, material: RunMaterial, prompts: JudgePrompts, store: RunStore
) -> Iterable[TrialJob]:
    """Return the trials with foils that are left to do."""
    seats = {
        arm: [juror.seat(prompts) for juror in panel.external if shows_labels(juror)]
        for arm, panel in panels.by_arm.items()
    }
    answers = recipe.verification.foils
    if not answers or not any(seats.values()):
        return []
    foils = draw_foils(
        material.scheme,
        store.dialogues(traces=False),
        answers,
        lambda keys: {
            key: said
            for some in chunks(sorted(keys), PAGE)
            for key, said in store.judgements.judgements(some).items()
        },
    )
    return left_to_try(
        store.judgements, store.dialogues(traces=False), foils, seats, material.scenario_of
    )
