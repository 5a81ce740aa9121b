"""Agreement coefficients of one table of ratings; None where undefined."""

from __future__ import annotations

from typing import Any

import numpy as np

from quality.agreement.ratings import Ratings
from quality.agreement.resampling import (
    absolute_agreement,
    alpha_estimator,
    equally_answered,
    fully_answered,
    intraclass_estimator,
    one_way_intraclass_estimator,
    pair_columns,
)
from quality.statistics.packages import statistics_package


def percent_agreement(ratings: Ratings) -> float | None:
    """Return the mean share of agreeing pairs of answers over items, in ``[0, 1]``."""
    rows, shares = absolute_agreement(ratings)
    return float(shares.mean()) if rows.any() else None


def cohen_kappa(ratings: Ratings) -> float | None:
    """Return Cohen's kappa, for more than two annotators the mean over pairs (Light 1971).

    A pair counts on the items both answered; a pair whose answers are all one label is left out.
    """
    values: list[float] = []
    for first, second in pair_columns(ratings):
        size = len(ratings.categories)
        cells = first.astype(int) * size + second.astype(int)
        table = np.bincount(cells, minlength=size * size).reshape(size, size)
        # Where both gave one and the same label throughout, chance agreement is 1 and kappa is 0/0.
        if table.diagonal().max() < table.sum():
            values.append(float(_inter_rater().cohens_kappa(table, return_results=False)))
    return float(np.mean(values)) if values else None


def fleiss_kappa(ratings: Ratings) -> float | None:
    """Return Fleiss' kappa over the items with the most usual number of answers (two or more)."""
    counts = ratings.counts()[equally_answered(ratings)]
    if len(counts) == 0 or (counts.sum(axis=0) > 0).sum() < 2:
        return None
    return float(_inter_rater().fleiss_kappa(counts, method="fleiss"))


def randolph_kappa(ratings: Ratings) -> float | None:
    """Return Randolph's free-marginal kappa: chance is one over the number of labels offered."""
    counts = ratings.counts()[equally_answered(ratings)]
    if len(counts) == 0 or counts.shape[1] < 2:
        return None
    return float(_inter_rater().fleiss_kappa(counts, method="randolph"))


def krippendorff_alpha(ratings: Ratings) -> float | None:
    """Return Krippendorff's alpha at the dimension's level of measurement; answers may be missing.

    Source: Krippendorff 2011, Computing Krippendorff's alpha-reliability.
    """
    codes = ratings.codes[ratings.answered >= 2]
    if len(np.unique(codes[np.isfinite(codes)])) < 2:
        return None
    value = float(alpha_estimator(ratings)(np.ones((1, len(ratings.items))))[0])
    return value if np.isfinite(value) else None


def spearman(ratings: Ratings) -> float | None:
    """Return the mean of Spearman's rho over pairs of annotators that both vary."""
    stats = statistics_package("scipy.stats")
    values = [
        float(stats.spearmanr(first, second).statistic)
        for first, second in pair_columns(ratings)
        if len(np.unique(first)) > 1 and len(np.unique(second)) > 1
    ]
    return float(np.mean(values)) if values else None


def intraclass_correlation(ratings: Ratings) -> float | None:
    """Return ICC(2,1): two-way random effects, absolute agreement, single answers.

    Only items that all annotators answered count. The libraries that offer it fit a linear model
    with one column per item; the mean squares of a full table need no fit.

    Source: Shrout & Fleiss 1979, case 2.
    """
    if fully_answered(ratings).sum() < 2 or len(ratings.annotators) < 2:
        return None
    value = float(intraclass_estimator(ratings)(np.ones((1, len(ratings.items))))[0])
    return value if np.isfinite(value) else None


def one_way_intraclass_correlation(ratings: Ratings) -> float | None:
    """Return ICC(1,1): one-way random effects, single answers, whoever gave them.

    For items that different people answered, as groups of items with annotators of their own are.
    Items with two answers or more count. Where the same people answered all items, it counts
    differences in how they use the scale as disagreement, as ICC(2,1) does, but less exactly.

    Source: Shrout & Fleiss 1979, case 1; for items with unequally many answers Donner 1986.
    """
    if (ratings.answered >= 2).sum() < 2:
        return None
    value = float(one_way_intraclass_estimator(ratings)(np.ones((1, len(ratings.items))))[0])
    return value if np.isfinite(value) else None


def _inter_rater() -> Any:
    return statistics_package("statsmodels.stats.inter_rater")
