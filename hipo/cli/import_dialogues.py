"""``hipo import``: other people's dialogues become a run to be judged, reviewed and exported."""

from __future__ import annotations

from pathlib import Path

import typer

from hipo.app.runs.folders import RUNS
from hipo.app.table_import import ImportedTable, import_tables
from hipo.cli.main import command_app
from hipo.cli.reports.oddities import oddities_as_json, oddity_lines
from hipo.cli.terminal.console import Format, plain, write_json
from hipo.cli.terminal.errors import ExitCode
from pipeline.importing.importer import ImportedRun, import_dialogues
from quality.tables.table_map import map_names
from scenarios.errors import UsageError
from scenarios.plural import plural
from scenarios.text_file import typed_path

app = command_app()
_TABLES = (".csv", ".tsv", ".parquet")

MAP = typer.Option(
    None,
    "--map",
    metavar="NAME|FILE",
    help="What the columns of the files stand for: their dialogues and the annotations of people "
    "are imported.",
)


@app.command("import")
def import_file(
    *,
    files: list[Path] = typer.Argument(
        ..., metavar="FILE...", help="JSON lines, one dialogue each; with --map tables of any kind."
    ),
    map_name: str | None = MAP,
    output: Path | None = typer.Option(
        None, "-o", "--output", help="Folder of the new run; default ./runs/<name of the file>."
    ),
    scheme: str | None = typer.Option(
        None, "--scheme", help="Label scheme, an id or a file; default hipo, or the map's."
    ),
    scenario_dir: list[Path] = typer.Option(
        [], "--scenario-dir", help="A folder of scenarios; repeatable."
    ),
    real_names: bool = typer.Option(
        False, "--real-names/--aliases", help="Names as on the public record."
    ),
    generator: str | None = typer.Option(
        None, "--generator", metavar="MODEL", help="provider/model that wrote the answers."
    ),
    output_format: Format = typer.Option("text", "--format", help="json: see docs/json-shapes.md."),
) -> int:
    """Bring other people's dialogues into a new run, all of them or none.

    A line holds messages (roles user and assistant, initiator and responder, or any others); beside
    them scenario and fact as ids, or background and fact in words, which a scheme that assigns no
    goal does without. id, goal, labels of a message, language, and opening (given exchanges that are
    not judged) are optional. The JSON lines of a corpus that
    hipo export wrote are read, too, and what hipo show RUN ID --format json prints, put on one line.
    Every line that cannot be used is named, and then nothing is imported.

    With --map files are tables: dialogues and what annotators said of them, which agreement, quality
    control, reports and reviews then see. What is odd in a table is named row by row.
    """
    target = output or RUNS / files[0].stem
    if map_name is not None:
        if scheme is not None or scenario_dir or real_names:
            raise UsageError(
                "--map says what the files hold, their scheme included",
                "leave --scheme, --scenario-dir and --real-names out",
            )
        brought = import_tables(files, map_name, target, generator=generator)
        _show(table_as_json(brought), _table_as_text(brought), output_format)
        return ExitCode.DONE
    imported = import_dialogues(
        _only(files),
        target,
        scheme=scheme or "hipo",
        scenario_dirs=scenario_dir,
        real_names=real_names,
        generator=generator,
    )
    _show(imported_as_json(imported), _as_text(imported), output_format)
    return ExitCode.DONE


def _only(files: list[Path]) -> Path:
    """Return the file of JSON lines.

    Raises:
        UsageError: there are several, or it is a table.
    """
    if len(files) > 1:
        raise UsageError(
            f"{len(files)} files, and a run is made of one file of JSON lines",
            "join them, or say with --map what tables hold",
        )
    if files[0].suffix.lower() in _TABLES and files[0].is_file():
        raise UsageError(
            f"{files[0]} is a table, and without --map a run is made of JSON lines",
            f"give --map with one of {', '.join(map_names())}, or a file that says what the columns "
            "hold (docs/annotations.md)",
        )
    return files[0]


def _show(as_json: dict[str, object], as_text: str, output_format: Format) -> None:
    if output_format == "json":
        write_json(as_json)
    else:
        print(as_text)


def imported_as_json(imported: ImportedRun) -> dict[str, object]:
    """Return what ``hipo import --format json`` prints.

    ``folder``; ``dialogues``; ``situations``: those that came with the dialogues; ``unlabelled``:
    answers that declare no label.
    """
    return plain(imported, "folder dialogues situations unlabelled", folder=str(imported.folder))


def table_as_json(brought: ImportedTable) -> dict[str, object]:
    """Return what ``hipo import --map --format json`` prints.

    ``folder``; how many ``dialogues``, ``situations``, ``annotators`` and ``annotations``; ``aside``:
    dimensions that are not in the run; ``files`` and ``oddities``.
    """
    return {
        **plain(brought, "folder dialogues situations annotators annotations aside",
                folder=str(brought.folder), aside=list(brought.aside)),
        **oddities_as_json(brought.table),
    }  # fmt: skip


def _table_as_text(brought: ImportedTable) -> str:
    labels = f"{plural(brought.annotations, 'label')} by {plural(brought.annotators, 'annotator')}"
    head = f"{plural(brought.dialogues, 'dialogue')} imported into {brought.folder}, with {labels}"
    lines = [*oddity_lines(brought.table, all_of_them="--format json"), head]
    if brought.aside:
        listed = ", ".join(brought.aside)
        lines.append(f"not in the run, for the scheme does not have them: {listed}")
    following = "agreement" if brought.annotators > 1 else "qc"
    return "\n".join([*lines, f"next: hipo {following} {typed_path(brought.folder)}"])


def _as_text(imported: ImportedRun) -> str:
    lines = [f"{plural(imported.dialogues, 'dialogue')} imported into {imported.folder}"]
    if imported.situations:
        lines.append(f"{plural(imported.situations, 'situation')} came with them")
    if imported.unlabelled:
        lines.append(
            f"{plural(imported.unlabelled, 'answer')} without a label: judges can say whether they are "
            "coherent and mislead, but not whether labels are carried"
        )
    return "\n".join([*lines, f"next: hipo verify {typed_path(imported.folder)}"])
