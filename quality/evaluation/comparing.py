"""Compare two models on the items that both answered: permutation by case, paired bootstrap."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from quality.bootstrap import Floats, Resampling
from quality.class_figures import accuracy, macro_f1
from quality.evaluation.answers import ScoredAnswer
from quality.evaluation.clustering import RESAMPLING, Clusters, Figure, clustered, sums_by
from quality.evaluation.scores import ClusteredEstimate, ModelComparison, Weighting
from quality.evaluation.scoring import CodedAnswers, ScoreKey, coded
from quality.holm import holm

EXACT_CASES = 13
"""Up to so many cases that differ every exchange is counted: at most 8,192."""


def compare(
    key: ScoreKey,
    other: str,
    mine: Sequence[ScoredAnswer],
    theirs: Sequence[ScoredAnswer],
    labels: Sequence[str],
    *,
    weights: Mapping[str, float] | None = None,
    weighting: Weighting = "whole",
    how: Resampling = RESAMPLING,
) -> ModelComparison:
    """Return by how much the model of ``key`` differs from another one.

    Only items count that both answered; one that failed was not answered. Where an item was asked
    with several draws of examples, its answers share what it counts.

    Args:
        key: what is compared; its model is the first.
        other: the second model.
        mine: the answers of the first.
        theirs: the answers of the second.
        labels: the labels of the dimension.
        weights: what an item counts; 1 for each if None.
        weighting: what the weights are.
        how: how often and from which seed differences are resampled, and exchanges sampled.

    Raises:
        UsageError: a reference is none of the labels.
    """
    first, second = _shared(mine, theirs), _shared(theirs, mine)
    one, two = (coded(found, labels, _over_draws(found, weights)) for found in (first, second))
    items = {answer.item for answer in first}
    either = {a.item for a in (*mine, *theirs) if a.fault != "failed"}
    clusters = Clusters.of([*first, *second])
    p, exact = None, False
    if items:
        gains = [one.weights * (one.true == one.said), -two.weights * (two.true == two.said)]
        by_case = sums_by(clusters.cases, np.concatenate(gains)[:, None])[:, 0]
        p, exact = exchange_test(by_case, how)
    estimates = _differences(one, two, clusters, how)
    return ModelComparison(
        reference=key.reference,
        task=key.task,
        mode=key.mode,
        dimension=key.dimension,
        first=key.model,
        second=other,
        n=len(items),
        cases=len({answer.case for answer in first}),
        left_out=len(either - items),
        accuracy=estimates[0],
        macro_f1=estimates[1],
        p=p,
        exact=exact,
        p_holm=None,
        weighting=weighting,
    )


def compare_all(
    answers: Mapping[ScoreKey, Sequence[ScoredAnswer]],
    labels: Mapping[ScoreKey, Sequence[str]],
    *,
    weights: Mapping[str, float] | None = None,
    weighting: Weighting = "whole",
    how: Resampling = RESAMPLING,
) -> tuple[ModelComparison, ...]:
    """Compare every two models of one reference, task, mode and dimension, with Holm's correction.

    p-values hold for all pairs, of all modes, of one reference, task and dimension at once.

    Args:
        answers: by what they are of.
        labels: the labels of each.
        weights: as for :func:`compare`.
        weighting: as for :func:`compare`.
        how: as for :func:`compare`.

    Raises:
        UsageError: a reference is none of the labels.
    """
    alike: defaultdict[ScoreKey, list[ScoreKey]] = defaultdict(list)
    for key in answers:
        alike[replace(key, model="")].append(key)
    found = [
        compare(
            one, two.model, answers[one], answers[two], labels[one],
            weights=weights, weighting=weighting, how=how,
        )
        for keys in alike.values()
        for one, two in combinations(keys, 2)
    ]  # fmt: skip
    return corrected(found)


def corrected(comparisons: Sequence[ModelComparison]) -> tuple[ModelComparison, ...]:
    """Return the comparisons with Holm's p-values, per reference, task, dimension and weighting."""
    families: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, one in enumerate(comparisons):
        if one.p is not None:
            families[one.reference, one.task, one.dimension, one.weighting].append(place)
    result = list(comparisons)
    for places in families.values():
        values = [p for place in places if (p := comparisons[place].p) is not None]
        for place, p in zip(places, holm(values), strict=True):
            result[place] = replace(result[place], p_holm=p)
    return tuple(result)


def exchange_test(differences: Floats, how: Resampling = RESAMPLING) -> tuple[float, bool]:
    """Return how often a difference as large comes of exchanging the two models case by case.

    If the two are alike, each case would as well have had the opposite difference. Cases of one
    size are exchanged together: how many of them keep their sign is binomial.

    Args:
        differences: per case, what the first has more than the second, shape ``(cases,)``.
        how: how many exchanges are sampled where there are too many to count, and the seed.

    Returns:
        The two-sided p-value, and whether every exchange was counted. A sampled one counts the
        exchange that was found, so that it is never 0.
    """
    sizes = np.abs(differences[differences != 0])
    reached = abs(float(differences.sum())) - 1e-9 * max(1.0, float(sizes.sum()))
    if len(sizes) <= EXACT_CASES:
        signs = 1 - 2 * ((np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes))) & 1)
        return float(np.mean(np.abs(signs @ sizes) >= reached)), True
    values, counts = np.unique(sizes, return_counts=True)
    rng = np.random.default_rng(how.seed)
    kept = rng.binomial(counts, 0.5, size=(how.resamples, len(values)))
    as_large = int((np.abs((2 * kept - counts) @ values) >= reached).sum())
    return (as_large + 1) / (how.resamples + 1), False


def _shared(mine: Sequence[ScoredAnswer], theirs: Sequence[ScoredAnswer]) -> list[ScoredAnswer]:
    """Return those of my answers that came, to items that they have answered, too."""
    answered = {answer.item for answer in theirs if answer.fault != "failed"}
    return [a for a in mine if a.fault != "failed" and a.item in answered]


def _over_draws(
    answers: Sequence[ScoredAnswer], weights: Mapping[str, float] | None
) -> dict[str, float]:
    """Return what an answer counts: as much as its item, divided by how often that was answered."""
    times = Counter(answer.item for answer in answers)
    return {item: (weights or {}).get(item, 1.0) / count for item, count in times.items()}


def _differences(
    one: CodedAnswers, two: CodedAnswers, clusters: Clusters, how: Resampling
) -> list[ClusteredEstimate]:
    size = len(one.labels)
    mine, theirs = one.features, two.features
    features = np.vstack(
        [np.hstack([mine, np.zeros_like(mine)]), np.hstack([np.zeros_like(theirs), theirs])]
    )
    counted = mine[:, size : 2 * size].sum(axis=0) > 0

    def figures(sums: Floats) -> Floats:
        first, second = np.split(sums[:, 0], 2, axis=-1)
        return np.column_stack(
            [
                accuracy(first) - accuracy(second),
                macro_f1(first, counted) - macro_f1(second, counted),
            ]
        )

    return clustered(features, figures, [Figure()] * 2, clusters, how=how)
