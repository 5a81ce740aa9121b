"""All that is known of the disagreement on one labelled dimension, in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from quality.agreement.annotations import Answer
from quality.annotation_qc.findings import QcSettings
from quality.disagreement.adjudication import (
    AdjudicatedRow,
    ExpertLabel,
    OpenItem,
    gold_with_notes,
    to_adjudicate,
)
from quality.disagreement.coherence import (
    LabelMean,
    PolarityMatch,
    PolarityRow,
    interval_by_label,
    polarity_match,
    split_polarity,
)
from quality.disagreement.confusions import ConfusedPair, confused_pairs
from quality.disagreement.difficulty import DifficultyRow, difficulty_table
from quality.disagreement.given import LabelShare, RatingSpread, label_shares, rating_spread
from quality.disagreement.lengths import LengthEffect, Words, length_effects
from quality.disagreement.references import ReferenceRow, against_reference
from quality.disagreement.wheel import AdjacencyRow, adjacency
from scenarios.schemes.model import Dimension, Scheme
from scenarios.terms import LabelValue

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DisagreementReport:
    """The disagreement on one dimension; rows over all items come first, then those of groups."""

    dimension: str
    given: tuple[LabelShare, ...]
    """How often each label was given, and is gold."""
    ratings: tuple[RatingSpread, ...]
    """On each interval dimension of the same level."""
    difficulty: tuple[DifficultyRow, ...]
    lengths: tuple[LengthEffect, ...]
    """Empty where no text is known."""
    confused: tuple[ConfusedPair, ...]
    adjacency: tuple[AdjacencyRow, ...]
    """Empty for labels without a wheel."""
    split_polarity: tuple[PolarityRow, ...]
    """Empty for labels without a polarity, as are the matches."""
    polarity_matches: tuple[PolarityMatch, ...]
    means: tuple[LabelMean, ...]
    """The ratings on each interval dimension of the same level beside each label."""
    references: tuple[ReferenceRow, ...]
    """Each annotator against the gold labels; empty without gold labels."""
    to_adjudicate: tuple[OpenItem, ...]
    gold: tuple[AdjudicatedRow, ...]
    """The majority or the expert's label, with its note."""


def disagreement_report(
    scheme: Scheme,
    dimension: Dimension,
    answers: Iterable[Answer],
    *,
    groups: Mapping[str, str] | None = None,
    gold: Mapping[str, LabelValue] | None = None,
    expert: Mapping[str, ExpertLabel] | None = None,
    words: Words | None = None,
    settings: QcSettings | None = None,
) -> DisagreementReport:
    """Describe how annotators disagree on a labelled dimension.

    Args:
        scheme: the scheme of the dimension.
        dimension: the labels.
        answers: checked answers, on this and on other dimensions.
        groups: item -> group.
        gold: item -> gold label, where there are gold labels to hold annotators against.
        expert: item -> what an expert decided.
        words: how long texts are, where they are known.
        settings: thresholds; those of CEI if None.

    Raises:
        UsageError: an annotator answered an item twice.
    """
    answers = list(answers)
    rated = [
        other
        for other in scheme.dimensions
        if other.measurement == "interval" and other.level == dimension.level
    ]
    polar = [other for other in rated if other.id == dimension.polarity_on]
    settled = gold_with_notes(dimension, answers, expert)
    decided = {row.item: row.label for row in settled if row.label is not None}
    return DisagreementReport(
        dimension=dimension.id,
        given=tuple(label_shares(dimension, answers, decided, groups=groups)),
        ratings=_of_each(rated, lambda other: rating_spread(other, answers, groups=groups)),
        difficulty=tuple(difficulty_table(dimension, answers, groups=groups)),
        lengths=tuple(length_effects(dimension, answers, words or {}, groups=groups)),
        confused=tuple(confused_pairs(dimension, answers, groups=groups)),
        adjacency=tuple(adjacency(dimension, answers, groups=groups)),
        split_polarity=_of_each(
            polar, lambda other: split_polarity(dimension, other, answers, groups=groups)
        ),
        polarity_matches=_of_each(
            polar, lambda other: polarity_match(dimension, other, answers, groups=groups)
        ),
        means=_of_each(
            rated,
            lambda other: interval_by_label(dimension, other, answers, gold=gold, groups=groups),
        ),
        references=tuple(
            against_reference(dimension, answers, gold, groups=groups) if gold else ()
        ),
        to_adjudicate=tuple(to_adjudicate(scheme, dimension, answers, settings=settings)),
        gold=tuple(settled),
    )


def _of_each(
    others: Iterable[Dimension], rows: Callable[[Dimension], Iterable[T]]
) -> tuple[T, ...]:
    """Return the rows of several other dimensions, one after the other."""
    return tuple(row for other in others for row in rows(other))
