"""``hipo generate``: from scenarios to labelled dialogues."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import typer

from hipo.app.generation import generate_prepared
from hipo.app.option_groups import OptionGroup
from hipo.app.pilot import run_pilot
from hipo.app.plan_estimates import PlanEstimate, estimate_plan
from hipo.app.preparation import Prepared, prepare
from hipo.app.preview import preview as preview_cases
from hipo.app.quota import QuotaStanding, quota_standing
from hipo.app.recipe_options import RecipeChanges, overridden
from hipo.app.resumption import prepare_for
from hipo.app.run import Run
from hipo.app.run_folders import RUNS
from hipo.app.saturation import SaturatedPlay
from hipo.app.verification import VerificationOverrides
from hipo.app.verified_generation import VerifiedPlay
from hipo.app.watching import Watcher
from hipo.cli.console import Format, hush, write_json
from hipo.cli.dialogue_json import dialogue_as_json
from hipo.cli.dialogue_view import Heading, render
from hipo.cli.errors import ExitCode, StoppedEarly, say
from hipo.cli.estimate_report import pilot_as_json, pilot_as_text, plan_as_json, plan_as_text
from hipo.cli.generate_until import Until, with_until
from hipo.cli.main import command_app
from hipo.cli.options import with_recipe_options, with_status_file, with_verification_options
from hipo.cli.plain_options import DRY_RUN, QUIET, ResumeChoice
from hipo.cli.progress import watcher
from hipo.cli.quota_report import quota_as_json, quota_as_text
from hipo.cli.run_report import state_as_json, summary
from hipo.cli.saturation_report import saturation_as_json, saturation_as_text
from hipo.cli.status_file import StatusFile
from hipo.cli.verify_report import verification_tables
from hipo.cli.worker_options import Workers, with_workers
from hipo.cli.wrapping import write_text
from pipeline.recipe import Recipe
from pipeline.recipe_source import load_recipe
from scenarios.errors import UsageError

app = command_app()


_RESUME = typer.Option(
    ResumeChoice.IF_POSSIBLE,
    "--resume",
    hidden=True,
    help="A run that is there: refuse it, continue it if its configuration is the same, or "
    "continue it in any case and record the change.",
)
_PREVIEW = typer.Option(
    0, "--preview", min=0, metavar="N", help="Play N dialogues, print them, keep nothing."
)
_VERIFY = typer.Option(
    False,
    "--verify",
    rich_help_panel=OptionGroup.VERIFICATION,
    help="Judge and decide on each dialogue as it is finished.",
)
_FORMAT = typer.Option(
    Format.TEXT,
    "--format",
    rich_help_panel=OptionGroup.OUTPUT,
    help="json prints the estimate, the preview, or the run's state.",
)
_PILOT = typer.Option(
    None,
    "--pilot",
    min=1,
    hidden=True,
    metavar="N",
    help="With --dry-run: really play and verify N cases, "
    "keep nothing, and forecast yield and cost.",
)


@app.command("generate")
@with_recipe_options()
@with_verification_options
@with_until
@with_status_file
@with_workers
def generate(
    *,
    recipe: str | None = typer.Argument(
        None, metavar="RECIPE", help="A recipe file, or the name of a shipped one: hipo-paper."
    ),
    output: Path | None = typer.Option(
        None, "-o", "--output", help="Folder of the run; default ./runs/<name of the recipe>."
    ),
    resume: ResumeChoice = _RESUME,
    retry_failed: bool = typer.Option(False, "--retry-failed", help="Play failed cases again."),
    dry_run: bool = DRY_RUN,
    preview: int = _PREVIEW,
    verify: bool = _VERIFY,
    until: Until,
    pilot: int | None = _PILOT,
    workers: Workers,
    output_format: Format = _FORMAT,
    quiet: bool = QUIET,
    status: StatusFile,
    overrides: VerificationOverrides,
    given: RecipeChanges,
) -> int:
    """Generate labelled dialogues from scenarios, and go on where an earlier run stopped.

    Options override the recipe. The second run of a command finds everything there and sends
    nothing. Interrupt once to stop after the calls in flight; the run can be continued.
    """
    hush()
    resolved = overridden(
        load_recipe(recipe, given["plugins"] or ()) if recipe else Recipe(), given
    )
    until.check()
    if pilot is not None:
        _check_pilot(until, dry_run=dry_run)
        return _pilot(resolved, overrides, output_format, cases=pilot, accepted=until.accepted)
    if preview and not dry_run:
        return _preview(resolved, preview, output_format)
    folder = output or RUNS / resolved.name
    prepared = prepare_for(folder, until.first(resolved), resume.value)
    play = until.verified(resolved, overrides, verify=verify)
    prepared, play, ending = until.towards(prepared, folder, overrides, play)
    if dry_run:
        for remark in prepared.remarks:
            say(remark)
        planned = estimate_plan(prepared, folder, play=play, retry_failed=retry_failed)
        _print_plan(planned, output_format)
        return ExitCode.DONE
    return run_prepared(
        prepared,
        folder,
        play=play,
        ending=ending,
        retry_failed=retry_failed,
        workers=workers,
        output_format=output_format,
        quiet=quiet,
        watching=status.watched(watcher(quiet=quiet, name=folder.name)),
    )


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


def _print_plan(planned: PlanEstimate, output_format: Format) -> None:
    """Say what generating into a folder would take."""
    if output_format is Format.JSON:
        write_json(plan_as_json(planned))
    else:
        write_text(plan_as_text(planned))


def _check_pilot(until: Until, *, dry_run: bool) -> None:
    """Refuse a pilot that is not asked for as a forecast, or of what cannot be forecast."""
    if not dry_run:
        raise UsageError("--pilot makes a forecast and keeps nothing", "give --dry-run, too")
    if until.quota is not None or until.saturated is not None:
        option = "--quota" if until.quota is not None else "--until-saturated"
        raise UsageError(
            f"--pilot forecasts a plan, and {option} has none: what is played next depends on what came",
            "play a part into a run with -n; --dry-run of the same command then estimates from it",
        )


def _pilot(
    recipe: Recipe,
    overrides: VerificationOverrides,
    output_format: Format,
    *,
    cases: int,
    accepted: int | None,
) -> int:
    if recipe.shard is not None:
        raise UsageError("--pilot makes a forecast of the whole plan", "leave --shard out")
    piloted = asyncio.run(run_pilot(prepare(recipe), overrides, cases=cases, accepted=accepted))
    if output_format is Format.JSON:
        write_json(pilot_as_json(piloted))
    else:
        write_text(pilot_as_text(piloted))
    return ExitCode.DONE


def _preview(recipe: Recipe, n: int, output_format: Format) -> int:
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
