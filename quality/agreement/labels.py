"""Agreement label by label: how reliable each label of a dimension is, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from quality.agreement.agreement import ONE_DIALOGUE, ONE_ITEM
from quality.agreement.annotations import Answer, by_group
from quality.agreement.ratings import Ratings, ratings
from quality.agreement.resampling import answered_twice, ratio
from quality.statistics.bootstrap import (
    Floats,
    Interval,
    Numbers,
    Resampling,
    interval,
    resample,
)
from scenarios.schemes.model import Dimension, Scheme

LABEL_MEASURES = (
    "specific agreement: the chance that somebody else gives the label to an item that one gave it "
    "to (Cicchetti and Feinstein 1990; of two annotators 2a/(2a+b+c)); alpha: Krippendorff's, of "
    "the label against all others (of full tables nearly Fleiss' kappa of a category)"
)
"""What the figures of a label are, in one line."""
ANY_OTHER: Final = "(any other)"
"""The second label of a dimension that was made of answers which are all the same: it stands for those that
nobody gave, and has no row of its own."""
UNUSED = "nobody gave this label"
ALWAYS = "alpha undefined: nobody gave another label"
_ONE_PLACE = "no interval: it was given to one item, or in one dialogue, alone"
_OTHERS_IN_ONE_PLACE = (
    "no interval of alpha: all other labels were given to one item, or in one dialogue, alone"
)


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """One label of one dimension in one group of items; figures are None where undefined."""

    group: str
    dimension: str
    label: str
    answers: int
    """How often it was given, on items with two answers or more."""
    items: int
    """To how many of these items."""
    dialogues: int
    """In how many dialogues, or items that stand alone, these are."""
    annotators: int
    """Who gave it at least once; the figures hold against it whoever never did."""
    of_annotators: int
    """Who answered any of the items."""
    specific: float | None
    """Positive specific agreement, in ``[0, 1]``."""
    specific_interval: Interval | None
    alpha: float | None
    """Krippendorff's, where all other labels are one."""
    alpha_interval: Interval | None
    note: str = ""


def drawn_units(rows: Iterable[LabelAgreement]) -> Literal["dialogues", "items"]:
    """Return what intervals draw: dialogues, or items where no dialogue has several."""
    return "dialogues" if any(row.dialogues < row.items for row in rows) else "items"


def label_agreement_table(
    scheme: Scheme,
    answers: Iterable[Answer],
    *,
    groups: Mapping[str, str] | None = None,
    how: Resampling | None = None,
) -> list[LabelAgreement]:
    """Return the agreement on every label of every dimension that has labels and answers.

    Args:
        scheme: the dimensions, in whose order rows come.
        answers: checked answers.
        groups: item -> group: adds rows per group after those over all items.
        how: how intervals are bootstrapped over dialogues; 2,000 times from seed 42 if None.

    Raises:
        UsageError: an answer is no value of its dimension, or somebody answered an item twice.
    """
    rows: list[LabelAgreement] = []
    for group, members in by_group(answers, groups):
        asked = {answer.dimension for answer in members}
        for dimension in scheme.dimensions:
            if dimension.id in asked:
                rows += label_agreement(dimension, members, group=group, how=how)
    return rows


def label_agreement(
    dimension: Dimension,
    answers: Iterable[Answer],
    *,
    group: str = "",
    how: Resampling | None = None,
) -> list[LabelAgreement]:
    """Return the agreement on each label, in the order of the dimension; of numbers nothing.

    Of several labels at once each is given or not, whatever stands beside it. An item counts by
    its answers, each beside the others there, so that answers may be missing and annotators many.
    All labels see the same resamples, and nothing is returned where no item has two answers.

    Raises:
        UsageError: as for :func:`label_agreement_table`.

    Source: Cicchetti and Feinstein 1990 for two annotators; for more, the conditional probability
    of Fleiss 1971, whose kappa of a category is alpha but for its correction for few answers.
    Krippendorff 2011 with two values.
    """
    how = how or Resampling()
    if dimension.measurement == "interval":
        return []
    table = ratings(dimension, answers)
    shared = answered_twice(table)
    if not shared.any():
        return []
    given = table.counts() @ _memberships(dimension, table)
    given, answered = given[shared], table.answered[shared]
    clusters = np.unique(table.clusters[shared], return_inverse=True)[1]
    sums, rarer_in = _sums(given, answered, clusters)
    draws = _drawn(sums, int(answered.max()), how)
    values = _figures(sums.sum(axis=0, keepdims=True))[0]
    people = _people(dimension, table, shared)
    return [
        _row(
            LabelAgreement(
                group,
                dimension.id,
                label,
                answers=int(given[:, place].sum()),
                items=int((given[:, place] > 0).sum()),
                dialogues=len(np.unique(clusters[given[:, place] > 0])),
                annotators=int(people[:, place].sum()),
                of_annotators=int(np.isfinite(table.codes[shared]).any(axis=0).sum()),
                specific=_defined(values[2 * place]),
                specific_interval=None,
                alpha=_defined(values[2 * place + 1]),
                alpha_interval=None,
            ),
            None if draws is None else draws[:, 2 * place : 2 * place + 2],
            rarer_in=int(rarer_in[place]),
            shared=len(given),
            how=how,
        )
        for place, label in enumerate(dimension.values)
        if label != ANY_OTHER or given[:, place].any()
    ]


def _row(
    row: LabelAgreement, draws: Floats | None, *, rarer_in: int, shared: int, how: Resampling
) -> LabelAgreement:
    """Add the intervals to a row, and why figures or intervals are missing.

    Alpha rests on the dialogues of the label, or on those of all others where these are rarer.
    """
    if row.specific is None:
        return replace(row, note=UNUSED)
    why = "" if row.alpha is not None else ALWAYS
    if draws is None:
        return replace(row, note=why or (ONE_DIALOGUE if shared > 1 else ONE_ITEM))
    if row.dialogues > 1:
        row = replace(row, specific_interval=interval(draws[:, 0], how.coverage, row.dialogues + 2))
    if row.alpha is not None and rarer_in > 1:
        row = replace(row, alpha_interval=interval(draws[:, 1], how.coverage, rarer_in + 2))
    elif row.alpha is not None:
        why = _ONE_PLACE if row.dialogues < 2 else _OTHERS_IN_ONE_PLACE
    return replace(row, note=why or _ONE_PLACE * (row.dialogues < 2))


def _drawn(sums: Floats, most: int, how: Resampling) -> Floats | None:
    """Return the figures of every resample of dialogues; None of a single one."""
    if len(sums) < 2:
        return None
    more = _with_two_more(sums, most)
    return resample(lambda weights: _figures(weights @ more), len(more), how)


def _with_two_more(sums: Floats, most: int) -> Floats:
    """Add two dialogues of one item, in which everybody gives each label, and one person alone.

    Resamples of the few dialogues that have a rare label never go beyond what these show: where
    nobody agreed on it, or all did, they are all the same. One success and one failure more make
    the interval of a share honest (Agresti and Coull 1998), and mean nothing where there are many.
    For alpha both are of the rarer of two: the label, or all others.
    """
    labels = sums.shape[1] // 3
    agreed = np.full(3 * labels + 1, float(most))
    alone = np.repeat([1.0, 0.0, 1.0, float(most)], [labels, labels, labels, 1])
    return np.vstack([sums, agreed, alone])


def _memberships(dimension: Dimension, table: Ratings) -> Floats:
    """Return which labels each category holds, shape ``(categories, labels)``."""
    return np.array(
        [
            [label in category if isinstance(category, tuple) else label == category
             for label in dimension.values]
            for category in table.categories
        ],
        dtype=np.float64,
    ).reshape(len(table.categories), len(dimension.values))  # fmt: skip


def _people(dimension: Dimension, table: Ratings, shared: NDArray[np.bool_]) -> Floats:
    """Return who gave each label on shared items, shape ``(annotators, labels)``."""
    codes = table.codes[shared]
    used = np.stack([(codes == code).any(axis=0) for code in range(len(table.categories))], axis=1)
    return (used.astype(np.float64) @ _memberships(dimension, table) > 0).astype(np.float64)


def _sums(given: Floats, answered: Floats, clusters: Numbers) -> tuple[Floats, Numbers]:
    """Sum up by dialogue what figures need; and in how many dialogues is what alpha rests on.

    These are per label its answers, the agreeing ones among them, and the answers of whichever is
    rarer, the label or all others; then all answers. An answer agrees with the share of the others on
    its item that gave the label, too.
    """
    agreeing = given * (given - 1) / (answered - 1)[:, None]
    is_usual = 2 * given.sum(axis=0) > answered.sum()
    rarer = np.where(is_usual, answered[:, None] - given, given)
    features = np.column_stack([given, agreeing, rarer, answered])
    sums = np.zeros((int(clusters.max()) + 1, features.shape[1]))
    np.add.at(sums, clusters, features)
    labels = given.shape[1]
    return sums, (sums[:, 2 * labels : 3 * labels] > 0).sum(axis=0)


def _figures(sums: Floats) -> Floats:
    """Return specific agreement and alpha of each label in turn, shape ``(resamples, 2 labels)``."""
    given, agreeing, rarer = np.split(sums[:, :-1], 3, axis=1)
    n = sums[:, -1:]
    specific = ratio(agreeing, given)
    alpha = 1 - ratio((given - agreeing) * (n - 1), rarer * (n - rarer))
    return np.stack([specific, alpha], axis=2).reshape(len(sums), -1)


def _defined(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
