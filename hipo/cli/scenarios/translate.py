"""``hipo scenarios translate``: have a model put scenarios into another language."""

from __future__ import annotations

import asyncio
from pathlib import Path

import typer

from hipo.app.options.recipe import RecipeChanges, overridden
from hipo.app.options.values import split
from hipo.app.translating import (
    ReadyTranslation,
    Translated,
    TranslationSettings,
    estimate_translation,
    plan_translation,
    translate_async,
)
from hipo.cli.main import command_app
from hipo.cli.options.plain import DRY_RUN, JSON_SHAPES, QUIET
from hipo.cli.options.shared import with_recipe_options
from hipo.cli.reports.run import charges_in_words, spending_as_json
from hipo.cli.terminal.console import (
    Format,
    dollars,
    hush,
    number,
    others_apart,
    plain,
    reasons,
    write_json,
)
from hipo.cli.terminal.errors import ExitCode, ended
from hipo.cli.terminal.progress import watcher
from pipeline.recipes.recipe import Recipe
from scenarios.plural import plural

app = command_app()
_NOTE = (
    "tokens are estimated at 4 bytes each, and translations at 1.5 times their originals; an answer "
    "that cannot be used is asked for again, at most twice"
)


@app.command("translate")
@with_recipe_options(
    "scenario_dirs",
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
    "limits.max_requests_per_minute",
    "limits.max_tokens_per_minute",
    "limits.timeout_s",
    "limits.wait_for_endpoint",
)
def translate(
    *,
    scenarios: list[str] | None = typer.Argument(
        None,
        metavar="[SCENARIO]...",
        help="Ids, categories, globs or tag:...; none: all of --scenario-dir.",
        show_default=False,
    ),
    scheme: str | None = typer.Option(
        None, "--scheme", help="Only those of this label scheme, an id or a file."
    ),
    language: str = typer.Option(
        ..., "--language", metavar="CODE", help="The language to put them into, e.g. zh or de."
    ),
    model: str = typer.Option(
        ..., "-m", "--model", metavar="MODEL", help="provider/name; see: hipo models."
    ),
    output: Path = typer.Option(
        ..., "-o", "--output", help="Folder of the wordings; files in it are never overwritten."
    ),
    given: RecipeChanges,
    retry_failed: bool = typer.Option(
        False, "--retry-failed", help="Ask again for scenarios that failed before."
    ),
    dry_run: bool = DRY_RUN,
    output_format: Format = JSON_SHAPES,
    quiet: bool = QUIET,
) -> int:
    """Write the texts of scenarios in another language, each beside its original, for people to mend.

    A run uses a file (hipo generate --language CODE --wordings FOLDER) once somebody has read it and
    put a name after "reviewed", or with --unreviewed. What was paid is stored: the same command goes
    on, and pays nothing twice.
    """
    hush()
    settings = TranslationSettings(
        model=model,
        language=language,
        scenarios=split(scenarios or []),
        scheme=scheme,
        recipe=overridden(Recipe(), given),
        retry_failed=retry_failed,
    )
    ready = plan_translation(settings, output)
    if dry_run:
        return _dry_run(ready, output_format)
    with others_apart():
        done = asyncio.run(translate_async(ready, watcher=watcher(quiet=quiet)))
    if output_format == "json":
        write_json(translated_as_json(done))
    elif not quiet:
        print(_as_text(done))
    outcome = done.outcome
    return ended(outcome, failed=outcome.failed)


def _dry_run(ready: ReadyTranslation, output_format: Format) -> ExitCode:
    """Tell what would be asked and what it costs."""
    estimate = estimate_translation(ready)
    if output_format == "json":
        fields = "scenarios present texts prompt_tokens completion_tokens cost_usd repaired_usd"
        write_json(plain(estimate, fields, note=_NOTE))
        return ExitCode.DONE
    for note in ready.notes:
        print(note)
    print(
        f"{plural(estimate.scenarios, 'scenario')} into {ready.settings.language},"
        f" {plural(estimate.texts, 'text')}; {number(estimate.present)} there already"
    )
    print(
        f"{plural(estimate.scenarios, 'call')} to {ready.use.spec.name},"
        f" {number(estimate.prompt_tokens)} prompt tokens,"
        f" {number(estimate.completion_tokens)} answer tokens, {dollars(estimate.cost_usd)};"
        f" where every answer has to be asked for twice more {dollars(estimate.repaired_usd)}"
    )
    print(f"\n({_NOTE})")
    return ExitCode.DONE


def translated_as_json(done: Translated) -> dict[str, object]:
    """Return what ``hipo scenarios translate --format json`` prints.

    ``folder``; ``files``: paths of the wordings written just now; ``present``: files that were there
    and stayed as they are; ``failed``: count by reason code; ``reasons``: why, a line for each;
    ``stopped``: why it ended early, or None; ``stop_code``; ``calls``: requests just sent;
    ``cost_usd``: over the life of the folder, None where no price is known; ``unpriced_calls`` (not
    in it) and ``charged``, what counts against a budget: as in ``hipo runs show``.
    """
    return {
        "folder": str(done.folder),
        "files": [str(path) for path in done.files],
        "present": done.present,
        "failed": dict(done.outcome.failed),
        "reasons": list(done.reasons),
        "stopped": done.outcome.stopped,
        "stop_code": done.outcome.stop_code,
        "calls": done.calls,
        **spending_as_json(done.charges),
    }


def _as_text(done: Translated) -> str:
    outcome = done.outcome
    failed = sum(outcome.failed.values())
    lines = [
        (
            f"{number(len(done.files))} translated, {number(failed)} failed,"
            f" {number(done.present)} there already; {plural(done.calls, 'call')},"
            f" {charges_in_words(done.charges)} in all"
        ),
        *(f"  {path}" for path in done.files),
    ]
    if failed:
        lines += [f"failed: {reasons(outcome.failed)}", *(f"  {why}" for why in done.reasons)]
    if outcome.present and not done.files:
        lines.append(
            f"{plural(outcome.present, 'scenario')} failed before; --retry-failed asks again"
        )
    if done.files:
        lines.append("next: read each text beside its original, and put your name after reviewed")
    return "\n".join(lines)
