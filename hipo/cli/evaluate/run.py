"""``hipo evaluate SET|RUN|gold``: ask models for labels, and score what they say."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import typer

from hipo.app.evaluation.estimates import estimate_evaluation
from hipo.app.evaluation.evaluate import evaluate_async
from hipo.app.evaluation.plan import plan_evaluation
from hipo.app.evaluation.settings import EvaluationSettings
from hipo.app.options.groups import OptionGroup
from hipo.app.options.recipe import RecipeChanges, overridden
from hipo.app.options.values import Resume, split
from hipo.cli.evaluate.report import (
    estimate_as_json,
    estimate_as_text,
    evaluated_as_json,
    evaluated_as_text,
)
from hipo.cli.main import command_app
from hipo.cli.options.plain import DRY_RUN, JSON_SHAPES, QUIET, with_group
from hipo.cli.options.shared import with_recipe_options, with_status_file
from hipo.cli.terminal.console import Format, hush, others_apart, write_json
from hipo.cli.terminal.errors import ExitCode, ended
from hipo.cli.terminal.progress import watcher
from hipo.cli.terminal.status_file import StatusFile
from hipo.cli.terminal.wrapping import write_text
from pipeline.recipes.recipe import Recipe

app = command_app()
Chosen = dict[str, Any]


def _asked(
    *,
    task: list[str] = typer.Option(
        [], "--task", metavar="TASK", show_default=False,
        help="A task by its name (hipo-utterance, hipo-cumulative, hipo-conversation, hipo-swap, "
        "hipo-oracle, ...) or its file; repeatable.",
    ),
    model: list[str] = typer.Option(
        [], "-m", "--model", rich_help_panel=OptionGroup.MODELS, metavar="MODEL", show_default=False,
        help="provider/name; repeatable; see: hipo models.",
    ),
    mode: list[str] = typer.Option(
        [], "--mode", metavar="MODE", show_default=False,
        help="zero-shot, cot, icl, two-phase; repeatable; default the first of each task.",
    ),
    examples: Path | None = typer.Option(
        None, "--examples", hidden=True, help="Worked examples for --mode icl; default those that ship."
    ),
    scheme: str | None = typer.Option(
        None, "--scheme", hidden=True, help="Of a set that carries none and whose manifest names none that ships: an id or a file."
    ),
    take_any: bool = typer.Option(False, "--any", help="Of a run, every dialogue, accepted or not."),
    items: str | None = typer.Option(
        None, "--items", hidden=True, metavar="FILE|RUN", show_default=False,
        help="Ask about these items alone: ids in a file (results.jsonl will do), or what people are "
        "asked in the quiz of a run (RUN or RUN:STUDY).",
    ),
    n: int | None = typer.Option(
        None, "-n", "--count", min=1, help="Items per task, drawn evenly over classes; default all."),
    balance: str | None = typer.Option(
        None, "--balance", metavar="DIM",
        help="The dimension over whose classes -n draws; default the goal, if items have one.",
    ),
    seed: int = typer.Option(0, "--seed", min=0, help="Of -n, of worked examples, of models."),
    repeat: int = typer.Option(
        1, "--repeat", hidden=True, min=1, metavar="N",
        help="Ask about up to 100 items N times, to see how often answers change.",
    ),
    temperature: float | None = typer.Option(
        None, "--temperature", rich_help_panel=OptionGroup.MODELS, hidden=True, help="Default 0, where the model takes it.", show_default=False
    ),
    keep_going: bool = typer.Option(
        False, "--keep-going", hidden=True, help="Ask on though nothing that a model says can be read."),
) -> Chosen:  # fmt: skip
    return {
        "tasks": split(task),
        "models": split(model),
        "modes": split(mode),
        "examples": examples,
        "scheme": scheme,
        "any_verdict": take_any,
        "only": items,
        "n": n,
        "balance": balance,
        "seed": seed,
        "repeat": repeat,
        "temperature": temperature,
        "keep_going": keep_going,
    }


@app.command("run")
@with_group("asked", _asked, heading=OptionGroup.TASKS)
@with_recipe_options(
    "models.default.base_url",
    "models.default.api_key_env",
    "models.default.max_tokens",
    "models.default.structured",
    "prompt_dir",
    "plugins",
    "prices",
    "budget_usd",
    "budget_tokens",
    "limits.max_concurrency",
    "limits.batch",
    "limits.max_requests_per_minute",
    "limits.max_tokens_per_minute",
    "limits.timeout_s",
    "limits.wait_for_endpoint",
)
@with_status_file
def run(
    *,
    source: str = typer.Argument(
        ..., metavar="SET|RUN|gold", help="An exported set, a run, or the gold lines."
    ),
    output: Path = typer.Option(..., "-o", "--output", help="Folder of the evaluation."),
    asked: Chosen,
    given: RecipeChanges,
    resume: Resume = typer.Option(
        "if-possible",
        "--resume",
        hidden=True,
        help="An evaluation that is there: refuse it, continue it if it asks the same, or continue "
        "it in any case, ask anew what differs, and record the change.",
    ),
    retry_failed: bool = typer.Option(
        False, "--retry-failed", help="Ask again where no answer came."
    ),
    no_page: bool = typer.Option(
        False,
        "--no-page",
        hidden=True,
        help="Write rows alone; hipo evaluate report makes a page of them.",
    ),
    dry_run: bool = DRY_RUN,
    output_format: Format = JSON_SHAPES,
    quiet: bool = QUIET,
    status: StatusFile,
) -> int:
    """Ask models for the labels of items, and go on where that stopped before.

    Every answer is stored before it counts, and nothing is paid twice. What cannot be read is
    wrong, and is counted apart; where no answer came nothing is scored. Interrupt once to stop
    after the calls in flight.
    """
    hush()
    settings = settings_of(source, asked, given, retry_failed=retry_failed)
    if dry_run:
        return _dry_run(settings, output, resume, output_format)
    with others_apart():
        done = asyncio.run(
            evaluate_async(
                settings,
                output,
                resume=resume,
                page=not no_page,
                watcher=status.watched(watcher(quiet=quiet, name=output.name)),
                signals=True,
            )
        )
    if output_format == "json":
        write_json(evaluated_as_json(done))
    elif not quiet:
        write_text(evaluated_as_text(done))
    return ended(done.outcome, failed=done.counts.get("failed"))


def _dry_run(
    settings: EvaluationSettings, output: Path, resume: Resume, output_format: Format
) -> ExitCode:
    """Tell what would be asked and what it costs."""
    with others_apart():
        ready = plan_evaluation(settings)
        estimate = estimate_evaluation(ready, output, resume=resume)
    if output_format == "json":
        write_json(estimate_as_json(estimate))
    else:
        write_text(estimate_as_text(estimate, ready))
    return ExitCode.DONE


def settings_of(
    source: str, asked: Chosen, given: RecipeChanges, *, retry_failed: bool
) -> EvaluationSettings:
    """Return what the command line asks for.

    Raises:
        UsageError: a value is not allowed; names the option.
    """
    recipe = overridden(Recipe(), given)
    default = recipe.models.default
    return EvaluationSettings(
        source=source,
        **asked,
        base_url=default.base_url,
        api_key_env=default.api_key_env,
        max_tokens=default.max_tokens,
        structured=default.structured,
        limits=recipe.limits,
        budget_usd=recipe.budget_usd,
        budget_tokens=recipe.budget_tokens,
        prices=recipe.prices,
        prompt_dir=recipe.prompt_dir,
        plugins=recipe.plugins,
        retry_failed=retry_failed,
    )
