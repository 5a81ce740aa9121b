"""``hipo study``: strategies and models over the same cases, judged and compared."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import typer

from hipo.app.estimates.playing import total_cost
from hipo.app.options.recipe import RecipeChanges
from hipo.app.options.values import split
from hipo.app.options.verification import VerificationOverrides
from hipo.app.study import StudyOutcome, StudyPlan, plan_study, play_study
from hipo.cli.main import command_app
from hipo.cli.options.plain import DRY_RUN, JSON_SHAPES, QUIET
from hipo.cli.options.shared import (
    RECIPE,
    with_recipe_options,
    with_status_file,
    with_verification_options,
)
from hipo.cli.reports.estimate import plan_as_json, plan_as_text
from hipo.cli.terminal.console import (
    Format,
    columns,
    dollars,
    hush,
    number,
    others_apart,
    reasons,
    write_json,
)
from hipo.cli.terminal.errors import ExitCode, ended
from hipo.cli.terminal.progress import watcher
from hipo.cli.terminal.status_file import StatusFile
from hipo.cli.terminal.wrapping import write_text
from outputs.report.wording import bill
from outputs.study.outcome import seats
from outputs.study.page import study_table
from outputs.study.study import study_as_json
from pipeline.recipes.recipe import Recipe
from pipeline.recipes.source import load_recipe
from scenarios.plural import plural

app = command_app()


@app.command("study")
@with_recipe_options(taken=("-m",))
@with_verification_options
@with_status_file
def study(
    *,
    recipe: str | None = RECIPE,
    models: list[str] | None = typer.Option(
        None,
        "-m",
        "--models",
        metavar="MODEL,...",
        help="Models to compare, as provider/name; default the recipe's.",
        show_default=False,
    ),
    output: Path | None = typer.Option(
        None, "-o", "--output", help="Folder; default ./runs/<name of the recipe>-study."
    ),
    dry_run: bool = DRY_RUN,
    output_format: Format = JSON_SHAPES,
    quiet: bool = QUIET,
    status: StatusFile,
    overrides: VerificationOverrides,
    given: RecipeChanges,
) -> int:
    """Let every strategy and model play the same cases, judge them, and say which labels hold.

    Each model has a run of its own in the folder, with all three strategies unless the recipe names
    several or --strategy some. The same command goes on where it stopped, and finds everything there the next time.
    A budget is for the whole study. Writes study.html, study.json and the plots.
    """
    hush()
    overrides.check_used()
    with others_apart():
        plan = plan_study(
            load_recipe(recipe, given["plugins"] or ()) if recipe else Recipe(),
            models=list(dict.fromkeys(split(models or []))),
            output=output,
            overrides=overrides,
            given=given,
        )
    if dry_run:
        return _dry_run(plan, output_format)
    watching = status.watched(watcher(quiet=quiet))
    with others_apart():
        outcome = asyncio.run(play_study(plan, watcher=watching, signals=True))
    if output_format == "json":
        write_json(study_as_json(outcome.result))
    elif not quiet:
        write_text(study_as_text(outcome))
    failed = outcome.unjudged or any(effort.failed for effort in outcome.result.efforts)
    return ended(outcome, failed=failed)


def study_as_text(outcome: StudyOutcome) -> str:
    """Return a study the way ``hipo study`` prints it."""
    result, lines = outcome.result, []
    if not outcome.calls:
        lines.append("0 calls, nothing to do: everything was there already")
    lines.append(
        f"{plural(result.cases, 'case')} in {plural(result.scenarios, 'scenario')}, played by "
        "every strategy and model"
    )
    if result.left_out:
        lines.append(f"{plural(result.left_out, 'case')} left out: not everyone has them")
    for source, _ in seats(result):
        lines += ["", columns(*study_table(result, source))]
    lines.append("")
    for effort in result.efforts:
        lines.append(
            f"{effort.model}: {plural(effort.generated, 'dialogue')}, {number(effort.failed)} "
            f"failed, {plural(effort.calls, 'call')}, {number(effort.tokens)} tokens, "
            + bill(effort.cost_usd, effort.unpriced_calls, effort.bound_usd)
        )
    if outcome.unjudged:
        lines.append(f"not judged: {reasons(outcome.unjudged)}; the same command tries them again")
    lines += ["", f"page: {outcome.page}", f"data: {outcome.data}"]
    return "\n".join(lines)


def _dry_run(plan: StudyPlan, output_format: Format) -> int:
    """Say what playing and judging every leg would take."""
    estimates = plan.estimates()
    if output_format == "json":
        write_json([plan_as_json(one) for one in estimates])
        return ExitCode.DONE
    for leg, one in zip(plan.legs, estimates, strict=True):
        print(f"{leg.model}:\n\n{plan_as_text(replace(one, accepted=None))}", end="\n\n")
    print(f"the whole study: {dollars(total_cost(one.cost_usd for one in estimates))}")
    return ExitCode.DONE
