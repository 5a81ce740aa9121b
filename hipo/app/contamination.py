"""Compare two data sets, and write one of them without what overlaps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson

from outputs.contamination.contamination import Contamination, RowSet, Settings, compare, without
from outputs.dataset.reader import row_set
from pipeline.embeddings.embeddings import INSTALL, Embed, installed_embedding
from scenarios.atomic_files import check_place, new_file
from scenarios.errors import UsageError
from scenarios.log import logger

_log = logger("contamination")


def compare_sets(
    checked: Path,
    reference: Path,
    settings: Settings,
    *,
    embeddings: bool = True,
    embedding_model: str | None = None,
    clean: Path | None = None,
    notice: Callable[[str], None] = _log.warning,
    on_embedding: Callable[[], None] = lambda: None,
) -> Contamination:
    """Measure how far one data set overlaps with another, by runs of words and by meaning.

    Args:
        checked: a file or a folder of rows: what might hold rows of the other.
        reference: the set that is to stay unseen; it is held in memory.
        settings: sizes and thresholds.
        embeddings: whether nearest neighbours are looked for, where embeddings are installed.
        embedding_model: an id or a folder; None is the bundled model.
        clean: a file in ``.jsonl`` for the rows of ``checked`` that do not overlap.
        notice: is called with what could not be done.
        on_embedding: is called once both sets are found and meanings are going to be compared.

    Raises:
        UsageError: a set cannot be read, ``clean`` cannot be written, or reworded rows are to be
            removed where none are looked for or nothing is written.
    """
    if settings.remove_reworded and (clean is None or not settings.reworded):
        raise UsageError(
            "--remove-reworded leaves rows out of --clean FILE",
            "name a file with --clean, and leave --no-reworded out",
        )
    if clean is not None:
        _check_target(clean)
    rows, held_out = row_set(checked, checked.name), row_set(reference, reference.name)
    for one in (rows, held_out):
        if next(iter(one.rows()), None) is None:
            raise UsageError(f"{one.name}: holds no row", "give data sets with rows in them")
    embed = embedding_for_neighbours(embedding_model, notice) if embeddings else None
    if embed is not None:
        on_embedding()
    comparison = compare(rows, held_out, settings, embed)
    if clean is not None:
        _write(clean, rows, comparison)
    return comparison


def embedding_for_neighbours(model: str | None, notice: Callable[[str], None]) -> Embed | None:
    """Return what embeds rows; None, and a notice, where packages are missing."""
    embed = installed_embedding(model)
    if embed is None:
        notice(f"nearest neighbours are left out; for them: {INSTALL}")
    return embed


def _check_target(path: Path) -> None:
    if path.suffix != ".jsonl":
        raise UsageError(f"{path}: rows are written as JSON lines", "give a name in .jsonl")
    if path.exists():
        raise UsageError(f"{path}: is there already", "give another name")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}", "make it first")
    check_place(path)


def _write(path: Path, rows: RowSet, comparison: Contamination) -> None:
    """Write the rows that are left; the file appears when it is complete."""
    with new_file(path) as file:
        for row in without(rows, comparison):
            file.write(orjson.dumps(row, default=str, option=orjson.OPT_APPEND_NEWLINE))
