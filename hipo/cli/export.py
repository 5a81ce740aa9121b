"""``hipo export``: training sets, preference pairs and benchmark sets out of runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import typer

from hipo.app.export import DataSet, ExportExtras, make_data_set
from hipo.app.option_groups import OptionGroup
from hipo.cli.console import Format, columns, hush, number, plain, plural, write_json
from hipo.cli.errors import ExitCode, say
from hipo.cli.export_options import chosen_dialogues, chosen_extras, chosen_rows
from hipo.cli.main import command_app
from hipo.cli.plain_options import QUIET, with_group
from hipo.cli.wrapping import write_text
from outputs.contamination import overlap_share, reworded_share
from outputs.export_kind import KINDS, ExportOptions
from outputs.selection import Selection, WantedVerdict
from outputs.token_lengths import DEFAULT_WINDOW

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
        Format.TEXT,
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
    hush()
    verdict = KINDS.get(options.kind).verdict if everything is None else _VERDICTS[everything]
    selection = replace(selection, verdict=verdict)
    data = make_data_set(selection, options, output, extras, overwrite=overwrite, notice=say)
    if output_format is Format.JSON:
        write_json(exported_as_json(data))
    elif not quiet:
        write_text(exported_as_text(data))
    return ExitCode.DONE


def exported_as_json(data: DataSet) -> dict[str, object]:
    """Return what an export left behind as plain data.

    ``folder``; ``dialogues``, ``scenarios``, ``facts``: how many rows were made of; ``rows`` by
    split; ``files``: ``path``, ``rows``, ``size``, ``sha256``; ``includes_deception``; ``left_out``:
    ``generated`` and ``taken`` dialogues, and what was left out by reason, ``dialogues`` and
    ``rows``; ``notes``: what else its user should know; ``overlaps``: of the comparisons that were asked for, see
    :meth:`outputs.contamination.Contamination.summary`, with ``removed``: whether the rows found
    were left out; ``address``: on the hub, or null.
    """
    facts = data.exported.facts
    return {
        "folder": str(data.folder),
        **plain(facts, "dialogues scenarios facts"),
        "rows": data.rows,
        "files": [plain(file, "path rows size sha256") for file in facts.files],
        "includes_deception": facts.includes_deception,
        "left_out": facts.left_out.plain(),
        "notes": list(data.exported.notes),
        "overlaps": [dict(overlap) for overlap in facts.contamination],
        "address": data.address,
    }


def exported_as_text(data: DataSet) -> str:
    """Return what an export left behind in words."""
    facts = data.exported.facts
    made = plural(facts.dialogues, "dialogue")
    rows = [[name, number(n)] for name, n in data.rows.items()]
    lines = [
        f"{made}, {plural(facts.scenarios, 'scenario')}, {plural(facts.facts, 'fact')}",
        columns(["split", "rows"], rows),
        *facts.left_out.sentences(ways=True),
        *(one.sentence for one in facts.lengths),
        *(
            f"warning: {plural(one.over, 'row')} of {one.subset} may have more than "
            f"{DEFAULT_WINDOW:,} tokens, at which trainers cut by default, answer first: set "
            "max_length (hipo train does), or take --prompt short"
            for one in facts.lengths
            if one.over
        ),
        *(
            f"overlap of {overlap['checked']} with {overlap['reference']}: {overlap_share(overlap)}"
            f"{', left out' if overlap['removed'] else ''}"
            f"; perhaps reworded: {reworded_share(overlap)}"
            for overlap in facts.contamination
        ),
        *(f"note: {note}" for note in data.exported.notes),
    ]
    if facts.includes_deception:
        lines.append("note: a model trained on these rows learns to deceive; the card says so")
    if facts.offline_baseline:
        lines.append("note: written by rules, not by a language model: no training data")
    lines.append(f"{data.folder}: README.md is the data card, manifest.json lists every file")
    if data.address is not None:
        lines.append(f"pushed to {data.address}")
    return "\n".join(lines)
