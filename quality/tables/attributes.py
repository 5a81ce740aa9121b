"""Columns of long tables that say something about items, annotators or rows, and are no answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from quality.agreement.annotations import is_blank
from quality.tables.cells import number_in, plain_text
from quality.tables.header import Header
from quality.tables.records import folded

ITEMS = 20
"""On how many items with several answers all have to be the same: of fewer, people may have agreed."""
_ROWS_OF_EACH = 10
"""Of how many rows of each annotator all have to be the same."""
_NUMBERED = 50
"""From how many rows on whole numbers that never come twice number the rows."""
_ANSWER = "answer."
"""So begins what Mechanical Turk calls an answer."""
_Rows = Sequence[Mapping[str, object]]


def attributes(header: Header, rows: _Rows, names: Sequence[str]) -> list[str]:
    """Return which columns are no answers, by what they hold.

    That is so where each annotator has the same on all items (their age), where whole numbers number
    the rows, and, beside a column that is called an answer, where everybody has the same on each item
    (its condition).

    Args:
        header: of a table with a row per item and annotator.
        rows: its cells by column.
        names: the columns that may hold answers; those that are called so are let alone.
    """
    called = [n for n in names if n == header.value or n.casefold().startswith(_ANSWER)]
    items: defaultdict[tuple[str, str], list[Mapping[str, object]]] = defaultdict(list)
    people: defaultdict[str, list[Mapping[str, object]]] = defaultdict(list)
    for row in rows:
        people[_written(row, header.annotator)].append(row)
        items[_written(row, header.dialogue), _written(row, header.item)].append(row)
    shared = [own for own in items.values() if len(_among(own, header.annotator)) > 1]
    of_items = bool(called) and len(shared) >= ITEMS
    of_people = len(people) > 1 and all(len(own) >= _ROWS_OF_EACH for own in people.values())
    return [
        name
        for name in names
        if name not in called
        and (
            (of_items and _one_in_each(name, shared))
            or (of_people and _one_in_each(name, people.values()) and len(_among(rows, name)) > 1)
            or _number_rows(name, rows)
        )
    ]


def _written(row: Mapping[str, object], column: str | None) -> str:
    cell = None if column is None else row.get(column)
    return "" if is_blank(cell) else folded(cell)


def _among(rows: _Rows, column: str | None) -> set[str]:
    return {_written(row, column) for row in rows}


def _one_in_each(name: str, groups: Iterable[_Rows]) -> bool:
    return all(len(_among(own, name)) == 1 for own in groups)


def _number_rows(name: str, rows: _Rows) -> bool:
    if len(rows) < _NUMBERED:
        return False
    numbers = [number_in(plain_text(row.get(name)) or "") for row in rows]
    whole = all(number is not None and number.is_integer() for number in numbers)
    return whole and len(set(numbers)) == len(rows)
