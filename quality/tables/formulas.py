"""Cells of tables that people open in a spreadsheet: text stays text, numbers are told from it."""

from __future__ import annotations

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def neutral(cell: str) -> str:
    """Return a cell that a spreadsheet shows as text instead of computing it.

    An apostrophe goes before what would begin a formula; :func:`original` takes it away again.
    Plain numbers stay as they are.
    """
    if not _FORMULA.match(cell) or is_number(cell):
        return cell
    return f"'{cell}"


def original(cell: str) -> str:
    """Return the cell that :func:`neutral` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell


def is_number(text: str) -> bool:
    """Whether a cell is a plain decimal number."""
    return re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", text) is not None
