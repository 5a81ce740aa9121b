"""``hipo runs repair``: save what can be read of a damaged run."""

from __future__ import annotations

from pathlib import Path

import typer

from hipo.app.runs.check import repair_run
from hipo.app.runs.folders import locate_run
from hipo.cli.main import RUN, command_app
from hipo.cli.runs.check_report import repaired_as_json, repaired_as_text
from hipo.cli.terminal.console import Format, write_json
from hipo.cli.terminal.errors import ExitCode

app = command_app()


@app.command("repair")
def repair(
    run: str = RUN,
    output: Path | None = typer.Option(
        None, "--output", "-o", help="The new folder; default that of the run with -repaired."
    ),
    output_format: Format = typer.Option("text", "--format", help="text or json."),
) -> int:
    """Save what can be read of a damaged run into a new one, and say what is lost.

    The old folder is not changed. What was paid for stays in the figure of what is spent; hipo
    generate into the new folder plays lost dialogues again, from the answers that are stored as
    far as they are. Exit code 1: hipo runs check finds something in the new run.
    """
    folder = locate_run(run)
    repaired = repair_run(folder, output or folder.with_name(f"{folder.name}-repaired"))
    if output_format == "json":
        write_json(repaired_as_json(repaired))
    else:
        print(repaired_as_text(repaired))
    return ExitCode.FAILED_CASES if repaired.findings else ExitCode.DONE
