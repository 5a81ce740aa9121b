"""What kind of question a column of answers answers, told from the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from quality.agreement.annotations import is_blank
from quality.agreement.labels import ANY_OTHER
from quality.tables.cells import number_in, plain_text
from quality.tables.records import folded
from scenarios.schemes.model import Dimension, Label, Level, Measurement

Numbers = Literal["nominal", "ordinal", "interval"]
"""As what answers that are numbers count."""
BLANKS = ("na", "n/a", "#n/a", "nan", "<na>", "null")
"""What stands for no answer besides an empty cell, in any case."""
_LONGEST_LABEL = 64
_MOST_LABELS = 100
_NUMBERS = 0.9
"""From which share of numbers on a column is one of numbers, and what else it holds a mistake."""
_MOST_POINTS = 11
"""A rating scale has no more points than 0 to 10."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A dimension made from the answers on it."""

    dimension: Dimension
    spellings: dict[str, str]
    """What is written, and the label it stands for, where the two differ only in the notation of
    a number."""


def answers_in(cells: Sequence[object]) -> list[str]:
    """Return what is written in the cells that hold an answer."""
    texts = [plain_text(cell) for cell in cells if not is_blank(cell)]
    return [text for text in texts if text is not None and folded(text) not in BLANKS]


def is_prose(cells: Sequence[object]) -> bool:
    """Tell whether cells hold words of people's own, or lists, and no labels or numbers."""
    texts = [None if is_blank(cell) else plain_text(cell) for cell in cells]
    if any(text is None and not is_blank(cell) for text, cell in zip(texts, cells, strict=True)):
        return True
    answers = answers_in(cells)
    if are_numbers(answers):
        return False
    return len({folded(text) for text in answers}) > _MOST_LABELS or any(
        len(text) > _LONGEST_LABEL for text in answers
    )


def measured(
    name: str,
    column: str,
    cells: Sequence[object],
    *,
    level: Level,
    numbers: Numbers | None,
    several: bool = False,
) -> Measured:
    """Make a dimension from the answers on it.

    Answers that are no numbers are labels without an order. Numbers are what ``numbers`` says; if
    None, two different ones are labels, up to eleven different whole ones a scale from low to high,
    and all others measure something.

    Args:
        name: the id of the dimension.
        column: what the file calls it.
        cells: the cells that its answers are in.
        level: of the dimension.
        numbers: as what numbers count.
        several: whether somebody gave more than one label; then all are labels without an order.
    """
    answers = answers_in(cells)
    dimension = partial(
        Dimension, id=name, level=level, title=column, question=f"{column}, as annotated"
    )
    if not are_numbers(answers):
        unordered: Measurement = "multi" if several else "nominal"
        labels = _labels(_spelt(answers))
        return Measured(dimension(measurement=unordered, labels=labels), {})
    values = {text: value for text in answers if (value := number_in(text)) is not None}
    distinct = sorted(set(values.values()))
    kind = "multi" if several else numbers or _kind(distinct)
    if kind == "interval":
        low, high = distinct[0], distinct[-1]
        bounds = (low, high if high > low else low + 1)
        return Measured(dimension(measurement=kind, range=bounds), {})
    labels = _labels([_shown(value) for value in distinct])
    spellings = {text: _shown(value) for text, value in values.items() if text != _shown(value)}
    return Measured(dimension(measurement=kind, labels=labels), spellings)


def are_numbers(answers: Sequence[str]) -> bool:
    """Tell whether at least nine answers of ten are numbers."""
    numbers = sum(number_in(text) is not None for text in answers)
    return bool(answers) and numbers >= _NUMBERS * len(answers)


def _kind(distinct: Sequence[float]) -> Numbers:
    if len(distinct) <= 2:
        return "nominal"
    whole = all(value.is_integer() for value in distinct)
    return "ordinal" if whole and len(distinct) <= _MOST_POINTS else "interval"


def _shown(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def _spelt(answers: Sequence[str]) -> list[str]:
    """Return the commonest spelling of every label, in the order of the labels."""
    spellings: dict[str, Counter[str]] = {}
    for text in answers:
        spellings.setdefault(folded(text), Counter())[text] += 1
    return [spellings[key].most_common(1)[0][0] for key in sorted(spellings)]


def _labels(names: Sequence[str]) -> tuple[Label, ...]:
    """Return labels of these names; where everybody said the same there is one that nobody chose."""
    if len(names) < 2:
        names = [*names, ANY_OTHER]
    return tuple(Label(id=name, definition=f"Written {name!r} in the file.") for name in names)
