"""``hipo runs check``: look for damage in a run."""

from __future__ import annotations

import typer

from hipo.app.runs.check import check_run
from hipo.app.runs.folders import locate_run
from hipo.cli.main import RUN, command_app
from hipo.cli.runs.check_report import findings_as_json, findings_as_text
from hipo.cli.terminal.console import Format, write_json
from hipo.cli.terminal.errors import ExitCode

app = command_app()


@app.command("check")
def check(
    run: str = RUN,
    output_format: Format = typer.Option("text", "--format", help="text or json."),
) -> int:
    """Look for damage in a run, and change nothing.

    Checks every page of its databases, that rows refer to rows that are there, that totals are the
    sums of what they count, that dialogues have their turns and prompts their texts, and that the
    configuration and what the dialogues are made of can be read. Exit code 0: sound; 1: something
    was found.
    """
    folder = locate_run(run)
    findings = check_run(folder)
    if output_format == "json":
        write_json(findings_as_json(folder, findings))
    else:
        print(findings_as_text(folder, findings))
    return ExitCode.FAILED_CASES if findings else ExitCode.DONE
