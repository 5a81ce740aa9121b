"""What a cell says: nothing, one value, or several in whatever notation they were written."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quality.agreement.annotations import is_blank
from quality.tables.records import folded
from quality.tables.table_map import Values

_WHOLE_FLOAT = re.compile(r"([-+]?\d{1,15})\.0+")
_FLOAT = re.compile(r"[-+]?(\d{1,20}(\.\d{0,30})?|\.\d{1,30})([eE][-+]?\d{1,2})?")
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class CellValue:
    """What a cell stands for: as a map says it, and what had to be changed for it."""

    value: object
    """Text, a number, or a tuple of texts."""
    change: str = ""
    """What was done, where the value is not simply what was written; empty otherwise."""


def says_nothing(raw: object, how: Values) -> bool:
    """Tell whether a cell holds what a map names as standing for no answer."""
    return folded("" if raw is None else raw) in {folded(name) for name in how.blank}


def cell_value(raw: object, how: Values, *, numeric: bool = False) -> CellValue | None:
    """Return what a cell says, or None where it says nothing.

    Args:
        raw: the cell: text, or any JSON value.
        how: the values and patterns of the map.
        numeric: whether numbers are answers themselves, and not names of labels.
    """
    if is_blank(raw) or says_nothing(raw, how):
        return None
    if numeric and (number := _number(raw)) is not None:
        return number
    if not how.several:
        return _one(raw, how)
    members = [member for member in _members(raw, how.separators, 0) if not is_blank(member)]
    if not members:
        return None
    read = [_one(member, how) for member in members]
    values = [value for one in read for value in _listed(one.value)]
    return CellValue(
        tuple(dict.fromkeys(values)), "; ".join(one.change for one in read if one.change)
    )


def _one(raw: object, how: Values) -> CellValue:
    text = plain_text(raw)
    if text is None:
        return CellValue(raw)
    if text in how.values:
        return CellValue(how.values[text])
    known = {folded(name): value for name, value in how.values.items()}
    if (value := known.get(folded(text))) is not None:
        return CellValue(value, f"read as {value!r}")
    if found := _WHOLE_FLOAT.fullmatch(text):
        whole = found[1].removeprefix("+")
        value = known.get(whole, whole)
        return CellValue(value, f"read as {whole}")
    for label, pattern in how.patterns.items():
        if re.search(pattern, text, re.IGNORECASE):
            return CellValue(label)
    return CellValue(text)


def _number(raw: object) -> CellValue | None:
    """Read a number, with a comma for a point if need be."""
    text = plain_text(raw) or ""
    value = number_in(text)
    if value is None:
        return None
    return CellValue(value, "" if _FLOAT.fullmatch(text) else f"read as {value!r}")


def name_in(cell: object) -> str:
    """Return a cell as a name: without spaces at its ends, and a number without its ``.0``."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if is_blank(cell) else " ".join(str(cell).split())


def number_in(text: str) -> float | None:
    """Return the number that a text is, with a comma for a point if need be; None: it is none."""
    for written in (text, text.replace(",", ".", 1)):
        if _FLOAT.fullmatch(written):
            return float(written)
    return None


def plain_text(raw: object) -> str | None:
    """Return a plain value as text; None of what is none, e.g. an object."""
    if isinstance(raw, str):
        return raw.strip()
    if isinstance(raw, bool):
        return str(raw).lower()
    if isinstance(raw, (int, float)):
        return repr(raw)
    return None


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, tuple) else (value,)


def _members(raw: object, separators: str, depth: int) -> list[object]:
    """Return the members of a list, however deep they lie, or of a text with separators."""
    if isinstance(raw, str):
        read = _literal(raw) if raw.strip()[:1] in ("[", "{", "(") else None
        if read is None or isinstance(read, str):
            return list(re.split(f"[{re.escape(separators)}]", raw)) if separators else [raw]
        raw = read
    if isinstance(raw, Mapping):  # {"choices": [...]}
        lists = [value for value in raw.values() if isinstance(value, (list, tuple, set))]
        raw = lists[0] if len(lists) == 1 else repr(raw)
    if isinstance(raw, set):  # written by a program that had no order, and read without one
        raw = sorted(raw, key=repr)
    if isinstance(raw, (list, tuple)) and depth < _DEEPEST:
        return [inner for member in raw for inner in _members(member, separators, depth + 1)]
    return [raw]


def _literal(text: str) -> object:
    """Read a list in the notation of JSON or of Python."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
