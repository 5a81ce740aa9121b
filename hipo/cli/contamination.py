"""``hipo contamination``: how far two data sets overlap, and one of them without the overlap."""

from __future__ import annotations

from pathlib import Path

import typer

from hipo.app.contamination import compare_sets
from hipo.cli.main import command_app
from hipo.cli.options.plain import JSON_SHAPES
from hipo.cli.terminal.console import Format, columns, number, one_line, write_json
from hipo.cli.terminal.errors import ExitCode, say
from outputs.contamination.contamination import Contamination, Settings, Side
from outputs.contamination.ngrams import SHORTEST, SIZE
from outputs.contamination.reworded_lines import Reworded
from scenarios.errors import UsageError
from scenarios.plural import plural

app = command_app()

_COSINE = Settings().cosine
_EMBEDDING_MODEL = typer.Option(
    None, "--embedding-model", help="Another model than the bundled one: an id or a folder."
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
        _COSINE, "--cosine", min=0, max=1, help="Or if its nearest neighbour is this similar."
    ),
    embeddings: bool = typer.Option(
        True, "--embeddings/--no-embeddings", help="Look for nearest neighbours, if installed."
    ),
    embedding_model: str | None = _EMBEDDING_MODEL,
    reworded: bool = typer.Option(
        True, "--reworded/--no-reworded", help="Look for lines with words replaced or swapped."
    ),
    clean: Path | None = typer.Option(
        None, "--clean", metavar="FILE", help="Write the rows that do not overlap as JSON lines."
    ),
    remove_reworded: bool = typer.Option(
        False, "--remove-reworded", help="Leave what may be reworded out of --clean, too."
    ),
    output_format: Format = JSON_SHAPES,
) -> int:
    """Compare two sets, JSON (lines) or Parquet in any format, by runs of words and by meaning.

    System messages do not count, nor does what both sets repeat in row after row. Text that is
    shared is told apart from form that is shared by how often it occurs, so give whole sets. What
    may be reworded is named apart and not certain: look at it yourself. --clean keeps it unless you
    say --remove-reworded.
    """
    if not embeddings:
        _check_used(embedding_model, cosine)
    comparison = compare_sets(
        checked,
        reference,
        Settings(size, common, least, cosine, reworded, remove_reworded),
        embeddings=embeddings,
        embedding_model=embedding_model,
        clean=clean,
        notice=say,
        on_embedding=_say_what_takes_long,
    )
    if output_format == "json":
        write_json(comparison.report())
    else:
        print(comparison_as_text(comparison, clean))
    return ExitCode.DONE


def _say_what_takes_long() -> None:
    say("comparing meanings, which takes most of the time; --no-embeddings leaves it out")


def _check_used(embedding_model: str | None, cosine: float) -> None:
    """Refuse to be told how meanings are compared where they are not."""
    if embedding_model is not None or cosine != _COSINE:
        raise UsageError(
            "--embedding-model and --cosine say how meanings are compared, and --no-embeddings that"
            " they are not",
            "leave one of them out",
        )


def comparison_as_text(comparison: Contamination, clean: Path | None) -> str:
    """Return the comparison in words."""
    header = ["set", "rows", "sharing any", "overlapping", "share", "too short"]
    lines = [columns(header, [_row(comparison.checked), _row(comparison.reference)])]
    size = comparison.settings.size
    lines.append(f"{plural(comparison.shared_ngrams, f'{size}-gram')} shared")
    if comparison.common_ngrams:
        lines.append(f"{number(comparison.common_ngrams)} more in row after row of both sets: form")
    near = comparison.neighbours
    if near is not None and near.compared:
        lines.append(
            f"nearest neighbours: median {near.median}, 99 % below {near.p99}, highest "
            f"{near.highest}; {plural(near.close, 'row')} at {near.threshold} or above"
        )
    if comparison.passages:
        lines.append(f"rows of {comparison.checked.name} that share most (of their n-grams):")
    lines += [
        f"  row {p.row:,} ({p.share:.0%}): {one_line(p.text, 90)}"
        for p in comparison.passages[:_SHOWN]
    ]
    lines += _reworded(comparison.reworded, comparison.checked.rows)
    if clean is not None:
        left = comparison.checked.rows - len(comparison.rows)
        lines.append(f"{clean}: {plural(left, 'row')}, {number(len(comparison.rows))} left out")
    return "\n".join(lines)


def _reworded(found: Reworded | None, rows: int) -> list[str]:
    """Return what may be reworded; nothing where nothing was found."""
    if found is None or not found.rows:
        return []
    told = (
        f"{plural(found.rows, 'row')} of {number(rows)} may hold a line of the reference in other"
    )
    return [
        f"{told} words (not certain: look at them; --remove-reworded leaves them out of --clean):",
        *(
            f"  row {line.row:,} ({line.similarity:.0%} of the words): "
            f"{one_line(line.text, 60)} ~ {one_line(line.reference, 60)}"
            for line in found.worst[:_SHOWN]
        ),
    ]


def _row(side: Side) -> list[str]:
    share = side.overlapping / side.rows if side.rows else 0.0
    counts = [number(n) for n in (side.rows, side.sharing, side.overlapping)]
    return [side.name, *counts, f"{share:.1%}", number(side.bare)]
