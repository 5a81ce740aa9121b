"""Agreement of annotators: the statistics that fit each dimension, with confidence intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from quality.agreement import coefficients, resampling
from quality.agreement.annotations import Answer, by_group
from quality.agreement.ratings import Ratings, ratings
from quality.statistics.bootstrap import (
    Estimator,
    Floats,
    Interval,
    Resampling,
    even_share_interval,
    interval,
    resample,
)
from scenarios.schemes.model import Dimension, Measurement, Scheme

StatisticName = Literal[
    "percent agreement",
    "Cohen kappa",
    "Fleiss kappa",
    "Randolph kappa",
    "Krippendorff alpha",
    "ICC(1,1)",
    "ICC(2,1)",
    "Spearman rho",
]
Rows = resampling.Rows


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """One statistic of one dimension in one group of items; ``value`` None where undefined."""

    group: str
    dimension: str
    statistic: StatisticName
    value: float | None
    interval: Interval | None
    items: int
    annotators: int
    note: str = ""
    dialogues: int = 0
    """How many dialogues, or items that stand alone, the items are: what intervals draw."""


@dataclass(frozen=True, slots=True)
class _Statistic:
    """One statistic: its value, the same as a function of item weights, and what it rests on."""

    name: StatisticName
    value: Callable[[Ratings], float | None]
    estimator: Callable[[Ratings], Estimator]
    rows: Callable[[Ratings], Rows]
    undefined: str


_ONE_LABEL = "fewer than two labels were given by annotators who share an item"
ONE_DIALOGUE = "no interval: all items are of one dialogue, and intervals draw dialogues"
ONE_ITEM = "no interval: only one item has two answers or more"
_STATISTICS = {
    statistic.name: statistic
    for statistic in (
        _Statistic(
            "percent agreement",
            coefficients.percent_agreement,
            resampling.percent_estimator,
            resampling.answered_twice,
            "no item has two answers",
        ),
        _Statistic(
            "Cohen kappa",
            coefficients.cohen_kappa,
            resampling.cohen_estimator,
            resampling.answered_twice,
            _ONE_LABEL,
        ),
        _Statistic(
            "Fleiss kappa",
            coefficients.fleiss_kappa,
            resampling.fleiss_estimator,
            resampling.equally_answered,
            _ONE_LABEL,
        ),
        _Statistic(
            "Randolph kappa",
            coefficients.randolph_kappa,
            resampling.randolph_estimator,
            resampling.equally_answered,
            "no item has two answers",
        ),
        _Statistic(
            "Krippendorff alpha",
            coefficients.krippendorff_alpha,
            resampling.alpha_estimator,
            resampling.answered_twice,
            "fewer than two different values were given on items with two answers",
        ),
        _Statistic(
            "ICC(1,1)",
            coefficients.one_way_intraclass_correlation,
            resampling.one_way_intraclass_estimator,
            resampling.answered_twice,
            "needs two items with two answers or more, and some variance",
        ),
        _Statistic(
            "ICC(2,1)",
            coefficients.intraclass_correlation,
            resampling.intraclass_estimator,
            resampling.fully_answered,
            "needs two items that the same two or more annotators all answered, and some variance",
        ),
        _Statistic(
            "Spearman rho",
            coefficients.spearman,
            resampling.spearman_estimator,
            resampling.answered_twice,
            "no two annotators share items on which both vary",
        ),
    )
}
_ALIKE: Mapping[Callable[[Ratings], Rows], str] = {
    resampling.equally_answered: "Fleiss and Randolph kappa take equally many answers, the most "
    "usual number",
    resampling.fully_answered: "ICC(2,1) takes the answers of everybody",
}
"""What a statistic that needs a full table takes of one with gaps."""
STATISTICS_BY_MEASUREMENT: Mapping[Measurement, tuple[StatisticName, ...]] = {
    "nominal": (
        "percent agreement",
        "Cohen kappa",
        "Fleiss kappa",
        "Randolph kappa",
        "Krippendorff alpha",
    ),
    "ordinal": ("percent agreement", "Cohen kappa", "Krippendorff alpha", "Spearman rho"),
    "interval": ("Krippendorff alpha", "ICC(1,1)", "ICC(2,1)", "Spearman rho"),
    "multi": ("percent agreement", "Cohen kappa", "Fleiss kappa", "Krippendorff alpha"),
}
"""Which statistics fit which level of measurement; several labels at once compare as sets."""


def agreement_table(
    scheme: Scheme,
    answers: Iterable[Answer],
    *,
    groups: Mapping[str, str] | None = None,
    how: Resampling | None = None,
) -> list[AgreementRow]:
    """Return the fitting statistics of every dimension that has answers, in the scheme's order.

    Args:
        scheme: says how each dimension is measured.
        answers: checked answers; missing ones are simply not there.
        groups: item -> group: adds rows per group after those over all items (whose group is
            ""). Annotators often differ between groups, and some statistics mean little then.
        how: how the intervals are bootstrapped over dialogues, whose items are drawn together;
            2,000 times from seed 42 if None.

    Raises:
        UsageError: an answer is no value of its dimension, an annotator answered an item twice,
            or the packages of the extra ``stats`` are missing.
    """
    rows: list[AgreementRow] = []
    for group, members in by_group(answers, groups):
        asked = {answer.dimension for answer in members}
        for dimension in scheme.dimensions:
            if dimension.id in asked:
                rows += dimension_agreement(dimension, members, group=group, how=how)
    return rows


def dimension_agreement(
    dimension: Dimension,
    answers: Iterable[Answer],
    *,
    group: str = "",
    how: Resampling | None = None,
) -> list[AgreementRow]:
    """Return the statistics that fit one dimension; all of them see the same resamples.

    Raises:
        UsageError: as for :func:`agreement_table`.
    """
    how = how or Resampling()
    table = ratings(dimension, answers)
    statistics = [_STATISTICS[name] for name in STATISTICS_BY_MEASUREMENT[dimension.measurement]]
    table = _shared_items(table)
    draws = _draws(table, statistics, how)
    rows = []
    for number, statistic in enumerate(statistics):
        value = statistic.value(table) if table.items else None
        used = statistic.rows(table)
        drawn = None if draws is None else draws[:, number]
        found = _interval(table, statistic, value, drawn, how)
        rows.append(
            AgreementRow(
                group=group,
                dimension=dimension.id,
                statistic=statistic.name,
                value=value,
                interval=found,
                items=int(used.sum()),
                annotators=int(np.isfinite(table.codes[used]).any(axis=0).sum()),
                note=statistic.undefined if value is None else _note(table, statistic, found),
                dialogues=len(np.unique(table.clusters[used])),
            )
        )
    return rows


def _shared_items(table: Ratings) -> Ratings:
    """Keep the items with two answers or more: others say nothing about agreement."""
    rows = resampling.answered_twice(table)
    return Ratings(
        dimension=table.dimension,
        measurement=table.measurement,
        items=tuple(item for item, kept in zip(table.items, rows, strict=True) if kept),
        annotators=table.annotators,
        codes=table.codes[rows],
        categories=table.categories,
        clusters=np.unique(table.clusters[rows], return_inverse=True)[1],
    )


def _draws(table: Ratings, statistics: list[_Statistic], how: Resampling) -> Floats | None:
    """Return every statistic on resampled dialogues; None for fewer than two of them."""
    if len(np.unique(table.clusters)) < 2:
        return None
    return resample(_all_at_once(table, statistics), len(table.items), how, table.clusters)


def _interval(
    table: Ratings,
    statistic: _Statistic,
    value: float | None,
    draws: Floats | None,
    how: Resampling,
) -> Interval | None:
    """Return the interval of one statistic over the dialogues that it rests on.

    Where all resamples are the same, the bootstrap knows nothing. Percent agreement then has the
    interval of a share over dialogues, and so has what corrects unanimous answers for chance, with
    disagreements as large as chance makes them; everything else has none.
    """
    if value is None or draws is None:
        return None
    dialogues = len(np.unique(table.clusters[statistic.rows(table)]))
    found = interval(draws, how.coverage, dialogues) if dialogues > 1 else None
    if found is None or found.has_width:
        return found
    if not np.isclose(np.nanmax(draws), np.nanmin(draws)):
        return found
    if statistic.name == "percent agreement":
        return even_share_interval(value, dialogues, how.coverage)
    if not np.isclose(value, 1.0) or statistic.name == "Spearman rho":
        return None
    agreed = even_share_interval(1.0, dialogues, how.coverage).low
    codes = table.codes[statistic.rows(table)]
    _, counts = np.unique(codes[np.isfinite(codes)], return_counts=True)
    chance = float(((counts / counts.sum()) ** 2).sum())
    if statistic.name == "Randolph kappa":
        chance = 1 / len(table.categories)
    return Interval(max(-1.0, 1 - (1 - agreed) / (1 - chance)), 1.0) if chance < 1 else None


def _note(table: Ratings, statistic: _Statistic, found: Interval | None) -> str:
    """Return why a figure has no interval, or on which of the items alone it rests; else nothing."""
    if found is None and len(np.unique(table.clusters)) < 2:
        return ONE_DIALOGUE if len(table.items) > 1 else ONE_ITEM
    if statistic.name in ("Cohen kappa", "Spearman rho"):
        return _pairs_left_out(table, statistic)
    used = statistic.rows(table)
    which = _ALIKE.get(statistic.rows)
    if which is None or used.all() or not used.any():
        return ""
    people = int(table.answered[used][0])
    return f"{which}: of the {used.sum()} of {len(used)} items with {people} answers each"


def _pairs_left_out(table: Ratings, statistic: _Statistic) -> str:
    """Return how many pairs of annotators a mean over pairs does without, if any."""
    once = np.ones((1, len(table.items)))
    values = np.array([pair(once)[0] for pair in resampling.pair_values(table, statistic.name)])
    undefined = int((~np.isfinite(values)).sum())
    if not undefined:
        return ""
    return (
        f"{statistic.name} is the mean of {len(values) - undefined} of {len(values)} pairs of "
        "annotators: the others show no variation on the items that they share"
    )


def _all_at_once(table: Ratings, statistics: list[_Statistic]) -> Estimator:
    estimators = [statistic.estimator(table) for statistic in statistics]

    def estimate(weights: Floats) -> Floats:
        return np.column_stack([estimator(weights) for estimator in estimators])

    return estimate
