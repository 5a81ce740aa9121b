"""What ``hipo generate`` does once its options are read; other commands play what they prepared."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from hipo.app.generation import generate_prepared
from hipo.app.pilot import run_pilot
from hipo.app.plan_estimates import PlanEstimate, estimate_plan
from hipo.app.preparation import Prepared, prepare
from hipo.app.preview import preview as preview_cases
from hipo.app.quota import QuotaStanding, plan_quota, quota_standing
from hipo.app.run import Run
from hipo.app.saturation import SaturatedPlay
from hipo.app.verification_overrides import VerificationOverrides
from hipo.app.verified_generation import VerifiedPlay, first_size
from hipo.app.watching import Watcher
from hipo.cli.console import Format, write_json
from hipo.cli.dialogue_json import dialogue_as_json
from hipo.cli.dialogue_view import Heading, render
from hipo.cli.errors import ExitCode, StoppedEarly, say
from hipo.cli.estimate_report import pilot_as_json, pilot_as_text, plan_as_json, plan_as_text
from hipo.cli.generate_until import Until
from hipo.cli.progress import watcher
from hipo.cli.quota_report import quota_as_json, quota_as_text
from hipo.cli.run_report import state_as_json, summary
from hipo.cli.saturation_report import saturation_as_json, saturation_as_text
from hipo.cli.verify_report import verification_tables
from hipo.cli.worker_options import Workers
from hipo.cli.wrapping import write_text
from pipeline.recipe import Recipe
from scenarios.errors import UsageError


def first_part(until: Until, recipe: Recipe) -> Recipe:
    """Return the recipe with as many cases as are played first for accepted dialogues."""
    if until.accepted is None:
        return recipe
    return recipe.with_changes({"n": first_size(until.accepted, len(recipe.strategies), recipe.n)})


def verified_play(
    until: Until, recipe: Recipe, overrides: VerificationOverrides, *, verify: bool
) -> VerifiedPlay | None:
    """Return how to play with verification; None where nobody asked for it."""
    if until.accepted is not None:
        return VerifiedPlay(overrides, until.accepted, most=recipe.n)
    return VerifiedPlay(overrides) if verify else None


def planned_towards(
    until: Until,
    prepared: Prepared,
    folder: Path,
    overrides: VerificationOverrides,
    play: VerifiedPlay | None,
) -> tuple[Prepared, VerifiedPlay | None, SaturatedPlay | None]:
    """Return what is planned first, how it is verified, and what ends it at saturation.

    Raises:
        UsageError: the file of the quota is not right, or no cell of it can be filled.
    """
    if until.quota is not None:
        planned = plan_quota(until.quota, prepared)
        cases = planned.estimate(folder).cases
        return planned.played(prepared, cases), VerifiedPlay(overrides, quota=planned), None
    if until.saturated is not None:
        ending = SaturatedPlay(until.saturated, until.window, prepared.recipe.n, play)
        return ending.first(prepared), play, ending
    return prepared, play, None


def run_prepared(
    prepared: Prepared,
    folder: Path,
    *,
    retry_failed: bool = False,
    workers: Workers = None,
    output_format: Format = Format.TEXT,
    quiet: bool = False,
    watching: Watcher | None = None,
    play: VerifiedPlay | None = None,
    ending: SaturatedPlay | None = None,
) -> int:
    """Generate what was prepared as the command line does, and return the exit code.

    Raises:
        StoppedEarly: the run ended early, e.g. interrupted; it can be continued.
    """

    def announce(_: Prepared) -> None:
        if play is not None:
            play.check(prepared)
        if not quiet:
            _announce(estimate_plan(prepared, folder, play=play, retry_failed=retry_failed))

    run = asyncio.run(
        generate_prepared(
            prepared,
            folder,
            retry_failed=retry_failed,
            watcher=watching or watcher(quiet=quiet, name=folder.name),
            signals=True,
            on_ready=announce,
            play=ending or play,
            workers=workers,
        )
    )
    if output_format is Format.JSON:
        write_json(_as_json(run, play, ending))
    elif not quiet:
        write_text(_as_text(run, prepared, play, ending))
    outcome = run.outcome
    if outcome is not None and outcome.stopped is not None:
        raise StoppedEarly(outcome.stopped, outcome.stop_code, outcome.advice)
    failed = run.state().failed
    return ExitCode.FAILED_CASES if failed else ExitCode.DONE


def _as_json(
    run: Run, play: VerifiedPlay | None, ending: SaturatedPlay | None
) -> dict[str, object]:
    """Return the state of a run, and the curve where it was to end at saturation."""
    standing = _quota_of(run.folder, play)
    quota = None if standing is None else quota_as_json(standing)
    state = state_as_json(run.folder, run.state(), quota)
    if ending is None or ending.curve is None:
        return state
    return {**state, "saturation": saturation_as_json(ending.curve)}


def _as_text(
    run: Run, prepared: Prepared, play: VerifiedPlay | None, ending: SaturatedPlay | None
) -> str:
    """Return the summary of a run, what judges said, and what it went on for."""
    parts = [summary(run)]
    if play is not None:
        parts.append(verification_tables(run.folder))
    if (standing := _quota_of(run.folder, play)) is not None:
        parts.append("\n" + quota_as_text(standing))
    if ending is not None and ending.curve is not None:
        parts.append("\n" + saturation_as_text(ending.curve, ending.share, prepared.recipe.vary))
    return "\n".join(parts)


def _quota_of(folder: Path, play: VerifiedPlay | None) -> QuotaStanding | None:
    """Return how a run stands to its quota; None where it was played without."""
    return quota_standing(folder) if play is not None and play.quota is not None else None


def _announce(planned: PlanEstimate) -> None:
    """Say what a run will take that costs something, or may; and what of a quota is out of reach."""
    if planned.quota is not None and (lost := planned.quota.standing.of_state("out of reach")):
        listed = "\n".join(f"  {cell.tally.cell.name}: {cell.why}" for cell in lost)
        say(f"cells of the quota that are out of reach and not tried:\n{listed}")
    if planned.cost_usd is None or planned.cost_usd > 0:
        # the run itself says what is unmet, and its models are chosen
        say(plan_as_text(replace(planned, unmet=(), accepted=None)))
        say("")


def print_plan(
    prepared: Prepared,
    folder: Path,
    play: VerifiedPlay | None,
    output_format: Format,
    *,
    retry_failed: bool,
) -> None:
    """Say what generating into a folder would take."""
    for remark in prepared.remarks:
        say(remark)
    planned = estimate_plan(prepared, folder, play=play, retry_failed=retry_failed)
    if output_format is Format.JSON:
        write_json(plan_as_json(planned))
    else:
        write_text(plan_as_text(planned))


def check_pilot(until: Until, *, dry_run: bool) -> None:
    """Refuse a pilot that is not asked for as a forecast, or of what cannot be forecast."""
    if not dry_run:
        raise UsageError("--pilot makes a forecast and keeps nothing", "give --dry-run, too")
    if until.quota is not None or until.saturated is not None:
        option = "--quota" if until.quota is not None else "--until-saturated"
        raise UsageError(
            f"--pilot forecasts a plan, and {option} has none: what is played next depends on what came",
            "play a part into a run with -n; --dry-run of the same command then estimates from it",
        )


def forecast(
    recipe: Recipe,
    overrides: VerificationOverrides,
    output_format: Format,
    *,
    cases: int,
    accepted: int | None,
) -> int:
    """Play some cases, keep nothing, and forecast yield and cost of the plan."""
    if recipe.shard is not None:
        raise UsageError("--pilot makes a forecast of the whole plan", "leave --shard out")
    piloted = asyncio.run(run_pilot(prepare(recipe), overrides, cases=cases, accepted=accepted))
    if output_format is Format.JSON:
        write_json(pilot_as_json(piloted))
    else:
        write_text(pilot_as_text(piloted))
    return ExitCode.DONE


def show_preview(recipe: Recipe, n: int, output_format: Format) -> int:
    """Play and print; failures go to standard error."""
    shown = preview_cases(recipe, n)
    if output_format is Format.JSON:
        write_json(
            [dialogue_as_json(p.dialogue, p.arm.fields(), trace=True) for p in shown if p.dialogue]
        )
    for played in shown:
        if played.dialogue is None:
            say(f"{played.case.scenario}, {played.case.goal}: failed: {played.error}")
        elif output_format is Format.TEXT:
            heading = Heading("-", played.arm.label, played.scenario)
            print(render(played.dialogue, heading, trace=True), end="\n\n")
    return ExitCode.DONE if all(p.dialogue for p in shown) else ExitCode.FAILED_CASES
