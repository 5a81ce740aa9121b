"""Questions with options that rows of a table put: what is listed, what is right, who chose what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from string import ascii_uppercase

from quality.agreement.annotations import is_blank
from quality.tables.cells import cell_value
from quality.tables.layout import QuestionLayout
from quality.tables.oddities import Oddity, Place, shown
from quality.tables.records import folded


@dataclass(frozen=True, slots=True)
class TableQuestion:
    """One question: which of some options describes a turn."""

    dialogue: str
    turn: int
    place: Place
    options: tuple[str, ...]
    """As they are written, in their order."""
    labels: tuple[str | None, ...]
    """The label that each option stands for by the map; None: by none."""
    right: int
    """The place of the right option, from 0."""
    chosen: Mapping[str, int | None]
    """By who answered the place of what they chose; None where that is no option."""


@dataclass(frozen=True, slots=True)
class QuestionReader:
    """Reads the question of one row; what is odd about it goes to ``note``."""

    layout: QuestionLayout
    note: Callable[[Oddity], None]

    def read(
        self, cells: Mapping[str, object], dialogue: str, turn: int, at: Callable[[str], Place]
    ) -> TableQuestion | None:
        """Return the question of a row; None where it puts none.

        Args:
            cells: of the row.
            dialogue: the dialogue that the row is of.
            turn: what the question is about.
            at: says where a column of the row stands.
        """
        options = tuple(_text(cells.get(column)) for column in self.layout.options)
        written = [cells.get(column) for column in self.layout.right]
        if all(map(self._is_none, written)):
            if any(not self._is_none(option) for option in options):
                found = "options, and none of them is right"
                self._odd(at(self.layout.options[0]), "no_right_option", found, "no question")
            return None
        empty = [c for c, o in zip(self.layout.options, options, strict=True) if self._is_none(o)]
        if empty:
            self._odd(at(empty[0]), "no_option", "an empty cell", "the question is left out")
            return None
        places = {column: self._place(cells.get(column), options) for column in self.layout.right}
        known = [place for place in places.values() if place is not None]
        column = self.layout.right[0]
        if not known:
            found = " and ".join(shown(value) for value in written)
            self._odd(at(column), "no_such_option", found, "the question is left out")
            return None
        if len(set(known)) > 1 or len(known) < len(written):
            found = " and ".join(shown(value) for value in written)
            done = f"option {ascii_uppercase[known[0]]} is taken to be right"
            self._odd(at(column), "right_option", found, done)
        labels = tuple(self._label(option) for option in options)
        return TableQuestion(
            dialogue, turn, at(column), options, labels, known[0], dict(self._chosen(cells, options))
        )  # fmt: skip

    def _chosen(
        self, cells: Mapping[str, object], options: tuple[str, ...]
    ) -> Iterator[tuple[str, int | None]]:
        for who, column in self.layout.chosen:
            if not self._is_none(cells.get(column)):
                yield who, self._place(cells.get(column), options)

    def _place(self, raw: object, options: tuple[str, ...]) -> int | None:
        """Return which option a number, a letter or a text names."""
        text = _text(raw)
        for place, option in enumerate(options):
            number = str(place + self.layout.first)
            if folded(text) in (number, f"{number}.0", ascii_uppercase[place].casefold()):
                return place
            if folded(text) == folded(option):
                return place
        return None

    def _label(self, option: str) -> str | None:
        read = cell_value(option, self.layout.how)
        return read.value if read is not None and isinstance(read.value, str) else None

    def _is_none(self, raw: object) -> bool:
        return is_blank(raw) or folded(_text(raw)) in {folded(n) for n in self.layout.none}

    def _odd(self, place: Place, code: str, found: str, done: str) -> None:
        self.note(Oddity(place, code, found, done))


def _text(raw: object) -> str:
    return "" if raw is None else str(raw).strip()
