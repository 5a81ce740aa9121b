"""What was odd in a table: where, what was found, and what was done about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Place:
    """A cell of a file."""

    file: str
    row: int | None = None
    """Number of the data row, from 1; None: the file as a whole."""
    line: int | None = None
    """Line of the file on which the row begins, from 1."""
    column: str = ""


@dataclass(frozen=True, slots=True)
class Oddity:
    """One thing that was not as it should be."""

    place: Place
    code: str
    """What kind of thing, in a word or two, e.g. ``unknown_value``."""
    found: str
    done: str
    left_out: bool = False
    """Whether the row as a whole is not used."""

    def __str__(self) -> str:
        """Return ``file:line: row 3, column x: found; what was done`` on one line."""
        where = (
            self.place.file if self.place.line is None else f"{self.place.file}:{self.place.line}"
        )
        row = [] if self.place.row is None else [f"row {self.place.row}"]
        column = [f"column {self.place.column!r}"] if self.place.column else []
        inside = ", ".join([*row, *column])
        return f"{where}: {inside + ': ' if inside else ''}{self.found}; {self.done}"


def shown(value: object) -> str:
    """Return a value as an oddity quotes it: on one line, and not too long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def kinds(oddities: Iterable[Oddity]) -> dict[str, int]:
    """Return how many oddities there are of each kind, the commonest first."""
    return dict(Counter(oddity.code for oddity in oddities).most_common())
