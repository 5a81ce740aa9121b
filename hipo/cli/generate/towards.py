"""What ``hipo generate`` plays that verifies, or goes on for more than its plan."""

from __future__ import annotations

from pathlib import Path

from hipo.app.generation.quota import plan_quota
from hipo.app.generation.saturation import SaturatedPlay
from hipo.app.generation.verified import VerifiedPlay, next_size
from hipo.app.options.values import Resume
from hipo.app.options.verification import VerificationOverrides
from hipo.app.preparation.prepared import Prepared
from hipo.app.runs.resumption import prepare_for
from hipo.cli.generate.until import Until
from pipeline.recipes.recipe import Recipe


def prepare_towards(
    until: Until,
    recipe: Recipe,
    folder: Path,
    resume: Resume,
    overrides: VerificationOverrides,
    *,
    verify: bool,
) -> tuple[Prepared, VerifiedPlay | None, SaturatedPlay | None]:
    """Return what is planned first, how it is verified, and what ends it at saturation.

    Args:
        until: what the run goes on for.
        recipe: of the run.
        folder: of the run.
        resume: whether a run in the folder is continued.
        overrides: what is said about verification.
        verify: whether dialogues are verified though the run goes on for nothing.

    Raises:
        UsageError: the recipe, the folder or the file of a quota is not right, or no cell of the
            quota can be filled.
    """
    play = VerifiedPlay(overrides) if verify else None
    prepared = prepare_for(folder, recipe, resume)
    if until.accepted is not None:
        first = next_size(0, prepared, wanted=until.accepted, accepted=0, played=0, most=recipe.n)
        play = VerifiedPlay(overrides, until.accepted, most=recipe.n)
        return prepared.of_size(first), play, None
    if until.quota is not None:
        planned = plan_quota(until.quota, prepared)
        cases = planned.estimate(folder).cases
        return planned.played(prepared, cases), VerifiedPlay(overrides, quota=planned), None
    if until.saturated is not None:
        ending = SaturatedPlay(until.saturated, until.window, prepared.recipe.n, play)
        return ending.first(prepared, folder), play, ending
    return prepared, play, None
