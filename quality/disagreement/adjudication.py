"""What an expert has to decide, and the gold labels with a note on how each came about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from quality.agreement.annotations import Answer, labels_by_item, majority
from quality.annotation_qc.findings import QcSettings
from quality.annotation_qc.qc import disagreements
from quality.disagreement.coherence import CommonPole, common_pole
from quality.disagreement.difficulty import difficulty
from scenarios.schemes.model import Dimension, Scheme
from scenarios.terms import LabelValue

Basis = Literal["unanimous", "majority", "expert", "single", "open"]
"""What a gold label rests on: the votes, the expert, one annotator alone, or nothing yet."""


@dataclass(frozen=True, slots=True)
class ExpertLabel:
    """What the expert decided about an item, and why."""

    label: LabelValue
    note: str = ""


@dataclass(frozen=True, slots=True)
class OpenItem:
    """An item for the expert: no label has a majority, or the ratings lie far apart."""

    item: str
    undecided: bool
    """Whether no label has a majority; else it is here for its ratings alone."""
    said: Mapping[str, LabelValue]
    """The label of each annotator."""
    beside: Mapping[str, Mapping[str, LabelValue]]
    """By annotator, what else was said of the item: dimension -> value."""
    polarity: CommonPole | None
    """The side on which all rated it; None for labels without a polarity."""
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AdjudicatedRow:
    """The label of an item, on what it rests, and the note that goes with it."""

    item: str
    label: LabelValue | None
    """None: the votes are split and no expert has decided."""
    basis: Basis
    note: str
    said: Mapping[str, LabelValue] = field(default_factory=dict)


def to_adjudicate(
    scheme: Scheme,
    dimension: Dimension,
    answers: Iterable[Answer],
    *,
    settings: QcSettings | None = None,
) -> list[OpenItem]:
    """List the items of a labelled dimension that an expert has to look at, by name.

    Args:
        scheme: its interval dimensions of the same level are looked at, too.
        dimension: the labelled dimension.
        answers: checked answers on all dimensions.
        settings: from which range on ratings lie far apart; that of CEI if None.

    Raises:
        UsageError: an annotator answered an item twice.

    Source: CEI, section 4, level 4.
    """
    answers = list(answers)
    labels = labels_by_item(answers, dimension.id)
    reasons: dict[str, list[str]] = defaultdict(list)
    for item, given in labels.items():
        if difficulty(list(given.values())) == "split":
            reasons[item].append(f"no majority among {len(given)} people")
    undecided = set(reasons)
    for finding in disagreements(scheme, answers, settings or QcSettings()):
        if finding.code == "wide_range" and finding.item in labels:
            reasons[finding.item].append(f"{finding.dimension} {finding.reason}")
    beside: dict[str, dict[str, dict[str, LabelValue]]] = defaultdict(lambda: defaultdict(dict))
    for answer in answers:
        if answer.item in reasons and answer.dimension != dimension.id:
            beside[answer.item][answer.annotator][answer.dimension] = answer.value
    poles = _poles(scheme, dimension, answers, labels)
    return [
        OpenItem(
            item,
            item in undecided,
            labels[item],
            {annotator: dict(values) for annotator, values in beside[item].items()},
            poles.get(item),
            tuple(reasons[item]),
        )
        for item in sorted(reasons)
    ]


def gold_with_notes(
    dimension: Dimension,
    answers: Iterable[Answer],
    expert: Mapping[str, ExpertLabel] | None = None,
) -> list[AdjudicatedRow]:
    """Settle every item: the label of more than half, or else the expert's, with a note.

    What the expert says of an item with a majority changes nothing but the note: the votes stand,
    and that the expert sees it differently is kept.

    Raises:
        UsageError: an annotator answered an item twice.

    Source: CEI, section 4, level 4.
    """
    decided = expert or {}
    votes = labels_by_item(answers, dimension.id)
    return [
        _settled(item, votes.get(item, {}), decided.get(item))
        for item in sorted({*votes, *decided})
    ]


def _settled(
    item: str, said: Mapping[str, LabelValue], expert: ExpertLabel | None
) -> AdjudicatedRow:
    level = difficulty(list(said.values()))
    note = expert.note if expert else ""
    if level in ("unanimous", "majority"):
        label = majority(list(said.values()))
        if expert and expert.label != label:
            note = f"the expert would say {expert.label!r}{f': {note}' if note else ''}"
        elif level == "majority" and not note:
            others = ", ".join(f"{who} {what!r}" for who, what in said.items() if what != label)
            note = f"differs: {others}"
        return AdjudicatedRow(item, label, level, note, said)
    if expert:
        return AdjudicatedRow(item, expert.label, "expert", note, said)
    if len(said) == 1:
        return AdjudicatedRow(
            item, next(iter(said.values())), "single", "one annotator alone", said
        )
    return AdjudicatedRow(item, None, "open", "no majority, and no expert has decided", said)


def _poles(
    scheme: Scheme,
    dimension: Dimension,
    answers: Iterable[Answer],
    labels: Mapping[str, Mapping[str, LabelValue]],
) -> dict[str, CommonPole]:
    if dimension.polarity_on is None:
        return {}
    interval = scheme.dimension(dimension.polarity_on)
    ratings = labels_by_item(answers, interval.id)
    return {
        item: common_pole(interval, given, ratings.get(item, {})) for item, given in labels.items()
    }
