"""Show answers side by side, without names, for an expert who decides."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from quality.agreement.annotations import majority
from quality.review.exhibits import ReviewDialogue
from quality.review.forms import FormField, FormSection, shown_value
from scenarios.fingerprint import seed_from
from scenarios.reviews import Adjudication, Item, Opinion, ReviewStudy, Sheet
from scenarios.terms import LabelValue


@dataclass(frozen=True, slots=True)
class AdjudicationRow:
    """One question, and everybody's answer to it."""

    field: FormField
    answers: tuple[str, ...]
    """As people read them, in the order of the columns."""
    differ: bool
    odd: tuple[bool, ...]
    """Which answers are not the commonest one."""
    declared: str
    proposed: LabelValue | None
    """What was settled before, or else what most say."""


@dataclass(frozen=True, slots=True)
class SideBySide:
    """An item as the expert sees it."""

    rows: tuple[AdjudicationRow, ...]
    opinions: tuple[Opinion, ...]
    columns: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """One line of the list of items."""

    item: Item
    answers: int
    differing: int
    """Questions that were answered differently."""
    confirmed: int
    """Answers that confirm an issue."""
    verdict: str
    """What the expert decided; empty before."""


def in_blind_order(study: ReviewStudy, sheets: Sequence[Sheet]) -> list[Sheet]:
    """Return the sheets of an item in an order that does not follow the annotators."""
    return sorted(sheets, key=lambda s: seed_from(study.seed, s.item.case, s.item.arm, s.annotator))


def side_by_side(
    sections: Sequence[FormSection],
    sheets: Sequence[Sheet],
    exhibit: ReviewDialogue,
    settled: Adjudication | None,
) -> SideBySide:
    """Lay the answers of an item beside each other."""
    given = [{(g.turn, g.dimension): g.value for g in sheet.labels} for sheet in sheets]
    final = {(g.turn, g.dimension): g.value for g in settled.labels} if settled else {}
    rows = []
    for section in sections:
        for field in section.fields:
            key = (field.turn, field.dimension.id)
            values = [labels.get(key) for labels in given]
            rows.append(_row(field, values, exhibit.declared.get(key), final.get(key)))
    opinions = tuple(sheet.opinion or Opinion() for sheet in sheets)
    return SideBySide(tuple(rows), opinions, len(sheets))


def waiting_line(item: Item, sheets: Sequence[Sheet], settled: Adjudication | None) -> Waiting:
    """Return an item for the list; its dialogue, which takes long to read, is not needed."""
    given: defaultdict[tuple[int | None, str], set[LabelValue]] = defaultdict(set)
    for sheet in sheets:
        for label in sheet.labels:
            given[label.turn, label.dimension].add(label.value)
    return Waiting(
        item=item,
        answers=len(sheets),
        differing=sum(len(values) > 1 for values in given.values()),
        confirmed=sum(bool(sheet.opinion and sheet.opinion.issue) for sheet in sheets),
        verdict="" if settled is None else settled.verdict or "settled",
    )


def _row(
    field: FormField,
    values: Sequence[LabelValue | None],
    declared: LabelValue | None,
    final: LabelValue | None,
) -> AdjudicationRow:
    given = [value for value in values if value is not None]
    common = Counter(given).most_common(1)[0][0] if given else None
    return AdjudicationRow(
        field=field,
        answers=tuple(shown_value(field.dimension, value) for value in values),
        differ=len(set(given)) > 1,
        odd=tuple(value is not None and value != common for value in values),
        declared=shown_value(field.dimension, declared) if declared is not None else "",
        proposed=final if final is not None else majority(given),
    )
