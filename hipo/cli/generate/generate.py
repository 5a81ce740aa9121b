"""``hipo generate``: from scenarios to labelled dialogues."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hipo.app.options.groups import OptionGroup
from hipo.app.options.recipe import OPTION_OF, RecipeChanges, overridden
from hipo.app.options.unused import check_used_in_plan
from hipo.app.options.values import Resume
from hipo.app.options.verification import VerificationOverrides
from hipo.app.runs.folders import RUNS
from hipo.app.workers.wanted import check_sent_at_once
from hipo.cli.generate.until import Until, with_until
from hipo.cli.main import command_app
from hipo.cli.options.plain import DRY_RUN, QUIET
from hipo.cli.options.shared import (
    RECIPE,
    with_recipe_options,
    with_status_file,
    with_verification_options,
)
from hipo.cli.options.workers import Workers, with_workers
from hipo.cli.terminal.console import Format, hush, others_apart
from hipo.cli.terminal.errors import ExitCode
from hipo.cli.terminal.progress import watcher
from hipo.cli.terminal.status_file import StatusFile
from pipeline.recipes.recipe import Recipe
from pipeline.recipes.source import load_recipe
from scenarios.errors import UsageError

if TYPE_CHECKING:
    from hipo.app.generation.saturation import SaturatedPlay
    from hipo.app.generation.verified import VerifiedPlay
    from hipo.app.preparation.prepared import Prepared

app = command_app()


_RESUME = typer.Option(
    "if-possible",
    "--resume",
    hidden=True,
    help="A run that is there: refuse it, continue it if its configuration is the same, or "
    "continue it in any case and record the change.",
)
MOST_PLAYED = 10_000
"""Dialogues of a preview or a pilot, which keeps nothing: they are in memory."""
_PREVIEW = typer.Option(
    None,
    "--preview",
    min=1,
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
    "text",
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
    resume: Resume = _RESUME,
    retry_failed: bool = typer.Option(False, "--retry-failed", help="Play failed cases again."),
    dry_run: bool = DRY_RUN,
    preview: int | None = _PREVIEW,
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
    resolved = _resolved(recipe, given)
    until.check(overrides, verify=verify or pilot is not None)
    if preview or pilot is not None:
        of_runs = {"--workers or --executor": workers, "--retry-failed": retry_failed}
        if preview:
            of_runs |= {"--verify": verify, "--shard": given["shard"], "--dry-run": dry_run}
            of_runs |= {"--pilot": pilot, **dict.fromkeys(until.given, True)}
        _check_look("--preview" if preview else "--pilot", of_runs)
        return _look(
            resolved, overrides, until, output_format, preview or pilot or 0, given=given,
            forecast=not preview, dry_run=dry_run, quiet=quiet,
        )  # fmt: skip
    if workers is not None:
        check_sent_at_once(batch=resolved.limits.batch)
    folder = output or RUNS / resolved.name
    from hipo.cli.generate.run import print_plan, run_prepared  # noqa: PLC0415 - brings most of hipo

    prepared, play, ending = _prepared(resolved, folder, resume, overrides, until, verify=verify)
    judges = [] if play is None else play.check(prepared).uses
    uses = [*prepared.uses.values(), *judges]
    check_used_in_plan(given, OPTION_OF, prepared.scenarios.values(), uses)
    if dry_run:
        print_plan(prepared, folder, play, output_format, retry_failed=retry_failed)
        return ExitCode.DONE
    return run_prepared(
        prepared, folder, play=play, ending=ending, retry_failed=retry_failed, workers=workers,
        output_format=output_format, quiet=quiet,
        watching=status.watched(watcher(quiet=quiet, name=folder.name)),
    )  # fmt: skip


def _resolved(recipe: str | None, given: RecipeChanges) -> Recipe:
    """Return the recipe that is meant, with the options laid over it."""
    with others_apart():
        loaded = load_recipe(recipe, given["plugins"] or ()) if recipe else Recipe()
        return overridden(loaded, given)


def _check_look(kind: str, others: Mapping[str, object]) -> None:
    """Raise where options were given that mean nothing when a few cases are played for a look.

    Args:
        kind: the option that asks for it.
        others: values of those options, by name; false where they were not given.

    Raises:
        UsageError: they were.
    """
    useless = [name for name, value in others.items() if value]
    if useless:
        raise UsageError(
            f"{kind} plays a few cases in this process and keeps nothing; it takes no"
            f" {', '.join(useless)}",
            f"leave {kind} out, or the others",
        )


def _look(
    recipe: Recipe,
    overrides: VerificationOverrides,
    until: Until,
    output_format: Format,
    cases: int,
    *,
    given: RecipeChanges,
    forecast: bool,
    dry_run: bool,
    quiet: bool,
) -> int:
    """Play a few cases and keep nothing: for a forecast of the plan, or to print them."""
    from hipo.cli.generate import trial  # noqa: PLC0415 - brings most of hipo

    if not forecast:
        return trial.show_preview(recipe, given, cases, output_format, quiet=quiet)
    until.check_pilot(dry_run=dry_run)
    return trial.forecast(
        recipe, overrides, output_format, given=given, cases=cases, until=until, quiet=quiet
    )


def _prepared(
    recipe: Recipe,
    folder: Path,
    resume: Resume,
    overrides: VerificationOverrides,
    until: Until,
    *,
    verify: bool,
) -> tuple[Prepared, VerifiedPlay | None, SaturatedPlay | None]:
    """Return what is planned first, how it is verified, and what ends it at saturation."""
    with others_apart():
        if verify or until.given:
            from hipo.cli.generate.towards import prepare_towards  # noqa: PLC0415 - brings judging

            return prepare_towards(until, recipe, folder, resume, overrides, verify=verify)
        from hipo.app.runs.resumption import prepare_for  # noqa: PLC0415 - brings most of hipo

        return prepare_for(folder, recipe, resume), None, None
