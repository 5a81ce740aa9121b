"""Compare models, or modes of one, on the items that both answered: permuted and resampled by case."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from prompts.tasks.modes import MODES
from quality.evaluation.answers import ScoredAnswer
from quality.evaluation.clustering import (
    RESAMPLING,
    Clusters,
    Figure,
    Resampled,
    estimates,
    resampled,
    sums_by,
)
from quality.evaluation.people import is_people
from quality.evaluation.scores import ModelComparison, Weighting
from quality.evaluation.scoring import ScoreKey, coded
from quality.statistics.bootstrap import Floats, Resampling
from quality.statistics.class_figures import accuracy, macro_f1
from quality.statistics.holm import holm

EXACT_CASES = 13
"""Up to so many cases that differ every permutation is counted: at most 8,192."""


@dataclass(frozen=True, slots=True)
class _OnItems:
    """What one model does on some items."""

    items: int
    gains: Floats
    """What it has right, summed up by case."""
    resampled: Resampled
    """Accuracy and macro-F1."""


def compare_all(
    answers: Mapping[ScoreKey, Sequence[ScoredAnswer]],
    labels: Mapping[ScoreKey, Sequence[str]],
    *,
    weights: Mapping[str, float] | None = None,
    weighting: Weighting = "whole",
    how: Resampling = RESAMPLING,
) -> tuple[ModelComparison, ...]:
    """Compare every two models in one mode, and every two modes of one model, with Holm's correction.

    A mode is compared with those before it in ``MODES``, so that what it adds to ``zero-shot`` is
    positive. People answered once, whatever mode stands beside them, and are compared in none.
    p-values hold for all pairs of models, of all modes, of one reference, task and dimension at once;
    and for all pairs of modes, of all models.

    Only items count that both answered; one that failed was not answered. Where an item was asked
    with several draws of examples, its answers share what it counts.

    Args:
        answers: by what they are of.
        labels: the labels of each.
        weights: what an item counts; 1 for each if None.
        weighting: what the weights are.
        how: how often and from which seed differences are resampled, and permutations sampled.

    Raises:
        UsageError: a reference is none of the labels.

    Source: HIPO, section 5.3 and Figure 6 for the modes.
    """
    answered = {
        key: frozenset(a.item for a in given if a.fault != "failed")
        for key, given in answers.items()
    }
    # Mostly all models answered the same items: what one does on them is computed once.
    known: dict[tuple[ScoreKey, frozenset[str]], _OnItems] = {}

    def on_items(key: ScoreKey, shared: frozenset[str]) -> _OnItems:
        if (key, shared) not in known:
            known[key, shared] = _on_items(answers[key], shared, labels[key], weights, how)
        return known[key, shared]

    found = []
    for one, two in (*_pairs_of_models(answers), *_pairs_of_modes(answers)):
        shared = answered[one] & answered[two]
        found.append(
            _compared(
                one,
                two,
                on_items(one, shared),
                on_items(two, shared),
                left_out=len(answered[one] ^ answered[two]),
                weighting=weighting,
                how=how,
            )
        )
    return corrected(found)


def _pairs_of_models(keys: Iterable[ScoreKey]) -> Iterator[tuple[ScoreKey, ScoreKey]]:
    alike: defaultdict[ScoreKey, list[ScoreKey]] = defaultdict(list)
    for key in keys:
        alike[replace(key, model="")].append(key)
    for models in alike.values():
        yield from combinations(models, 2)


def _pairs_of_modes(keys: Iterable[ScoreKey]) -> Iterator[tuple[ScoreKey, ScoreKey]]:
    alike: defaultdict[ScoreKey, list[ScoreKey]] = defaultdict(list)
    for key in keys:
        if not is_people(key.model):
            alike[replace(key, mode="")].append(key)
    order: dict[str, int] = {mode: place for place, mode in enumerate(MODES)}
    for modes in alike.values():
        modes.sort(key=lambda key: order.get(key.mode, len(order)))
        yield from ((later, earlier) for earlier, later in combinations(modes, 2))


def _on_items(
    answers: Sequence[ScoredAnswer],
    items: frozenset[str],
    labels: Sequence[str],
    weights: Mapping[str, float] | None,
    how: Resampling,
) -> _OnItems:
    mine = [a for a in answers if a.item in items and a.fault != "failed"]
    # An answer counts as much as its item, divided by how often that was answered.
    times = Counter(answer.item for answer in mine)
    shares = {item: (weights or {}).get(item, 1.0) / count for item, count in times.items()}
    code = coded(mine, labels, shares)
    features, clusters, size = code.features, Clusters.of(mine), len(labels)
    counted = features[:, size : 2 * size].sum(axis=0) > 0

    def figures(sums: Floats) -> Floats:
        return np.column_stack([accuracy(sums[:, 0]), macro_f1(sums[:, 0], counted)])

    right = (code.weights * (code.true == code.said))[:, None]
    return _OnItems(
        items=len(items),
        gains=sums_by(clusters.cases, right)[:, 0] if items else np.zeros(0),
        resampled=resampled(features, figures, clusters, how=how),
    )


def _compared(
    key: ScoreKey,
    other: ScoreKey,
    first: _OnItems,
    second: _OnItems,
    *,
    left_out: int,
    weighting: Weighting,
    how: Resampling,
) -> ModelComparison:
    p, exact = None, False
    if first.items:
        p, exact = permutation_test(first.gains - second.gains, how)
    difference = first.resampled.minus(second.resampled)
    accuracy_estimate, macro_estimate = estimates(difference, [Figure()] * 2, how)
    return ModelComparison(
        reference=key.reference,
        task=key.task,
        mode=key.mode,
        dimension=key.dimension,
        first=key.model,
        second=other.model,
        second_mode="" if other.mode == key.mode else other.mode,
        n=first.items,
        cases=len(first.gains),
        left_out=left_out,
        accuracy=accuracy_estimate,
        macro_f1=macro_estimate,
        p=p,
        exact=exact,
        p_holm=None,
        weighting=weighting,
    )


def corrected(comparisons: Sequence[ModelComparison]) -> tuple[ModelComparison, ...]:
    """Return the comparisons with Holm's p-values, per reference, task, dimension and weighting.

    Pairs of models and pairs of modes are corrected apart.
    """
    families: defaultdict[tuple[str, str, str, str, bool], list[int]] = defaultdict(list)
    for place, one in enumerate(comparisons):
        if one.p is not None:
            of_modes = bool(one.second_mode)
            family = (one.reference, one.task, one.dimension, one.weighting, of_modes)
            families[family].append(place)
    result = list(comparisons)
    for places in families.values():
        values = [p for place in places if (p := comparisons[place].p) is not None]
        for place, p in zip(places, holm(values), strict=True):
            result[place] = replace(result[place], p_holm=p)
    return tuple(result)


def permutation_test(differences: Floats, how: Resampling = RESAMPLING) -> tuple[float, bool]:
    """Return how often a difference as large comes of permuting the two models case by case.

    If the two are alike, each case would as well have had the opposite difference. Cases of one
    size are permuted together: how many of them keep their sign is binomial.

    Args:
        differences: per case, what the first has more than the second, shape ``(cases,)``.
        how: how many permutations are sampled where there are too many to count, and the seed.

    Returns:
        The two-sided p-value, and whether every permutation was counted. A sampled one counts the
        one that was found, so that it is never 0.
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
