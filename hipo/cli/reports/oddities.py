"""What was odd in files: in JSON, and as lines for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from hipo.cli.terminal.console import one_line, plain
from quality.tables.checking import CheckedTable
from quality.tables.derived_map import PLAIN
from quality.tables.oddities import Oddity, kinds
from scenarios.errors import LINES_NAMED, same_on
from scenarios.plural import plural

MOST_SHOWN = 10
"""Different oddities of one kind that the text shows."""
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
        alike = _alike(oddity for oddity in table.oddities if oddity.code == code)
        for same in alike[:MOST_SHOWN]:
            yield f"  {one_line(str(same[0]), _WIDTH)}{_where_else(same)}"
        if len(alike) > MOST_SHOWN:
            rest = count - sum(map(len, alike[:MOST_SHOWN]))
            yield f"  ... and {rest:,} more of {code}, all of them in {all_of_them}"
        elif any(len(same) > LINES_NAMED for same in alike):
            yield f"  every line with {code} is in {all_of_them}"


def _where_else(same: list[Oddity]) -> str:
    """Return on which lines something is odd, or in which rows of a file that has no lines."""
    if same[0].place.line is None:
        return same_on((odd.place.row for odd in same), "rows")
    return same_on(odd.place.line for odd in same)


def _alike(oddities: Iterable[Oddity]) -> list[list[Oddity]]:
    """Return oddities in groups of those that say the same about a column."""
    groups: dict[Oddity, list[Oddity]] = {}
    for odd in oddities:
        anywhere = replace(odd.place, row=None, line=None)
        groups.setdefault(replace(odd, place=anywhere), []).append(odd)
    return list(groups.values())
