"""``hipo contamination``: how far two data sets overlap, and one of them without the overlap."""

from __future__ import annotations

from pathlib import Path

import orjson
import typer

from hipo.cli.console import Format, columns, number, one_line, plural, write_json
from hipo.cli.errors import ExitCode, say
from outputs.contamination import Contamination, RowSet, Settings, Side, compare, without
from outputs.dataset.reader import row_set
from outputs.neighbours import installed_embedding
from outputs.ngrams import SHORTEST, SIZE
from pipeline.embeddings import INSTALL, Embed
from scenarios.atomic_files import new_file
from scenarios.errors import UsageError

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_SHOWN = 5
"""Passages of the report for people; JSON has 20."""


@app.command("contamination")
def contamination(
    *,
    checked: Path = typer.Argument(
        ..., metavar="CHECKED", help="What might hold rows of the other: a file or a folder."
    ),
    reference: Path = typer.Argument(
        ..., metavar="REFERENCE", help="What is to stay unseen, a test set say; held in memory."
    ),
    size: int = typer.Option(SIZE, "--ngram", min=SHORTEST, max=64, help="Words per n-gram."),
    common: float = typer.Option(
        0.2, "--common", min=0, max=1, help="Share of rows of both sets that makes text a form."
    ),
    least: float = typer.Option(
        0.1, "--least", min=0, max=1, help="A row overlaps if it shares more of its n-grams."
    ),
    cosine: float = typer.Option(
        0.95, "--cosine", min=0, max=1, help="Or if its nearest neighbour is this similar."
    ),
    embeddings: bool = typer.Option(
        True, "--embeddings/--no-embeddings", help="Look for nearest neighbours, if installed."
    ),
    embedding_model: str | None = typer.Option(
        None, "--embedding-model", help="Another model than the bundled one: an id or a folder."
    ),
    clean: Path | None = typer.Option(
        None, "--clean", metavar="FILE", help="Write the rows that do not overlap as JSON lines."
    ),
    output_format: Format = typer.Option(
        Format.TEXT, "--format", help="json: see outputs.contamination.Contamination.report."
    ),
) -> int:
    """Compare two sets of JSON lines or Parquet, in any format, by runs of words and by meaning.

    System messages do not count, nor does what both sets repeat in row after row. Text that is
    shared is told apart from form that is shared by how often it occurs, so give whole sets.
    """
    if clean is not None:
        _check_target(clean)
    rows = row_set(checked, checked.name)
    settings = Settings(size=size, common=common, least=least, cosine=cosine)
    found = compare(
        rows,
        row_set(reference, reference.name),
        settings,
        _embedding(embedding_model) if embeddings else None,
    )
    if clean is not None:
        _write(clean, rows, found)
    if output_format is Format.JSON:
        write_json(found.report())
    else:
        print(_told(found, clean))
    return ExitCode.DONE


def _embedding(model: str | None) -> Embed | None:
    embed = installed_embedding(model)
    if embed is None:
        say(f"nearest neighbours are left out; for them: {INSTALL}")
    return embed


def _check_target(path: Path) -> None:
    if path.suffix != ".jsonl":
        raise UsageError(f"{path}: rows are written as JSON lines", "give a name in .jsonl")
    if path.exists():
        raise UsageError(f"{path}: is there already", "give another name")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}", "make it first")


def _write(path: Path, rows: RowSet, found: Contamination) -> None:
    """Write the rows that are left; the file appears when it is complete."""
    with new_file(path) as file:
        for row in without(rows, found):
            file.write(orjson.dumps(row, default=str, option=orjson.OPT_APPEND_NEWLINE))


def _told(found: Contamination, clean: Path | None) -> str:
    """Return the comparison in words."""
    header = ["set", "rows", "sharing any", "overlapping", "share", "bare"]
    lines = [columns(header, [_row(found.checked), _row(found.reference)])]
    size = found.settings.size
    lines.append(f"{plural(found.shared_ngrams, f'{size}-gram')} shared")
    if found.common_ngrams:
        lines.append(f"{number(found.common_ngrams)} more in row after row of both sets: form")
    near = found.neighbours
    if near is not None and near.compared:
        lines.append(
            f"nearest neighbours: median {near.median}, 99 % below {near.p99}, highest "
            f"{near.highest}; {plural(near.close, 'row')} at {near.threshold} or above"
        )
    if found.passages:
        lines.append("shared most:")
    lines += [
        f"  row {p.row:,} ({p.share:.0%}): {one_line(p.text, 90)}" for p in found.passages[:_SHOWN]
    ]
    if clean is not None:
        left = found.checked.rows - len(found.rows)
        lines.append(f"{clean}: {plural(left, 'row')}, {number(len(found.rows))} left out")
    return "\n".join(lines)


def _row(side: Side) -> list[str]:
    share = side.overlapping / side.rows if side.rows else 0.0
    counts = [number(n) for n in (side.rows, side.sharing, side.overlapping)]
    return [side.name, *counts, f"{share:.1%}", number(side.bare)]
