"""``hipo import``: other people's dialogues become a run to be judged, reviewed and exported."""

from __future__ import annotations

from pathlib import Path

import typer

from hipo.app.run_folders import RUNS
from hipo.cli.console import Format, plain, plural, write_json
from hipo.cli.errors import ExitCode
from hipo.cli.main import command_app
from pipeline.importing.importer import ImportedRun, import_dialogues

app = command_app()


@app.command("import")
def import_file(
    *,
    file: Path = typer.Argument(..., metavar="FILE", help="JSON lines, one dialogue each."),
    output: Path | None = typer.Option(
        None, "-o", "--output", help="Folder of the new run; default ./runs/<name of the file>."
    ),
    scheme: str = typer.Option("hipo", "--scheme", help="Label scheme, an id or a file."),
    scenario_dir: list[Path] = typer.Option(
        [], "--scenario-dir", help="A folder of scenarios; repeatable."
    ),
    real_names: bool = typer.Option(
        False, "--real-names/--aliases", help="Names as on the public record."
    ),
    generator: str | None = typer.Option(
        None, "--generator", metavar="MODEL", help="provider/model that wrote the answers."
    ),
    output_format: Format = typer.Option(
        Format.TEXT, "--format", help="json: see docs/json-shapes.md."
    ),
) -> int:
    """Bring other people's dialogues into a new run, all of them or none.

    A line holds messages (roles user and assistant, or initiator and responder) or what hipo show
    --format json prints; beside them scenario and fact as ids, or background and fact in words.
    goal, labels of a message, language, and opening (given exchanges that are not judged) are
    optional. Every line that cannot be used is named, and then nothing is imported.
    """
    imported = import_dialogues(
        file,
        output or RUNS / file.stem,
        scheme=scheme,
        scenario_dirs=scenario_dir,
        real_names=real_names,
        generator=generator,
    )
    if output_format is Format.JSON:
        write_json(imported_as_json(imported))
    else:
        print(_as_text(imported))
    return ExitCode.DONE


def imported_as_json(imported: ImportedRun) -> dict[str, object]:
    """Return what ``hipo import --format json`` prints.

    ``folder``; ``dialogues``; ``situations``: those that came with the dialogues; ``unlabelled``:
    answers that declare no label.
    """
    return plain(imported, "folder dialogues situations unlabelled", folder=str(imported.folder))


def _as_text(imported: ImportedRun) -> str:
    lines = [f"{plural(imported.dialogues, 'dialogue')} imported into {imported.folder}"]
    if imported.situations:
        lines.append(f"{plural(imported.situations, 'situation')} came with them")
    if imported.unlabelled:
        lines.append(
            f"{plural(imported.unlabelled, 'answer')} without a label: judges can say whether they are "
            "coherent and mislead, but not whether labels are carried"
        )
    return "\n".join([*lines, f"next: hipo verify {imported.folder}"])
