"""How often judges accept declared labels, and how often wrong ones in their place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from outputs.reliability.judge_agreement import ConfirmedShare, Count, differences, shares
from pipeline.store.queries.report_rows import TrialCount
from quality.statistics.bootstrap import Interval
from scenarios.schemes.model import Scheme


@dataclass(frozen=True, slots=True)
class FoilAcceptance:
    """What one judge accepts on one dimension; a judge that always agrees has no difference."""

    judge: str
    dimension: str
    declared: ConfirmedShare
    foil: ConfirmedShare
    """Intervals over other dialogues."""
    difference: float | None
    interval: Interval | None
    """Of the difference, over other dialogues; None for fewer than two."""


def foil_acceptance(scheme: Scheme, trials: Iterable[TrialCount]) -> tuple[FoilAcceptance, ...]:
    """Return both acceptances and their difference, by judge and dimension.

    Args:
        scheme: the labels.
        trials: counts by dialogue.
    """
    groups: defaultdict[tuple[str, str, bool], list[Count]] = defaultdict(list)
    for trial in trials:
        count = Count(str(trial.dialogue), trial.accepted, trial.shown)
        groups[trial.judge, trial.dimension, trial.foil].append(count)
    order = [dimension.id for dimension in scheme.utterance_dimensions]
    pairs = [
        ((judge, dimension, False), (judge, dimension, True))
        for judge in dict.fromkeys(judge for judge, _, _ in groups)
        for dimension in order
        if (judge, dimension, True) in groups and (judge, dimension, False) in groups
    ]
    accepted = shares(groups)
    return tuple(
        FoilAcceptance(one[0], one[1], accepted[one], accepted[other], value, interval)
        for (one, other), (value, interval) in zip(pairs, differences(groups, pairs), strict=True)
    )
