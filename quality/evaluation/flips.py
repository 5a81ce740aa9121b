"""How often a model changes its answer when it is asked the same again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from quality.evaluation.answers import ScoredAnswer
from quality.evaluation.clustering import RESAMPLING, Clusters, Figure, clustered
from quality.evaluation.scores import FlipRate
from quality.evaluation.scoring import ScoreKey
from quality.statistics.bootstrap import Floats, Resampling
from quality.statistics.class_figures import share


def flip_rate(
    key: ScoreKey, answers: Sequence[ScoredAnswer], how: Resampling = RESAMPLING
) -> FlipRate | None:
    """Return the share of the items asked several times that got more than one answer.

    No readable label is an answer, too: a model that answers twice and refuses once has changed
    its answer. An item counts that was answered each time that any item was.

    Args:
        key: what the answers are of.
        answers: of one model, task, mode, dimension and draw of examples; those of the first time
            of asking among them.
        how: how the interval is bootstrapped.

    Returns:
        None where no item was answered twice.
    """
    by_item: defaultdict[str, dict[int, ScoredAnswer]] = defaultdict(dict)
    for answer in answers:
        if answer.fault != "failed":
            by_item[answer.item][answer.repeat] = answer
    times = max(map(len, by_item.values()), default=0)
    if times < 2:
        return None
    asked = [list(found.values()) for found in by_item.values() if len(found) == times]
    flipped = np.array([len({answer.answer for answer in found}) > 1 for found in asked])
    features = np.column_stack([flipped.astype(np.float64), np.ones(len(asked))])

    def figures(sums: Floats) -> Floats:
        return share(sums[:, 0, :1], sums[:, 0, 1:])

    clusters = Clusters.of([found[0] for found in asked])
    (rate,) = clustered(features, figures, [Figure(is_share=True)], clusters, how=how)
    return FlipRate(key.task, key.mode, key.model, key.dimension, len(asked), times, rate)
