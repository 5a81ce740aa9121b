"""``hipo generate``: from scenarios to labelled dialogues."""

from __future__ import annotations

from pathlib import Path

import typer

from hipo.app.option_groups import OptionGroup
from hipo.app.recipe_options import RecipeChanges, overridden
from hipo.app.run_folders import RUNS
from hipo.app.verification_overrides import VerificationOverrides
from hipo.cli.console import Format, hush
from hipo.cli.errors import ExitCode
from hipo.cli.generate_until import Until, with_until
from hipo.cli.main import command_app
from hipo.cli.options import with_recipe_options, with_status_file, with_verification_options
from hipo.cli.plain_options import DRY_RUN, QUIET, ResumeChoice
from hipo.cli.progress import watcher
from hipo.cli.status_file import StatusFile
from hipo.cli.worker_options import Workers, with_workers
from pipeline.recipe import Recipe
from pipeline.recipe_source import load_recipe

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
    from hipo.app.resumption import prepare_for  # noqa: PLC0415 - most of hipo: help does without
    from hipo.cli import generate_run as doing  # noqa: PLC0415 - as above

    hush()
    resolved = overridden(
        load_recipe(recipe, given["plugins"] or ()) if recipe else Recipe(), given
    )
    until.check()
    if pilot is not None:
        doing.check_pilot(until, dry_run=dry_run)
        return doing.forecast(
            resolved, overrides, output_format, cases=pilot, accepted=until.accepted
        )
    if preview and not dry_run:
        return doing.show_preview(resolved, preview, output_format)
    folder = output or RUNS / resolved.name
    prepared = prepare_for(folder, doing.first_part(until, resolved), resume.value)
    play = doing.verified_play(until, resolved, overrides, verify=verify)
    prepared, play, ending = doing.planned_towards(until, prepared, folder, overrides, play)
    if dry_run:
        doing.print_plan(prepared, folder, play, output_format, retry_failed=retry_failed)
        return ExitCode.DONE
    return doing.run_prepared(
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
