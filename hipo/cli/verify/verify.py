"""``hipo verify``: judges and rules go through a run, and a policy decides."""

from __future__ import annotations

from dataclasses import replace

import typer

from hipo.app.options.groups import OptionGroup
from hipo.app.options.recipe import RecipeChanges
from hipo.app.options.verification import VerificationOverrides
from hipo.app.runs.folders import find_run
from hipo.app.verification.jury_request import JUROR_SCHEME, JUROR_TASK, JuryRequest
from hipo.cli.main import RUN, command_app
from hipo.cli.options.plain import DRY_RUN, JSON_SHAPES, QUIET, with_group
from hipo.cli.options.shared import with_recipe_options, with_status_file, with_verification_options
from hipo.cli.terminal.console import Format, hush
from hipo.cli.terminal.progress import watcher
from hipo.cli.terminal.status_file import StatusFile
from prompts.tasks.modes import MODES
from scenarios.errors import UsageError

app = command_app()


def _jury(
    *,
    juror: list[str] | None = typer.Option(
        None,
        "--juror",
        metavar="MODEL",
        help="Label every answer as a juror would, by a scheme apart from the run's; repeatable. "
        "Jurors decide nothing, and without --judge they alone are asked.",
        show_default=False,
    ),
    juror_task: str = typer.Option(
        JUROR_TASK,
        hidden=True,
        metavar="NAME|FILE",
        help="What jurors are asked; or cobra-juror-principles.",
    ),
    juror_mode: str | None = typer.Option(
        None,
        hidden=True,
        metavar="MODE",
        help="How: zero-shot, icl (worked examples), cot, two-phase; default zero-shot.",
        show_default=False,
    ),
    juror_scheme: str = typer.Option(
        JUROR_SCHEME, hidden=True, metavar="NAME|FILE", help="Whose labels jurors give."
    ),
) -> JuryRequest | None:
    if not juror:
        settings = (juror_task, juror_mode, juror_scheme)
        if settings != (JUROR_TASK, None, JUROR_SCHEME):
            raise UsageError(
                "--juror-task, --juror-mode and --juror-scheme say what jurors are asked",
                "name who: --juror MODEL",
            )
        return None
    mode = next((known for known in MODES if known == juror_mode), None)
    if juror_mode is not None and mode is None:
        raise UsageError(f"there is no mode {juror_mode!r}", f"modes: {', '.join(MODES)}")
    if len(set(juror)) < len(juror):
        raise UsageError("a juror is named twice", "name each model once")
    return JuryRequest(models=juror, task=juror_task, mode=mode, scheme=juror_scheme)


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
@with_group("jury", _jury, heading=OptionGroup.JURORS)
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
    from hipo.cli.verify import jury as verify_jury  # noqa: PLC0415 - most of hipo: help does without
    from hipo.cli.verify import run as verify_run  # noqa: PLC0415 - most of hipo: help does without

    hush()
    folder = find_run(run)
    if jury is not None and not overrides.judges and overrides.about_judging:
        raise UsageError(
            f"{', '.join(overrides.about_judging)}: jurors alone are asked, and no dialogue is judged",
            "name a --judge, too, or leave --juror to another command",
        )
    overrides.check_used(jurors=jury is not None)
    overrides = _with(overrides, given)
    if overrides.batch:
        verify_run.check_batch(folder, overrides, jury)
    if dry_run:
        return verify_run.print_estimate(
            folder, overrides, jury, output_format, retry_unreadable=retry_unreadable
        )
    watching = status.watched(watcher(quiet=quiet, name=folder.name))
    if jury is not None:
        ended = verify_jury.run_jury(
            folder,
            jury,
            overrides,
            retry_unreadable=retry_unreadable,
            output_format=output_format,
            quiet=quiet,
            watching=watching,
        )
        if not overrides.judges:
            return ended
    return verify_run.run_verification(
        folder,
        overrides,
        retry_unreadable=retry_unreadable,
        output_format=output_format,
        quiet=quiet,
        watching=watching,
    )


def _with(overrides: VerificationOverrides, given: RecipeChanges) -> VerificationOverrides:
    """Return overrides with what the options say that recipes have, too."""
    return replace(
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
