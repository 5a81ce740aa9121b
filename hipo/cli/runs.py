"""``hipo runs``: the runs of a folder, and the state of one."""

from __future__ import annotations

from pathlib import Path

import typer

from hipo.app.run import Run
from hipo.app.run_folders import RUNS, find_run, runs_in
from hipo.cli.console import Format, columns, number, write_json
from hipo.cli.errors import say
from hipo.cli.main import RUN, command_app
from hipo.cli.run_report import cost_of, state_as_json, state_as_text
from pipeline.store.queries.status import RunState
from scenarios.errors import UsageError

UNREADABLE = "unreadable"
"""State of a run whose database cannot be read, in lists."""

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
    if output_format is Format.JSON:
        write_json(state_as_json(folder, state))
    else:
        print(state_as_text(folder, state))


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
