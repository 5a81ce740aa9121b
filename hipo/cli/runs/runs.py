"""``hipo runs``: the runs of a folder; what can be done with one is in modules of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import typer

from hipo.app.runs.folders import RUNS, runs_in
from hipo.cli.main import CommandEntry, LazyGroup, command_app
from hipo.cli.reports.run import cost_of, state_as_json
from hipo.cli.terminal.console import Format, columns, number, write_json
from hipo.cli.terminal.errors import say
from pipeline.store.migrations import OlderHipo
from pipeline.store.queries.status import RunState
from pipeline.store.run_state import read_run_state
from scenarios.errors import UsageError
from scenarios.text_file import typed_path

UNREADABLE = "unreadable"
"""State of a run whose database cannot be read, in lists."""
OLDER = "older"
"""State of a run that hipo runs show brings up to date, in lists."""


class RunsGroup(LazyGroup):
    """The commands about a run, each in a module of its own."""

    table: ClassVar[Mapping[str, CommandEntry]] = {
        "show": CommandEntry("hipo.cli.runs.show", "Show the state of one run."),
        "tail": CommandEntry(
            "hipo.cli.runs.tail", "Show dialogues, failures and stops as they become durable."
        ),
        "drop-batches": CommandEntry(
            "hipo.cli.runs.drop_batches", "Give up what lies at providers in batches."
        ),
        "forget-excess": CommandEntry(
            "hipo.cli.runs.forget_excess",
            "Forget that endpoints counted more than was asked of them.",
        ),
        "check": CommandEntry(
            "hipo.cli.runs.check", "Look for damage in a run, and change nothing."
        ),
        "repair": CommandEntry(
            "hipo.cli.runs.repair", "Save what can be read of a damaged run into a new one."
        ),
        "merge": CommandEntry(
            "hipo.cli.runs.merge", "Put runs of one configuration together into a new one."
        ),
    }
    instead: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("list", "ls"), "'hipo runs' alone lists them"
    )


app = command_app(cls=RunsGroup, invoke_without_command=True)

_DIR = typer.Option(RUNS, "--dir", help="The folder whose runs are listed.")
_FORMAT = typer.Option("text", "--format", help="text or json.")


@app.callback()
def runs(ctx: typer.Context, folder: Path = _DIR, output_format: Format = _FORMAT) -> None:
    """List the runs of a folder with their state and cost, or show one: hipo runs show RUN.

    With --format json: a list of what hipo runs show RUN --format json prints; of a run that
    cannot be read name, folder, state (unreadable; older: hipo runs show RUN brings it up to date)
    and error.
    """
    if ctx.invoked_subcommand is not None:
        if folder != RUNS or output_format != "text":
            raise UsageError(
                "--dir and --format before a command are of the list of runs alone",
                f"put --format behind {ctx.invoked_subcommand}, and name a run by its folder",
            )
        return
    if folder != RUNS and not folder.is_dir():
        found = "is a file, not a folder" if folder.exists() else "is not there"
        raise UsageError(f"{folder} {found}", "name the folder that runs are in with --dir")
    states = [(child, _state(child)) for child in runs_in(folder)]
    if output_format == "json":
        write_json([_as_json(child, state) for child, state in states])
    elif not states:
        print(f"no runs in {folder}; hipo generate or hipo demo makes one")
    else:
        header = ["run", "state", "generated", "planned", "failed", "calls", "cost"]
        print(columns(header, [_row(child, state) for child, state in states]))


def _state(folder: Path) -> RunState | UsageError:
    """Return where a run stands; or why that cannot be read, which is said on standard error."""
    try:
        return read_run_state(folder)
    except UsageError as error:
        why = error
    except PermissionError:
        why = UsageError(
            "permission denied", f"give yourself the right (chmod u+rwx {typed_path(folder)})"
        )
    say(f"{folder}: {why}")
    return why


def _why(error: UsageError) -> str:
    return OLDER if isinstance(error, OlderHipo) else UNREADABLE


def _as_json(folder: Path, state: RunState | UsageError) -> dict[str, object]:
    if isinstance(state, RunState):
        return state_as_json(folder, state)
    error = state.message
    return {"name": folder.name, "folder": str(folder), "state": _why(state), "error": error}


def _row(folder: Path, state: RunState | UsageError) -> list[str]:
    if not isinstance(state, RunState):
        return [folder.name, _why(state), "", "", "", "", ""]
    return [
        folder.name,
        state.state,
        number(state.generated),
        number(state.planned),
        number(sum(state.failed.values())),
        number(state.calls),
        cost_of(state),
    ]
