"""``hipo study``: strategies and models over the same cases, judged and compared."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
import typer

from hipo.app.generation import Run, generate_async
from hipo.app.plan_estimates import estimate_plan
from hipo.app.preparation import Prepared, prepare
from hipo.app.resumption import check_resumable
from hipo.app.run_folders import RUNS, is_run
from hipo.app.verification import Wishes
from hipo.app.verified_generation import VerifiedPlay
from hipo.cli.console import Format, columns, dollars, hush, number, plural, write_json
from hipo.cli.errors import ExitCode, StoppedEarly, say
from hipo.cli.estimate_report import plan_as_json, plan_as_text
from hipo.cli.options import DRY_RUN, Given, overridden, split, with_recipe_options
from hipo.cli.progress import watcher
from hipo.cli.verify_options import with_verification_options
from outputs.export import code_version
from outputs.study import SOURCES, StudyResult, read_study, study_as_json
from outputs.study_page import study_files, study_page, study_table
from pipeline.arms import STRATEGIES
from pipeline.recipe import Recipe
from pipeline.recipe_source import load_recipe
from pipeline.store.run_store import RunStore
from scenarios.atomic_files import write_text
from scenarios.errors import UsageError
from scenarios.fingerprint import content_id

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

PAGE, DATA = "study.html", "study.json"


@dataclass(frozen=True, slots=True)
class Leg:
    """The part of a study that one model plays: a run of its own."""

    model: str
    recipe: Recipe
    folder: Path


@app.command("study")
@with_recipe_options()
@with_verification_options
def study(
    *,
    recipe: str | None = typer.Argument(
        None, metavar="[RECIPE]", help="A recipe file, or the name of a shipped one: hipo-paper."
    ),
    models: list[str] | None = typer.Option(
        None,
        "--models",
        metavar="MODEL,...",
        help="Models to compare, as provider/name; default the recipe's.",
        show_default=False,
    ),
    output: Path | None = typer.Option(
        None, "-o", "--output", help="Folder; default ./runs/<name of the recipe>-study."
    ),
    dry_run: bool = DRY_RUN,
    output_format: Format = typer.Option(
        Format.TEXT, "--format", help="json: see outputs.study.study_as_json."
    ),
    quiet: bool = typer.Option(False, "-q", "--quiet", help="No progress, no table."),
    wishes: Wishes,
    given: Given,
) -> int:
    """Let every strategy and model play the same cases, judge them, and say which labels hold.

    Each model has a run of its own in the folder, with all three strategies unless --strategy names
    some. The same command goes on where it stopped, and finds everything there the next time.
    A budget is for the whole study. Writes study.html, study.json and the plots.
    """
    hush()
    resolved = overridden(load_recipe(recipe) if recipe else Recipe(), given)
    if not given.get("strategies"):
        resolved = resolved.with_changes({"strategies": list(STRATEGIES)})
    folder = output or RUNS / f"{resolved.name}-study"
    legs = _legs(resolved, given, split(models or []), folder)
    play = VerifiedPlay(wishes)
    prepared = _checked(legs, play)
    if dry_run:
        return _dry_run(legs, prepared, play, output_format)
    calls, stopped = asyncio.run(_play(legs, play, quiet=quiet))
    result = read_study([leg.folder for leg in legs if is_run(leg.folder)])
    write_study(result, folder)
    if output_format is Format.JSON:
        write_json(study_as_json(result))
    elif not quiet:
        print(study_as_text(result, folder, calls))
    if stopped is not None:
        raise StoppedEarly(f"{stopped}\n  go on with the same command")
    failed = any(effort.failed for effort in result.efforts)
    return ExitCode.FAILED_CASES if failed else ExitCode.DONE


def _legs(recipe: Recipe, given: Given, models: Sequence[str], folder: Path) -> list[Leg]:
    """Return one leg per model.

    Raises:
        UsageError: the folder holds a run, or no model is named.
    """
    if is_run(folder):
        raise UsageError(
            f"{folder} is a run, not a study", "choose another folder with -o for the study"
        )
    named = list(dict.fromkeys(models))
    if not named:
        model = recipe.models.role("responder").model
        if model is None:
            raise UsageError(
                "no model is named", "give --models provider/name,provider/name; see: hipo models"
            )
        return [Leg(model, recipe, folder / _slug(model, [model]))]
    only_model: Mapping[str, object] = {
        field: value for field, value in given.items() if field.startswith("models.default.")
    }
    return [
        Leg(
            name,
            overridden(recipe, {**only_model, "models.default.model": name}),
            folder / _slug(name, named),
        )
        for name in named
    ]


def _slug(model: str, models: Sequence[str]) -> str:
    """Return a folder name for a model, with a hash where two would have the same."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", model)
    same = [m for m in models if re.sub(r"[^A-Za-z0-9._-]+", "_", m).lower() == plain.lower()]
    return plain if len(same) == 1 else f"{plain}-{content_id(model)[:6]}"


def _checked(legs: Sequence[Leg], play: VerifiedPlay) -> list[Prepared]:
    """Check every leg before anything is sent.

    Raises:
        UsageError: something does not exist or does not fit together.
    """
    prepared = []
    for leg in legs:
        ready = prepare(leg.recipe)
        play.check(ready)
        check_resumable(leg.folder, ready, "if-possible")
        prepared.append(ready)
    return prepared


async def _play(legs: Sequence[Leg], play: VerifiedPlay, *, quiet: bool) -> tuple[int, str | None]:
    """Generate and verify every leg; return the calls that were sent, and why it stopped if so."""
    calls = 0
    for leg in legs:
        recipe = _within(leg, legs)
        if recipe is None:
            return calls, f"the budget of the study is spent before {leg.model} has played"
        if not quiet:
            say(f"{leg.model}: {', '.join(recipe.strategies)} ...")
        run: Run = await generate_async(
            recipe, output=leg.folder, watcher=watcher(quiet=quiet), signals=True, play=play
        )
        calls += run.calls
        if run.outcome is not None and run.outcome.stopped is not None:
            return calls, run.outcome.stopped
    return calls, None


def _within(leg: Leg, legs: Sequence[Leg]) -> Recipe | None:
    """Return the recipe of a leg with what the others have left of the budget; None if nothing."""
    usd, tokens = 0.0, 0
    for other in legs:
        if other is not leg and is_run(other.folder):
            with RunStore.open(other.folder, readonly=True) as store:
                spent = store.spent()
            usd, tokens = usd + spent[0], tokens + spent[1]
    changes: dict[str, object] = {}
    if leg.recipe.budget_usd is not None:
        changes["budget_usd"] = leg.recipe.budget_usd - usd
    if leg.recipe.budget_tokens is not None:
        changes["budget_tokens"] = leg.recipe.budget_tokens - tokens
    if any(float(str(left)) <= 0 for left in changes.values()):
        return None
    return leg.recipe.with_changes(changes)


def write_study(result: StudyResult, folder: Path) -> None:
    """Write the page, the data and the plots of a study into its folder."""
    title = f"{folder.resolve().name}: strategies and models"
    write_text(folder / PAGE, study_page(result, title=title, version=code_version()))
    data = orjson.dumps(study_as_json(result), option=orjson.OPT_INDENT_2).decode()
    write_text(folder / DATA, data + "\n")
    for name, svg in study_files(result).items():
        write_text(folder / name, svg)


def study_as_text(result: StudyResult, folder: Path, calls: int) -> str:
    """Return a study the way ``hipo study`` prints it."""
    lines = []
    if not calls:
        lines.append("0 calls, nothing to do: everything was there already")
    lines.append(
        f"{plural(result.cases, 'case')} in {plural(result.scenarios, 'scenario')}, played by "
        "every strategy and model"
    )
    if result.left_out:
        lines.append(f"{plural(result.left_out, 'case')} left out: not everyone has them")
    for source in SOURCES:
        if result.dimensions(source):
            lines += ["", columns(*study_table(result, [source]))]
    lines.append("")
    for effort in result.efforts:
        unknown = f", {plural(effort.unpriced_calls, 'call')} of unknown cost"
        lines.append(
            f"{effort.model}: {plural(effort.generated, 'dialogue')}, {number(effort.failed)} "
            f"failed, {plural(effort.calls, 'call')}, {number(effort.tokens)} tokens, "
            f"{dollars(effort.cost_usd)}{unknown if effort.unpriced_calls else ''}"
        )
    lines += ["", f"page: {folder / PAGE}", f"data: {folder / DATA}"]
    return "\n".join(lines)


def _dry_run(
    legs: Sequence[Leg], prepared: Sequence[Prepared], play: VerifiedPlay, output_format: Format
) -> int:
    """Say what playing and judging every leg would take."""
    estimates = [
        estimate_plan(ready, leg.folder, play=play)
        for leg, ready in zip(legs, prepared, strict=True)
    ]
    if output_format is Format.JSON:
        write_json([plan_as_json(one) for one in estimates])
        return ExitCode.DONE
    for leg, one in zip(legs, estimates, strict=True):
        print(f"{leg.model}:\n\n{plan_as_text(one)}", end="\n\n")
    costs = [one.cost_usd for one in estimates]
    total = None if None in costs else sum(cost for cost in costs if cost is not None)
    print(f"the whole study: {dollars(total)}")
    return ExitCode.DONE
