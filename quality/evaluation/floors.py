"""What is reached without reading: by always giving the commonest label, or by drawing one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quality.evaluation.scores import FloorScore
from quality.statistics.bootstrap import Floats
from quality.statistics.class_figures import Codes, class_features, class_figures


def majority_code(true: Codes, weights: Floats, size: int) -> int:
    """Return the label that most references have; the first of several."""
    return int(np.bincount(true, weights=weights, minlength=size).argmax())


def floors(
    labels: Sequence[str], true: Codes, weights: Floats, offered: Floats
) -> tuple[FloorScore, FloorScore]:
    """Return what is reached by the commonest label, and by drawing evenly among those offered.

    The figures of drawing are computed from the counts that are expected, not drawn.

    Args:
        labels: all labels.
        true: the right label of each item.
        weights: what each item counts.
        offered: the chance of each label where one is drawn evenly, shape ``(items, labels)``.
    """
    size = len(labels)
    if not len(true):
        return FloorScore("majority", None, None, None), FloorScore("random", None, None, None)
    support = class_features(true, true, size, weights)[:, :size].sum(axis=0)
    commonest = majority_code(true, weights, size)
    always = class_features(true, np.full_like(true, commonest), size, weights).sum(axis=0)
    chance = offered * weights[:, None]
    hits = np.bincount(true, weights=chance[np.arange(len(true)), true], minlength=size)
    drawn = np.concatenate([hits, support, chance.sum(axis=0)])
    found = [class_figures(sums, support > 0) for sums in (always, drawn)]
    return (
        FloorScore(
            "majority", labels[commonest], float(found[0].accuracy), float(found[0].macro_f1)
        ),
        FloorScore("random", None, float(found[1].accuracy), float(found[1].macro_f1)),
    )
