"""``hipo scheme validate``: everything that is wrong with scheme files, at once."""

from __future__ import annotations

from pathlib import Path

import typer

from hipo.cli.main import command_app
from hipo.cli.options.shared import PLUGINS
from hipo.cli.scenarios.validate import (
    described,
    inspection_as_json,
    inspection_summary,
    print_passed_over,
)
from hipo.cli.schemes.options import PRINT
from hipo.cli.terminal.console import Format, write_json
from hipo.cli.terminal.errors import ExitCode
from quality.derived import check_derived
from scenarios.scheme_inspection import inspect_schemes

app = command_app()


@app.command("validate")
def validate(
    *,
    paths: list[Path] | None = typer.Argument(
        None,
        metavar="[PATH]...",
        help="Files, or folders with everything below them; none: the schemes that ship.",
        show_default=False,
    ),
    strict: bool = typer.Option(False, "--strict", help="Warnings count as errors."),
    output_format: Format = PRINT,
    plugins: list[Path] | None = PLUGINS,
) -> int:
    """Check scheme files: form, labels and steps, rules between dimensions, functions of computed ones.

    Prints "file:line: field: found, expected; hint" for every problem of every file. The exit code
    is 1 if there is an error (with --strict: or a warning), 2 for a path that is not there.
    """
    inspection = inspect_schemes(paths or (), [check_derived])
    if output_format == "json":
        write_json(inspection_as_json(inspection))
    else:
        for problem in inspection.problems:
            print(described(problem))
        print(inspection_summary(inspection))
        print_passed_over(inspection, "no scheme: hipo scenarios validate")
    counted = inspection.problems if strict else inspection.errors
    return ExitCode.FAILED_CASES if counted else ExitCode.DONE
