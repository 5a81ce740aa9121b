"""``hipo compare``: how people speak in several corpora, or in parts of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from hipo.app.comparing import compare as compare_sources
from hipo.app.options.values import split
from hipo.cli.main import command_app
from hipo.cli.options.plain import JSON_SHAPES
from hipo.cli.terminal.console import Format, columns, ends, number, plain, write_json
from hipo.cli.terminal.errors import ExitCode, say
from outputs.speech.comparison import FEWEST, SpeechComparison, SpeechDifference

app = command_app()


@app.command("compare")
def compare(
    *,
    sources: list[str] = typer.Argument(
        ...,
        metavar="RUN|SET...",
        help="Runs, or files or folders of rows that hold a dialogue each.",
    ),
    by: str | None = typer.Option(
        None,
        "--by",
        metavar="NAME",
        help="Divide the lines of one source: by a dimension of labels, role, goal, strategy, "
        "model, verdict, what --vary drew, or a column of rows.",
    ),
    reference: str | None = typer.Option(
        None,
        "--reference",
        metavar="GROUP",
        help="Compare the others with this one; default the first source, or of --by the one with"
        " most lines.",
    ),
    roles: list[str] = typer.Option(
        [], "--role", metavar="ROLE", help="Only what these say; repeatable; default everybody."
    ),
    fixed: bool = typer.Option(
        False, "--fixed", help="Count lines, too, that were fixed beforehand, such as openings."
    ),
    markers: Path | None = typer.Option(
        None, "--markers", metavar="FILE", help="Lists of phrases to count; default English ones."
    ),
    seed: int = typer.Option(0, "--seed", min=0, max=2**32 - 2, help="Of the resamples."),
    output_format: Format = JSON_SHAPES,
) -> int:
    """Compare how people speak: generated with human dialogues, two models, lies with the truth.

    Counted are lengths, questions, variety of words, what is taken up from the line before, and
    markers such as hesitations, hedges and back-channels. Intervals are from resampled scenarios,
    or dialogues where nobody says of which scenario they are.
    """
    found = compare_sources(
        sources,
        by=by,
        reference=reference,
        roles=split(roles),
        fixed=fixed,
        markers=markers,
        seed=seed,
    )
    if output_format == "json":
        write_json(_as_json(found))
    else:
        print(_as_text(found))
        for note in found.notes:
            say(note)
    return ExitCode.DONE


def _as_json(found: SpeechComparison) -> dict[str, Any]:
    return {
        "reference": found.groups[0].name,
        "groups": [
            plain(group, "name dialogues lines", clusters=len(group.clusters))
            for group in found.groups
        ],
        "differences": [
            {
                "group": name,
                **plain(one.measure, "id title unit"),
                **plain(
                    one,
                    "reference figure difference certain counted no_interval",
                    interval=ends(one.interval),
                ),
            }
            for name, differences in found.differences.items()
            for one in differences
        ],
        "notes": list(found.notes),
    }


def _as_text(found: SpeechComparison) -> str:
    first = found.groups[0].name
    counts = columns(
        ["group", "dialogues", "lines", "drawn from"],
        [
            [one.name, number(one.dialogues), number(one.lines), number(len(one.clusters))]
            for one in found.groups
        ],
    )
    tables = [
        columns(
            ["", "of what", first, name, "difference", "95 %", ""],
            [_row(one) for one in differences],
        )
        for name, differences in found.differences.items()
    ]
    return "\n\n".join([counts, *tables, _LEGEND])


_LEGEND = """\
drawn from  how many scenarios the intervals resample; a dialogue of none counts as one
95 %        interval of the difference; too few: it takes more scenarios in which anything was
            counted; no spread: all resamples have the same difference
*           not 0, even if all differences of the table are looked at together (Bonferroni)"""


def _row(one: SpeechDifference) -> list[str]:
    return [
        one.measure.title,
        one.measure.unit,
        _figure(one.reference),
        _figure(one.figure),
        _figure(one.difference, sign="+"),
        _interval(one),
        "*" * one.certain,
    ]


def _figure(value: float | None, sign: str = "") -> str:
    return "-" if value is None else f"{value:{sign}.2f}"


def _interval(one: SpeechDifference) -> str:
    if one.interval is not None:
        return f"{one.interval.low:+.2f} to {one.interval.high:+.2f}"
    if one.no_interval == "too few":
        return f"too few ({one.counted} of {FEWEST})"
    return one.no_interval or "-"
