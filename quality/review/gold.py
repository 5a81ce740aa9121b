"""How often an annotator agrees with the gold labels, shown at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from quality.review.exhibits import ReviewDialogue
from scenarios.reviews import Adjudication, ReviewStudy, Sheet
from scenarios.schemes.model import Scheme
from scenarios.terms import LabelValue


@dataclass(frozen=True, slots=True)
class Score:
    """Agreement on one dimension."""

    dimension: str
    title: str
    same: int
    compared: int

    @property
    def share(self) -> float | None:
        """The share in [0, 1]; None where nothing could be compared."""
        return self.same / self.compared if self.compared else None


def gold_labels(
    exhibit: ReviewDialogue, adjudication: Adjudication | None, study: ReviewStudy
) -> dict[tuple[int | None, str], LabelValue]:
    """Return the labels that count as right, by (turn, dimension).

    What an expert settled goes first. In the quiz the rest is what was declared; in a review the
    declared labels are what is in doubt, so there is no other gold. A label that was not on offer
    is no gold.
    """
    gold = dict(exhibit.declared) if study.mode == "quiz" else {}
    if adjudication is not None:
        gold |= {(label.turn, label.dimension): label.value for label in adjudication.labels}
    return {
        (turn, dimension): value
        for (turn, dimension), value in gold.items()
        if value not in study.hidden.get(dimension, ())
    }


def scores(
    scheme: Scheme,
    sheets: list[Sheet],
    gold: Mapping[int, Mapping[tuple[int | None, str], LabelValue]],
) -> list[Score]:
    """Compare one annotator's labels with the gold of each item, dimension by dimension."""
    same: Counter[str] = Counter()
    compared: Counter[str] = Counter()
    for sheet in sheets:
        right = gold.get(sheet.item.seq, {})
        for label in sheet.labels:
            expected = right.get((label.turn, label.dimension))
            if expected is not None:
                compared[label.dimension] += 1
                same[label.dimension] += expected == label.value
    return [
        Score(d.id, d.title or d.id, same[d.id], compared[d.id])
        for d in scheme.dimensions
        if compared[d.id]
    ]
