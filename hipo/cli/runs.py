"""``hipo runs``: the runs of a folder, and the state of one."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from pathlib import Path

import typer

from hipo.app.batching import give_up_batches
from hipo.app.merging import merge_runs
from hipo.app.quota import MOST_COUNTED, quota_standing
from hipo.app.run import Run
from hipo.app.run_check import check_run, repair_run
from hipo.app.run_folders import RUNS, find_run, is_evaluation, locate_run, runs_in
from hipo.app.tail import follow
from hipo.cli.console import Format, columns, number, plural, write_json
from hipo.cli.errors import ExitCode, say
from hipo.cli.main import RUN, command_app
from hipo.cli.merge_report import KeptRun, merged_as_json, merged_as_text
from hipo.cli.quota_report import quota_as_text
from hipo.cli.run_check_report import (
    findings_as_json,
    findings_as_text,
    repaired_as_json,
    repaired_as_text,
)
from hipo.cli.run_report import cost_of, state_as_json, state_as_text
from hipo.cli.tail_report import tail_json, tail_line
from hipo.cli.wrapping import write_text
from pipeline.store.queries.status import RunState
from scenarios.errors import UsageError

UNREADABLE = "unreadable"
"""State of a run whose database cannot be read, in lists."""
TAIL_INTERVAL_S = 1.0
"""Seconds between two looks at a run that is followed."""

app = command_app(invoke_without_command=True)

_DIR = typer.Option(RUNS, "--dir", help="The folder whose runs are listed.")
_FORMAT = typer.Option(Format.TEXT, "--format", help="text or json.")


@app.callback()
def runs(ctx: typer.Context, folder: Path = _DIR, output_format: Format = _FORMAT) -> None:
    """List the runs of a folder with their state and cost, or show one: hipo runs show RUN.

    With --format json: a list of what hipo runs show RUN --format json prints; of a run that
    cannot be read name, folder, state (unreadable) and error.
    """
    if ctx.invoked_subcommand is not None:
        return
    states = [(child, _state(child)) for child in runs_in(folder)]
    if output_format is Format.JSON:
        write_json([_as_json(child, state) for child, state in states])
    elif not states:
        print(f"no runs in {folder}; hipo generate or hipo demo makes one")
    else:
        header = ["run", "state", "generated", "planned", "failed", "calls", "cost"]
        print(columns(header, [_row(child, state) for child, state in states]))


@app.command("show")
def show(
    run: str = RUN,
    output_format: Format = typer.Option(
        Format.TEXT, "--format", help="json: see docs/json-shapes.md."
    ),
) -> None:
    """Show the state of one run: what is generated, failed and pending, calls, tokens, cost."""
    folder = find_run(run)
    state = Run(folder).state()
    quota = quota_standing(folder, at_most=MOST_COUNTED)
    if output_format is Format.JSON:
        write_json(state_as_json(folder, state, quota))
    else:
        write_text(state_as_text(folder, state))
        if quota is not None:
            write_text("\n" + quota_as_text(quota))


@app.command("tail")
def tail(
    run: str = RUN,
    count: int = typer.Option(
        10, "-n", "--count", min=0, help="How many of what ended last to begin with."
    ),
    keep_following: bool = typer.Option(
        True, "--follow/--no-follow", help="Go on as long as the run is played."
    ),
    output_format: Format = typer.Option(
        Format.TEXT, "--format", help="json: one object a line; see docs/overnight.md."
    ),
) -> int:
    """Show dialogues, failures and stops of a run as they become durable, whoever plays it.

    It only reads. It ends when the run does, or with Ctrl-C.
    """
    events = follow(
        find_run(run), count, wait=lambda: time.sleep(TAIL_INTERVAL_S), once=not keep_following
    )
    with suppress(KeyboardInterrupt):
        for event in events:
            print(tail_line(event) if output_format is Format.TEXT else tail_json(event))
            sys.stdout.flush()
    return ExitCode.DONE


@app.command("drop-batches")
def drop_batches(
    run: str = typer.Argument(
        ...,
        metavar="RUN|EVALUATION",
        help="A run, by folder or name, or the folder of an evaluation.",
    ),
) -> None:
    """Give up what lies at providers in batches, or came back and was not used.

    It counts at its worst, and is asked for and paid for again. For batches that are deleted at
    the provider; any other is picked up by the command that sent it.
    """
    folder = Path(run)
    dropped = give_up_batches(folder if is_evaluation(folder) else find_run(run))
    print(f"{plural(dropped, 'request')} given up")


@app.command("check")
def check(run: str = RUN, output_format: Format = _FORMAT) -> int:
    """Look for damage in a run, and change nothing.

    Checks every page of its databases, that rows refer to rows that are there, that totals are the
    sums of what they count, that dialogues have their turns and prompts their texts, and that the
    configuration and what the dialogues are made of can be read. Exit code 0: sound; 1: something
    was found.
    """
    folder = locate_run(run)
    findings = check_run(folder)
    if output_format is Format.JSON:
        write_json(findings_as_json(folder, findings))
    else:
        print(findings_as_text(folder, findings))
    return ExitCode.FAILED_CASES if findings else ExitCode.DONE


@app.command("repair")
def repair(
    run: str = RUN,
    output: Path | None = typer.Option(
        None, "--output", "-o", help="The new folder; default that of the run with -repaired."
    ),
    output_format: Format = _FORMAT,
) -> int:
    """Save what can be read of a damaged run into a new one, and say what is lost.

    The old folder is not changed. What was paid for stays in the figure of what is spent; hipo
    generate into the new folder plays lost dialogues again, from the answers that are stored as
    far as they are. Exit code 1: hipo runs check finds something in the new run.
    """
    folder = locate_run(run)
    repaired = repair_run(folder, output or folder.with_name(f"{folder.name}-repaired"))
    if output_format is Format.JSON:
        write_json(repaired_as_json(repaired))
    else:
        print(repaired_as_text(repaired))
    return ExitCode.FAILED_CASES if repaired.findings else ExitCode.DONE


@app.command("merge")
def merge(
    runs: list[str] = typer.Argument(..., metavar="RUN...", help="Runs of one configuration."),
    output: Path = typer.Option(..., "-o", "--output", help="The new folder."),
    keep: KeptRun = typer.Option(
        KeptRun.FIRST,
        "--keep",
        help="Whose dialogue is kept where two runs have different ones of a case: that of the "
        "first run named, or of the last.",
    ),
    output_format: Format = _FORMAT,
) -> int:
    """Put runs of one configuration together into a new one, such as the shards of a plan.

    Every case is there once; calls, costs, labels, flags, verdicts, reviews and records of exports
    are kept, each once. The runs are only read, and the new folder is made as a whole or not at
    all. What is still missing is told; hipo generate into the new folder plays it.
    """
    folders = [locate_run(run) for run in runs]
    merged = merge_runs(folders, output, "first" if keep is KeptRun.FIRST else "last")
    if output_format is Format.JSON:
        write_json(merged_as_json(merged))
    else:
        write_text(merged_as_text(merged))
    return ExitCode.DONE


def _state(folder: Path) -> RunState | UsageError:
    """Return where a run stands; or why that cannot be read, which is said on standard error."""
    try:
        return Run(folder).state()
    except UsageError as error:
        say(f"{folder}: {error}")
        return error


def _as_json(folder: Path, state: RunState | UsageError) -> dict[str, object]:
    if isinstance(state, RunState):
        return state_as_json(folder, state)
    error = state.message
    return {"name": folder.name, "folder": str(folder), "state": UNREADABLE, "error": error}


def _row(folder: Path, state: RunState | UsageError) -> list[str]:
    if not isinstance(state, RunState):
        return [folder.name, UNREADABLE, "", "", "", "", ""]
    return [
        folder.name,
        state.state,
        number(state.generated),
        number(state.planned),
        number(sum(state.failed.values())),
        number(state.calls),
        cost_of(state),
    ]
