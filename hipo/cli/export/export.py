"""``hipo export``: training sets, preference pairs and benchmark sets out of runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import typer

from hipo.app.export.options import ExportExtras
from hipo.app.options.groups import OptionGroup
from hipo.cli.export.options import chosen_dialogues, chosen_extras, chosen_rows
from hipo.cli.main import command_app
from hipo.cli.options.plain import QUIET, with_group
from hipo.cli.terminal.console import Format, hush, others_apart, write_json
from hipo.cli.terminal.errors import ExitCode, say
from hipo.cli.terminal.wrapping import write_text
from outputs.kinds.export_kind import KINDS, ExportOptions
from outputs.selecting.wish import Selection, WantedVerdict

app = command_app()
_VERDICTS: Mapping[bool, WantedVerdict] = {True: "any", False: "accepted"}


@app.command("export")
@with_group("options", chosen_rows, heading=OptionGroup.ROWS)
@with_group("selection", chosen_dialogues, heading=OptionGroup.DIALOGUES)
@with_group("extras", chosen_extras, heading=OptionGroup.CHECKS)
def export_command(
    *,
    output: Path = typer.Option(..., "-o", "--output", help="The folder to make."),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace an earlier export there."),
    options: ExportOptions,
    everything: bool | None = typer.Option(
        None,
        "--any/--accepted",
        rich_help_panel=OptionGroup.DIALOGUES,
        help="Dialogues that are not accepted, too (default of dialogues and turns), or not.",
    ),
    selection: Selection,
    extras: ExportExtras,
    output_format: Format = typer.Option(
        "text",
        "--print",
        rich_help_panel=OptionGroup.OUTPUT,
        help="json: see docs/json-shapes.md.",
    ),
    quiet: bool = QUIET,
) -> int:
    """Make a data set: rows, card, datasheet, Croissant and manifest.

    By default the corpus itself, a dialogue a row, whatever was decided on it; other kinds (--to)
    take accepted dialogues.

    Scenarios are divided among the splits by the runs and the seed alone, so that every export of
    the same runs divides them alike: what one trains on, no other tests.
    """
    from hipo.app.export.export import make_data_set  # noqa: PLC0415 - with all that rows are made of
    from hipo.cli.export.report import exported_as_json, exported_as_text  # noqa: PLC0415

    hush()
    verdict = KINDS.get(options.kind).verdict if everything is None else _VERDICTS[everything]
    selection = replace(selection, verdict=verdict)
    with others_apart():
        data = make_data_set(selection, options, output, extras, overwrite=overwrite, notice=say)
    if output_format == "json":
        write_json(exported_as_json(data))
    elif not quiet:
        write_text(exported_as_text(data))
    return ExitCode.DONE
