"""``hipo generate``: from scenarios to labelled dialogues."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hipo.app.option_groups import OptionGroup
from hipo.app.ray_workers import check_sent_at_once
from hipo.app.recipe_options import RecipeChanges, overridden
from hipo.app.run_folders import RUNS
from hipo.app.verification_overrides import VerificationOverrides
from hipo.cli.console import Format, hush
from hipo.cli.errors import ExitCode
from hipo.cli.generate_until import Until, with_until
from hipo.cli.main import command_app
from hipo.cli.options import (
    RECIPE,
    with_recipe_options,
    with_status_file,
    with_verification_options,
)
from hipo.cli.plain_options import DRY_RUN, QUIET, ResumeChoice
from hipo.cli.progress import watcher
from hipo.cli.status_file import StatusFile
from hipo.cli.worker_options import Workers, with_workers
from pipeline.recipe import Recipe
from pipeline.recipe_source import load_recipe

if TYPE_CHECKING:
    from hipo.app.preparation import Prepared
    from hipo.app.saturation import SaturatedPlay
    from hipo.app.verified_generation import VerifiedPlay

app = command_app()


_RESUME = typer.Option(
    ResumeChoice.IF_POSSIBLE,
    "--resume",
    hidden=True,
    help="A run that is there: refuse it, continue it if its configuration is the same, or "
    "continue it in any case and record the change.",
)
MOST_PLAYED = 10_000
"""Dialogues of a preview or a pilot, which keeps nothing: they are in memory."""
_PREVIEW = typer.Option(
    0,
    "--preview",
    min=0,
    max=MOST_PLAYED,
    metavar="N",
    help="Play N dialogues, print them, keep nothing.",
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
    max=MOST_PLAYED,
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
    recipe: str | None = RECIPE,
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
    until.check(overrides, verify=verify or pilot is not None)
    if workers is not None:
        check_sent_at_once(batch=resolved.limits.batch)
    if pilot is not None or (preview and not dry_run):
        from hipo.cli import generate_trial as trial  # noqa: PLC0415 - brings most of hipo

        if pilot is None:
            return trial.show_preview(resolved, preview, output_format, quiet=quiet)
        until.check_pilot(dry_run=dry_run)
        return trial.forecast(
            resolved, overrides, output_format, cases=pilot, until=until, quiet=quiet
        )
    folder = output or RUNS / resolved.name
    from hipo.cli.generate_run import print_plan, run_prepared  # noqa: PLC0415 - brings most of hipo

    prepared, play, ending = _prepared(resolved, folder, resume, overrides, until, verify=verify)
    if dry_run:
        print_plan(prepared, folder, play, output_format, retry_failed=retry_failed)
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


def _prepared(
    recipe: Recipe,
    folder: Path,
    resume: ResumeChoice,
    overrides: VerificationOverrides,
    until: Until,
    *,
    verify: bool,
) -> tuple[Prepared, VerifiedPlay | None, SaturatedPlay | None]:
    """Return what is planned first, how it is verified, and what ends it at saturation."""
    if verify or until.given:
        from hipo.cli.generate_towards import prepare_towards  # noqa: PLC0415 - brings judging

        return prepare_towards(until, recipe, folder, resume.value, overrides, verify=verify)
    from hipo.app.resumption import prepare_for  # noqa: PLC0415 - brings most of hipo

    return prepare_for(folder, recipe, resume.value), None, None
