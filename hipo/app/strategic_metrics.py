"""Strategic metrics of labelled answers, from other people's files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quality.strategic.comparison import Likeness, likeness
from quality.strategic.discourses import AnswerLabel, Discourse, discourses
from quality.strategic.distributions import Distribution, distribution
from quality.strategic.formula import Formula, formula_from
from quality.strategic.moves import LABELLED
from quality.strategic.outcome_model import OutcomeModel, outcome_models
from quality.tables.checking import read_files
from quality.tables.oddities import Oddity
from scenarios.errors import UsageError

DEFAULT_MAP = "cobra"


@dataclass(frozen=True, slots=True)
class StrategicMetrics:
    """What annotators say about strategic answers, and what follows from it."""

    formula: Formula
    discourses: tuple[Discourse, ...]
    """One per dialogue and annotator, with the metrics of every answer."""
    distributions: tuple[Distribution, ...]
    """One per discourse, in the same order."""
    agreement: tuple[Likeness, ...]
    """Of annotators; empty where fewer than two share a dialogue."""
    outcome: tuple[OutcomeModel, ...]
    oddities: tuple[Oddity, ...]
    """What was odd in the files, by row."""


def strategic_metrics(
    files: Sequence[str | Path],
    *,
    map_name: str = DEFAULT_MAP,
    against: Sequence[str] = (),
    parameters: Mapping[str, object] | None = None,
) -> StrategicMetrics:
    """Compute benefit, penalty and their course for every dialogue and annotator.

    Example::

        found = strategic_metrics(["WMT_D_annotations.csv"], parameters={"variant": "as_released"})
        print([answer.standing.bat for answer in found.discourses[0].answers])

    Args:
        files: tables of answers and their labels.
        map_name: what their columns stand for: a map that ships, or the path of one.
        against: annotators, models say, that the others are compared with; empty: all annotators
            are compared among themselves.
        parameters: ``variant``, ``weights`` and ``threshold``; each has a default.

    Raises:
        UsageError: a file, the map or a parameter is none, or nothing of this is labelled.
    """
    formula = formula_from(parameters or {})
    checked = read_files([Path(file) for file in files], map_name)
    labels = [
        AnswerLabel(dialogue, labelled.turn, annotator, dimension, value)
        for (dialogue, annotator), turns in checked.sequences().items()
        for labelled in turns
        for dimension, value in labelled.labels.items()
    ]
    return _metrics(labels, formula, against, checked.oddities)


def _metrics(
    labels: Sequence[AnswerLabel],
    formula: Formula,
    against: Sequence[str],
    oddities: Sequence[Oddity],
) -> StrategicMetrics:
    found = discourses(labels, formula)
    if not found:
        raise UsageError(
            "no answer is labelled with what the strategic metrics are computed from",
            f"they need labels of {', '.join(LABELLED)}",
        )
    return StrategicMetrics(
        formula=formula,
        discourses=tuple(found),
        distributions=tuple(distribution(one, formula.threshold) for one in found),
        agreement=tuple(_agreement(found, against, formula.threshold)),
        outcome=tuple(outcome_models(found)),
        oddities=tuple(oddities),
    )


def _agreement(
    found: Sequence[Discourse], against: Sequence[str], threshold: int
) -> Sequence[Likeness]:
    annotators = list(dict.fromkeys(discourse.annotator for discourse in found))
    for name in against:
        if name not in annotators:
            raise UsageError(
                f"there is no annotator {name!r} to compare with",
                f"annotators: {', '.join(annotators)}",
            )
    people = [d for d in found if d.annotator not in against]
    others = [d for d in found if d.annotator in against]
    if against and not people:
        raise UsageError("everybody is compared with, nobody is left", "name fewer with --with")
    if not against and len(annotators) < 2:
        return ()
    return likeness(people, others if against else None, threshold=threshold)
