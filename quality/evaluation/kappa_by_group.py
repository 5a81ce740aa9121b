"""Whether models do better on the groups of items on which people agree more."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import StatisticsError, correlation, fmean

import numpy as np

from quality.agreement.annotations import Answer
from quality.agreement.ratings import ratings
from quality.agreement.resampling import centred_ranks, fleiss_estimator
from quality.evaluation.answers import Grouping
from quality.evaluation.clustering import FEWEST_ITEMS
from quality.evaluation.people import is_one_person, is_people, place_of
from quality.evaluation.result_row import ResultRow
from quality.evaluation.scores import Scores
from quality.evaluation.scoring_results import groups_of
from scenarios.schemes.model import Dimension

_Key = tuple[str, str, str, str, Grouping]
_Labelled = defaultdict[str, defaultdict[str, list[Answer]]]
_FEWEST = 3
"""Fewer groups have no order that could be compared."""


@dataclass(frozen=True, slots=True)
class GroupKappa:
    """One group: how far people agree, and what models score."""

    group: str
    items: int
    """That people labelled."""
    kappa: float
    """Fleiss' kappa of people."""
    accuracy: float
    """Mean over models."""
    accuracies: Mapping[str, float]
    """Of every model, of people together and of their majority."""


@dataclass(frozen=True, slots=True)
class KappaByGroup:
    """The groups of one kind, from the largest kappa to the smallest."""

    reference: str
    task: str
    mode: str
    dimension: str
    by: Grouping
    models: int
    groups: tuple[GroupKappa, ...]
    rho: float | None
    """Spearman's rho of kappa and accuracy over groups; None where one of them is all alike."""


def kappa_by_group(
    scores: Iterable[Scores],
    rows: Iterable[ResultRow],
    people: Iterable[Answer],
    dimensions: Mapping[str, Dimension],
) -> list[KappaByGroup]:
    """Set the mean accuracy of models in each group of items beside the kappa of people there.

    Args:
        scores: of models and people; only models count, by the groups that they have.
        rows: what the scores are of.
        people: their answers.
        dimensions: by name.

    Returns:
        One table per kind of group of which three or more have a kappa over ten items or more.

    Source: CEI, section 6: rho over five subtypes.
    """
    items: defaultdict[tuple[str, Grouping, str], dict[str, None]] = defaultdict(dict)
    for row in rows:
        for by, group in groups_of(row).items():
            items[row.task, by, group][place_of(row)] = None
    accuracies: defaultdict[_Key, defaultdict[str, dict[str, float]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for one in scores:
        together = one.weighting == "whole" and not is_one_person(one.model)
        for found in one.groups if together else ():
            if found.accuracy.value is not None:
                key = (one.reference, one.task, one.mode, one.dimension, found.by)
                accuracies[key][found.group][one.model] = found.accuracy.value
    labelled = _by_dimension(people)
    tables = []
    for key, by_group in accuracies.items():
        _, task, _, dimension, by = key
        known = labelled[dimension]
        groups = [
            GroupKappa(group, len(said), kappa, fmean(of_models), found)
            for group, found in by_group.items()
            for of_models in ([found[who] for who in found if not is_people(who)],)
            if of_models
            for of_group in (items[task, by, group],)
            for said in ({item: known[item] for item in of_group if item in known},)
            for kappa in (_fleiss_kappa(dimensions[dimension], said),)
            if kappa is not None and len(said) >= FEWEST_ITEMS
        ]
        if len(groups) >= _FEWEST:
            groups.sort(key=lambda group: -group.kappa)
            models = len(
                {who for found in by_group.values() for who in found if not is_people(who)}
            )
            rho = rank_correlation([g.kappa for g in groups], [g.accuracy for g in groups])
            tables.append(KappaByGroup(*key, models, tuple(groups), rho))
    return tables


def _by_dimension(people: Iterable[Answer]) -> _Labelled:
    """Return the answers by dimension and item."""
    found: _Labelled = defaultdict(lambda: defaultdict(list))
    for answer in people:
        found[answer.dimension][answer.item].append(answer)
    return found


def _fleiss_kappa(dimension: Dimension, said: Mapping[str, Sequence[Answer]]) -> float | None:
    table = ratings(dimension, (answer for answers in said.values() for answer in answers))
    kappa = float(fleiss_estimator(table)(np.ones((1, len(table.items))))[0]) if said else math.nan
    return kappa if math.isfinite(kappa) else None


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Spearman's rho; None where one of the two is all alike."""
    once = np.ones((1, len(first)))
    ranks = (centred_ranks(np.array(values), once)[0].tolist() for values in (first, second))
    try:
        # plain floats: given numpy's, Python 3.12 and later return one, and NaN where it divides by 0
        return correlation(*ranks)
    except StatisticsError:
        return None
