"""What ``hipo generate`` plays and does not keep: a preview, and the pilot of a forecast."""

from __future__ import annotations

import asyncio

from hipo.app.generation.pilot import run_pilot
from hipo.app.generation.preview import prepare_preview, preview_prepared
from hipo.app.options.recipe import OPTION_OF, RecipeChanges
from hipo.app.options.unused import check_used_in_plan
from hipo.app.options.verification import VerificationOverrides
from hipo.app.preparation.prepared import Prepared, prepare
from hipo.cli.generate.until import Until
from hipo.cli.reports.estimate import pilot_as_json, pilot_as_text
from hipo.cli.reports.run import say_spent
from hipo.cli.show.dialogue_json import dialogue_as_json
from hipo.cli.show.dialogue_view import Heading, render
from hipo.cli.terminal.console import Format, others_apart, write_json
from hipo.cli.terminal.errors import ExitCode, ended, say
from hipo.cli.terminal.progress import watcher
from hipo.cli.terminal.wrapping import write_text
from pipeline.recipes.recipe import Recipe
from pipeline.store.queries.charges import Charges
from scenarios.errors import UsageError
from scenarios.plural import plural


def forecast(
    recipe: Recipe,
    overrides: VerificationOverrides,
    output_format: Format,
    *,
    given: RecipeChanges,
    cases: int,
    until: Until,
    quiet: bool,
) -> int:
    """Play some cases, keep nothing, and forecast yield and cost of the plan.

    A plan of fewer cases is played as a whole, and no more of it is paid for.
    """
    if recipe.shard is not None:
        raise UsageError("--pilot makes a forecast of the whole plan", "leave --shard out")
    prepared = prepare(recipe)
    _check_used(given, prepared)
    if until.accepted is None and cases > len(prepared.plan):
        cases = len(prepared.plan)
        say(f"the pilot plays the whole plan, which has no more than {plural(cases, 'case')}")
    with others_apart():
        piloted = asyncio.run(
            run_pilot(
                prepared,
                overrides,
                cases=cases,
                accepted=until.accepted,
                watcher=watcher(quiet=quiet, name="pilot"),
                cut_off=_silent if quiet else say_spent,
            )
        )
    if output_format == "json":
        write_json(pilot_as_json(piloted))
    else:
        write_text(pilot_as_text(piloted))
    return ExitCode.DONE


def show_preview(
    recipe: Recipe, given: RecipeChanges, n: int, output_format: Format, *, quiet: bool
) -> int:
    """Play and print; failures, and where a slow one stands, go to standard error."""
    with others_apart():
        prepared = prepare_preview(recipe, n)
        _check_used(given, prepared)
        watching = watcher(quiet=quiet, name="preview")
        tell = _silent if quiet else say_spent
        shown = asyncio.run(preview_prepared(prepared, watching, tell))
    if output_format == "json":
        write_json(
            [
                dialogue_as_json(p.dialogue, p.arm.fields(), trace=True)
                for p in shown.played
                if p.dialogue
            ]
        )
    for played in shown.played:
        if played.dialogue is None:
            say(f"{played.case.scenario}, {played.case.goal}: failed: {played.error}")
        elif output_format == "text":
            heading = Heading("", played.arm.label, played.scenario)
            print(render(played.dialogue, heading, trace=True), end="\n\n")
    tell(shown.charges)
    return ended(shown.outcome, failed=any(p.dialogue is None for p in shown.played))


def _silent(_: Charges) -> None:
    """Tell nobody what was paid, as ``--quiet`` wants it."""


def _check_used(given: RecipeChanges, prepared: Prepared) -> None:
    """Raise where an option that was given changes nothing of what is played for a look."""
    check_used_in_plan(given, OPTION_OF, prepared.scenarios.values(), prepared.uses.values())
