"""``hipo verify``: judges and rules go through a run, and a policy decides."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import typer

from hipo.app.judge_estimates import JudgingEstimate, estimate_judging
from hipo.app.jury import JuryRequest, estimate_jury
from hipo.app.recipe_options import RecipeChanges
from hipo.app.run_folders import find_run
from hipo.app.verification import VerificationOverrides, make_ready, verify_async
from hipo.app.watching import Watcher
from hipo.cli.console import Format, hush, write_json
from hipo.cli.errors import ExitCode, StoppedEarly
from hipo.cli.estimate_report import judging_as_json, judging_as_text
from hipo.cli.main import RUN, command_app
from hipo.cli.options import with_recipe_options, with_status_file, with_verification_options
from hipo.cli.plain_options import DRY_RUN, JSON_SHAPES, QUIET
from hipo.cli.progress import watcher
from hipo.cli.status_file import StatusFile
from hipo.cli.verify_jury import run_jury, with_jury_options
from hipo.cli.verify_report import findings_as_json, findings_as_text, read_findings
from hipo.cli.wrapping import write_text
from pipeline.store.run_store import RunStore

app = command_app()


@app.command("verify")
@with_recipe_options(
    "plugins",
    "prices",
    "prompt_dir",
    "budget_usd",
    "budget_tokens",
    "limits.max_concurrency",
    "limits.batch",
    "limits.timeout_s",
    "limits.wait_for_endpoint",
)
@with_verification_options
@with_jury_options
@with_status_file
def verify(
    *,
    run: str = RUN,
    retry_unreadable: bool = typer.Option(
        False, "--retry-unreadable", help="Ask again where an answer could not be read."
    ),
    given: RecipeChanges,
    dry_run: bool = DRY_RUN,
    output_format: Format = JSON_SHAPES,
    quiet: bool = QUIET,
    status: StatusFile,
    overrides: VerificationOverrides,
    jury: JuryRequest | None,
) -> int:
    """Judge, flag and decide on the dialogues of a run, and go on where it stopped before.

    The generator labels its own words again without seeing the labels (a round trip); so do other
    models, which also say whether each answer fits into the conversation and whether the hearer is
    misled. Rules without a model look on. What is flagged is decided on by the policy.
    """  # fmt: skip
    hush()
    folder = find_run(run)
    overrides = replace(
        overrides,
        budget_usd=given["budget_usd"],
        budget_tokens=given["budget_tokens"],
        max_concurrency=given["limits.max_concurrency"],
        timeout_s=given["limits.timeout_s"],
        wait_for_endpoint=given["limits.wait_for_endpoint"],
        batch=bool(given["limits.batch"]),
        prices=given["prices"],
        plugins=tuple(given["plugins"] or ()),
        prompt_dir=given["prompt_dir"],
    )
    if dry_run:
        return _dry_run(folder, overrides, jury, output_format, retry_unreadable=retry_unreadable)
    watching = status.watched(watcher(quiet=quiet, name=folder.name))
    if jury is not None:
        ended = run_jury(
            folder,
            jury,
            overrides,
            retry_unreadable=retry_unreadable,
            output_format=output_format,
            quiet=quiet or bool(overrides.judges),
            watching=watching,
        )
        if not overrides.judges:
            return ended
    return run_verification(
        folder,
        overrides,
        retry_unreadable=retry_unreadable,
        output_format=output_format,
        quiet=quiet,
        watching=watching,
    )


def run_verification(
    folder: Path,
    overrides: VerificationOverrides,
    *,
    retry_unreadable: bool = False,
    output_format: Format = Format.TEXT,
    quiet: bool = False,
    watching: Watcher | None = None,
) -> int:
    """Verify a run as the command line does, and return the exit code.

    Raises:
        StoppedEarly: it ended early, e.g. interrupted; it can be continued.
    """
    done = asyncio.run(
        verify_async(
            folder,
            overrides,
            watcher=watching or watcher(quiet=quiet, name=folder.name),
            retry_unreadable=retry_unreadable,
            signals=True,
        )
    )
    findings = read_findings(folder)
    if output_format is Format.JSON:
        write_json(findings_as_json(done, findings))
    elif not quiet:
        write_text(findings_as_text(done, findings))
    outcome = done.outcome
    if outcome.stopped is not None:
        raise StoppedEarly(outcome.stopped, outcome.stop_code, outcome.advice)
    return ExitCode.FAILED_CASES if outcome.failed else ExitCode.DONE


def _dry_run(
    folder: Path,
    overrides: VerificationOverrides,
    jury: JuryRequest | None,
    output_format: Format,
    *,
    retry_unreadable: bool,
) -> int:
    """Say what verification would take; with jurors what they would, beside judges if some are named."""
    with RunStore.open(folder, readonly=True) as store:
        planned = JudgingEstimate(0, ())
        if jury is not None:
            planned = estimate_jury(store, jury, overrides, retry_unreadable=retry_unreadable)
        if jury is None or overrides.judges:
            ready = make_ready(store, overrides)
            judged = estimate_judging(store, ready, retry_unreadable=retry_unreadable)
            planned = JudgingEstimate(judged.dialogues, (*judged.judges, *planned.judges))
    if output_format is Format.JSON:
        write_json(judging_as_json(planned))
    else:
        write_text(judging_as_text(planned))
    return ExitCode.DONE
