"""What was odd in files: in JSON, and as lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hipo.cli.terminal.console import one_line, plain
from quality.tables.checking import CheckedTable
from quality.tables.derived_map import PLAIN
from quality.tables.oddities import kinds
from scenarios.plural import plural

MOST_SHOWN = 10
"""Oddities of one kind that the text shows."""
_WIDTH = 240


def oddities_as_json(table: CheckedTable | None) -> dict[str, Any]:
    """Return ``files`` (rows, read, left_out) and ``oddities``, one for each cell, row or file."""
    if table is None:
        return {}
    return {
        "files": [plain(file, "file group rows read left_out") for file in table.table.files],
        "oddities": [
            {
                **plain(odd.place, "file row line column"),
                **plain(odd, "code found done left_out"),
            }
            for odd in table.oddities
        ],
    }


def oddity_lines(table: CheckedTable, *, all_of_them: str = "--json") -> Iterator[str]:
    """Yield what became of the rows of every file, and what was odd, some of each kind.

    Without a map it is said first what the columns were taken for. ``all_of_them`` is the option that
    prints every oddity.
    """
    if table.map == PLAIN:
        yield one_line(f"without a map: {table.scheme.title}", _WIDTH)
    for file in table.table.files:
        left = f", {file.left_out:,} left out" if file.left_out else ""
        yield f"{one_line(file.file, _WIDTH)}: {plural(file.rows, 'row')}, {file.read:,} read{left}"
    if not table.oddities:
        return
    counted = ", ".join(f"{count:,} {code}" for code, count in kinds(table.oddities).items())
    yield f"odd: {counted}"
    for code, count in reversed(kinds(table.oddities).items()):  # what is rare is news
        some = [oddity for oddity in table.oddities if oddity.code == code]
        yield from (f"  {one_line(str(oddity), _WIDTH)}" for oddity in some[:MOST_SHOWN])
        if count > MOST_SHOWN:
            yield f"  ... and {count - MOST_SHOWN:,} more of {code}, all of them in {all_of_them}"
