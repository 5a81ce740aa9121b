"""Show judges wrong labels, to see what their yes is worth; or count what that would take."""

from __future__ import annotations

from collections.abc import Iterable

from hipo.app.judging.judges import Juror, Panels, seat_judges
from hipo.app.judging.tools import JudgingReady
from hipo.app.models.endpoints import EndpointPool
from pipeline.chunks import chunks
from pipeline.playing.runner import Executor
from pipeline.recipes.recipe import Recipe
from pipeline.stopping.stop import Stop
from pipeline.store.run_store import RunStore
from quality.judges.verifying_judge import JUDGE, VerifyingJudge
from quality.verification.foil_trials import PAGE, FoilTrials, TrialJob, left_to_try
from quality.verification.foils import draw_foils


async def try_foils(
    ready: JudgingReady, store: RunStore, pool: EndpointPool, executor: Executor, stop: Stop
) -> None:
    """Show wrong labels to the judges that are shown declared ones, as far as they have not been.

    Args:
        ready: the judges, and of how many answers they are shown.
        store: the run; everything in it is verified, unless it was stopped before.
        pool: has the judges' models.
        executor: shows several at once.
        stop: ends it early.
    """
    jobs = [] if stop.requested else list(foil_jobs(ready, store))
    if not jobs:
        return
    material = ready.material
    seated = seat_judges(ready.panels, scheme=material.scheme, prompts=ready.prompts, pool=pool)
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


def foil_jobs(ready: JudgingReady, store: RunStore) -> Iterable[TrialJob]:
    """Return the trials with foils that are left to do."""
    material, answers = ready.material, ready.recipe.verification.foils
    seats = {
        arm: [juror.seat(ready.prompts) for juror in panel.external if shows_labels(juror)]
        for arm, panel in ready.panels.by_arm.items()
    }
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
        store.judgements, store.dialogues(traces=False), foils, seats, material.scenario_as_told
    )
