"""``hipo scenarios validate``: everything that is wrong with scenario files, at once."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

import typer

from hipo.cli.main import command_app
from hipo.cli.options.shared import PLUGINS
from hipo.cli.scenarios.options import EMBEDDINGS, SCENARIO_DIRS
from hipo.cli.scenarios.stats import similarity_if
from hipo.cli.terminal.console import Format, write_json
from hipo.cli.terminal.errors import ExitCode
from pipeline.verifiers.registry import check_data
from scenarios.errors import Problem
from scenarios.inspection import Inspection, inspect_files
from scenarios.pack import FAMILIES, LIBRARY, LIBRARY_PLUS, PATH_VARIABLE, PLUS_NAME, roots_in
from scenarios.plural import plural
from scenarios.schemes.registry import load_scheme
from scenarios.text_file import shown_path, typed_path

app = command_app()


@app.command("validate")
def validate(
    *,
    paths: list[Path] | None = typer.Argument(
        None,
        metavar="[PATH]...",
        help=f"Files, folders with everything below them, or {PLUS_NAME}; none: all that ships, and "
        "the folders of --scenario-dir and HIPO_SCENARIO_PATH.",
        show_default=False,
    ),
    strict: bool = typer.Option(False, "--strict", help="Warnings count as errors."),
    embeddings: bool = EMBEDDINGS,
    scheme: str | None = typer.Option(
        None, "--scheme", help="The label scheme they must be of; default the one each one names."
    ),
    scenario_dirs: list[Path] | None = SCENARIO_DIRS,
    output_format: Format = typer.Option("text", "--format", help="json: see docs/json-shapes.md."),
    plugins: list[Path] | None = PLUGINS,
) -> int:
    """Check scenario files: form, references, labels, truth, leaks, names, data, near-duplicates.

    Warned of are also scenarios that nearly tell what another one tells, of the library, too, and
    texts that are still those of hipo scenarios new.

    Prints "file:line: field: found, expected; hint" for every problem of every file. The exit code
    is 1 if there is an error (with --strict: or a warning), 2 for a path that is not there.
    """
    own = [*(scenario_dirs or ()), *roots_in(os.environ.get(PATH_VARIABLE, ""))]
    similarity, remark = similarity_if(wanted=embeddings)
    inspection = inspect_files(
        paths or [LIBRARY, LIBRARY_PLUS, FAMILIES, *own],
        beside=own,
        scheme=None if scheme is None else load_scheme(scheme),
        similarity=similarity,
        checks=[check_data],
    )
    if output_format == "json":
        write_json(inspection_as_json(inspection, meanings=similarity is not None))
    else:
        for problem in inspection.problems:
            print(described(problem))
        print(inspection_summary(inspection) + (f"; {remark}" if remark else ""))
        print_passed_over(inspection, "no scenario: hipo scheme validate")
    counted = inspection.problems if strict else inspection.errors
    return ExitCode.FAILED_CASES if counted else ExitCode.DONE


def inspection_as_json(
    inspection: Inspection, *, meanings: bool | None = None
) -> dict[str, object]:
    """Return what ``hipo scenarios validate --format json`` prints, and ``hipo scheme validate``.

    ``files``, ``errors`` and ``warnings``: how many; of scenarios also ``meanings_compared``:
    whether an embedding model took part; ``problems``: a list of objects with ``file``, ``line`` (None where a file could
    not be read at all), ``field`` (dotted, empty for the file as a whole), ``found``, ``expected``,
    ``hint``, ``code`` and ``severity`` (``error`` or ``warning``); ``passed_over``: files of the
    other kind (label schemes, scenarios) in the same folder, which were not checked.
    """
    return {
        "files": inspection.files,
        "errors": len(inspection.errors),
        "warnings": len(inspection.warnings),
        **({} if meanings is None else {"meanings_compared": meanings}),
        "problems": [asdict(problem) for problem in inspection.problems],
        "passed_over": [shown_path(path) for path in inspection.passed_over],
    }


def print_passed_over(inspection: Inspection, instead: str) -> None:
    """Name the files that were not checked, and the command for them."""
    if inspection.passed_over:
        files = " ".join(typed_path(shown_path(path)) for path in inspection.passed_over)
        print(f"not checked, as {instead} {files}")


def described(problem: Problem) -> str:
    """Return a problem on one line, warnings marked."""
    mark = " (warning)" if problem.severity == "warning" else ""
    return f"{problem}{mark}".replace("\n", " ")


def inspection_summary(inspection: Inspection) -> str:
    """Return one line that says how many files are how wrong."""
    files = plural(inspection.files, "file")
    if not inspection.problems:
        return f"{files}: no problem, no warning"
    bad = len({problem.file for problem in inspection.problems})
    errors = plural(len(inspection.errors), "error")
    return f"{errors}, {plural(len(inspection.warnings), 'warning')} in {bad} of {files}"
