"""What was odd in files: in JSON, and as lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hipo.cli.console import one_line, plain, plural
from quality.tables.checking import CheckedTable
from quality.tables.oddities import kinds

MOST_SHOWN = 40
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


def oddity_lines(table: CheckedTable) -> Iterator[str]:
    """Yield what became of the rows of every file, and what was odd, as far as it fits on a page."""
    for file in table.table.files:
        left = f", {file.left_out:,} left out" if file.left_out else ""
        yield f"{one_line(file.file, _WIDTH)}: {plural(file.rows, 'row')}, {file.read:,} read{left}"
    if not table.oddities:
        return
    counted = ", ".join(f"{count:,} {code}" for code, count in kinds(table.oddities).items())
    yield f"odd: {counted}"
    for oddity in table.oddities[:MOST_SHOWN]:
        yield f"  {one_line(str(oddity), _WIDTH)}"
    if len(table.oddities) > MOST_SHOWN:
        yield f"  ... and {len(table.oddities) - MOST_SHOWN:,} more, all of them in --json"
