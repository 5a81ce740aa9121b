"""How people and models kept to the labels they were offered: other words, unreadable answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from quality.agreement.annotations import RawAnswer, is_blank, read_value
from scenarios.schemes.model import Scheme
from scenarios.terms import LabelValue

_SHOWN = 80


@dataclass(frozen=True, slots=True)
class VocabularyRow:
    """The answers of one annotator or model on one dimension, by how they were worded."""

    annotator: str
    dimension: str
    answers: int
    """All that were asked for, blank ones included."""
    in_vocabulary: int
    """Given as a label, a number or the name of a point, whatever the case of the letters."""
    harmonised: Mapping[tuple[str, LabelValue], int]
    """(as written, the label it was taken for) -> how often."""
    unreadable: Mapping[str, int]
    """As written -> how often; such an answer counts as wrong wherever it is scored."""
    blank: int


def vocabulary_table(scheme: Scheme, raw: Iterable[RawAnswer]) -> list[VocabularyRow]:
    """Count per annotator and dimension how the answers were worded.

    Answers on dimensions that the scheme does not have are left out: level 1 of quality control
    reports them.

    Source: CEI, section 6 and table 6.
    """
    dimensions = {dimension.id: dimension for dimension in scheme.dimensions}
    cells: dict[tuple[str, str], list[object]] = {}
    for row in raw:
        if row.dimension in dimensions:
            cells.setdefault((row.annotator, row.dimension), []).append(row.value)
    order = list(dimensions)
    rows = []
    for annotator, name in sorted(cells, key=lambda key: (key[0], order.index(key[1]))):
        harmonised: Counter[tuple[str, LabelValue]] = Counter()
        unreadable: Counter[str] = Counter()
        blank = 0
        values = cells[annotator, name]
        for value in values:
            read = None if is_blank(value) else read_value(dimensions[name], value)
            if is_blank(value):
                blank += 1
            elif read is None:
                unreadable[_written(value)] += 1
            elif read[1] and _written(value).casefold() != str(read[0]).casefold():
                harmonised[_written(value), read[0]] += 1
        kept = len(values) - blank - harmonised.total() - unreadable.total()
        rows.append(
            VocabularyRow(
                annotator,
                name,
                len(values),
                kept,
                dict(harmonised.most_common()),
                dict(unreadable.most_common()),
                blank,
            )
        )
    return rows


def _written(value: object) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
