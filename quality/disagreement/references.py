"""Each annotator held against a reference: the gold labels, or what was released under a name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from quality.agreement.annotations import Answer, by_group
from scenarios.schemes.model import Dimension
from scenarios.terms import LabelValue


@dataclass(frozen=True, slots=True)
class LabelDifference:
    """One answer that is not the reference."""

    item: str
    annotator: str
    given: LabelValue
    reference: LabelValue


@dataclass(frozen=True, slots=True)
class ReferenceRow:
    """How often an annotator gave the label of the reference, among the items that have one."""

    group: str
    annotator: str
    """Empty: all annotators together."""
    items: int
    differing: tuple[LabelDifference, ...]

    @property
    def same(self) -> int:
        """How many answers are the reference."""
        return self.items - len(self.differing)

    @property
    def share(self) -> float | None:
        """The share of answers that are the reference, in ``[0, 1]``; None without items."""
        return self.same / self.items if self.items else None


def against_reference(
    dimension: Dimension,
    answers: Iterable[Answer],
    reference: Mapping[str, LabelValue],
    *,
    groups: Mapping[str, str] | None = None,
) -> list[ReferenceRow]:
    """Hold every annotator against one label per item, e.g. the gold labels.

    Args:
        dimension: which answers count.
        answers: of any dimensions.
        reference: item -> label; items without one are left out.
        groups: item -> group: rows per group follow those over all items (group "").

    Returns:
        Per group a row over all annotators (annotator ""), then one per annotator.

    Source: CEI, section 5.3.
    """
    return _rows(dimension, answers, lambda answer: reference.get(answer.item), groups)


def against_released(
    dimension: Dimension, raw: Iterable[Answer], released: Iterable[Answer]
) -> list[ReferenceRow]:
    """Hold what annotators exported against what was released under their names.

    Args:
        dimension: which answers count.
        raw: the answers as each annotator gave them.
        released: the answers of the same people, by the same names, on the same items.

    Returns:
        As :func:`against_reference`; answers that are on one side only are left out.
    """
    known = {(a.item, a.annotator): a.value for a in released if a.dimension == dimension.id}
    return _rows(dimension, raw, lambda answer: known.get((answer.item, answer.annotator)))


def _rows(
    dimension: Dimension,
    answers: Iterable[Answer],
    reference_of: Callable[[Answer], LabelValue | None],
    groups: Mapping[str, str] | None = None,
) -> list[ReferenceRow]:
    asked = [answer for answer in answers if answer.dimension == dimension.id]
    rows = []
    for group, members in by_group(asked, groups):
        pairs: dict[str, list[LabelDifference]] = defaultdict(list)
        for answer in members:
            expected = reference_of(answer)
            if expected is not None:
                pairs[answer.annotator].append(
                    LabelDifference(answer.item, answer.annotator, answer.value, expected)
                )
        everybody = [pair for _, own in sorted(pairs.items()) for pair in own]
        rows += [
            ReferenceRow(
                group, name, len(own), tuple(pair for pair in own if pair.given != pair.reference)
            )
            for name, own in (("", everybody), *sorted(pairs.items()))
        ]
    return rows
