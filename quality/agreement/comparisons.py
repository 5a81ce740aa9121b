"""One selection of answers beside another: how often they say the same, and in which cells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from quality.agreement.agreement import AgreementRow, dimension_agreement
from quality.agreement.annotations import Answer
from quality.agreement.labels import LabelAgreement, label_agreement
from quality.statistics.bootstrap import Interval, Resampling
from quality.statistics.class_figures import count_matrix
from scenarios.schemes.model import Dimension
from scenarios.terms import LabelValue


@dataclass(frozen=True, slots=True)
class ReaderComparison:
    """One reader beside another, or beside gold labels, on one dimension."""

    reader: str
    other: str
    dimension: str
    items: int
    """What both labelled."""
    same: float | None
    """Share of the items to which both gave one label, in ``[0, 1]``: accuracy, where the other is
    the truth."""
    kappa: float | None
    """Cohen's; None where both gave one and the same label throughout, and of numbers."""
    interval: Interval | None
    """Of kappa, over dialogues."""
    labels: tuple[str, ...]
    matrix: tuple[tuple[int, ...], ...]
    """``matrix[i][j]``: how often the other gives ``labels[i]`` and the reader ``labels[j]``; empty
    for numbers and for several labels at once."""
    statistics: tuple[AgreementRow, ...] = ()
    """Every statistic that fits the dimension, of the two."""
    by_label: tuple[LabelAgreement, ...] = ()
    """How far the two agree on each label; of numbers nothing."""
    overlap: float | None = None
    """Of several labels at once: the mean share of labels in common (Jaccard), in ``[0, 1]``."""


def compared(
    dimensions: Sequence[Dimension],
    of: Sequence[Answer],
    others: Sequence[Answer] | None = None,
    *,
    how: Resampling | None = None,
) -> Iterator[ReaderComparison]:
    """Compare every reader of one selection with every one of another, or with each other.

    Agreement between people, of a juror with people, of a model with gold labels, of judges with
    what a speaker declared: all of them are two selections of answers, joined by item.

    Args:
        dimensions: what to compare on, in order; pairs that share no item of one are left out, and so
            is anybody beside their own answers.
        of: the answers of the readers.
        others: those of the others, the reference; None: every two readers of the first.
        how: how intervals are bootstrapped over dialogues; 2,000 times from seed 42 if None.

    Raises:
        UsageError: an answer is no value of its dimension, somebody answered an item twice, or the
            packages of the extra ``stats`` are missing.
    """
    mine, theirs = _by_reader(of), _by_reader(of if others is None else others)
    order = list(mine)
    for place, reader in enumerate(order):
        for other in order[place + 1 :] if others is None else theirs:
            for dimension in dimensions:
                first = mine[reader].get(dimension.id, [])
                second = theirs[other].get(dimension.id, [])
                if reader == other and first == second:
                    continue  # the same answers: nobody agrees with themselves
                if {a.item for a in first} & {a.item for a in second}:
                    yield _comparison(dimension, (reader, first), (other, second), how)


def _by_reader(answers: Iterable[Answer]) -> dict[str, dict[str, list[Answer]]]:
    found: defaultdict[str, defaultdict[str, list[Answer]]] = defaultdict(lambda: defaultdict(list))
    for answer in answers:
        found[answer.annotator][answer.dimension].append(answer)
    return {name: dict(given) for name, given in sorted(found.items())}


def _comparison(
    dimension: Dimension,
    reader: tuple[str, list[Answer]],
    other: tuple[str, list[Answer]],
    how: Resampling | None,
) -> ReaderComparison:
    (name, mine), (against, theirs) = reader, other
    # One name may stand on both sides, e.g. a person in two studies.
    both = [
        *(replace(a, annotator=f"1 {name}") for a in mine),
        *(replace(a, annotator=f"2 {against}") for a in theirs),
    ]
    rows = tuple(dimension_agreement(dimension, both, how=how))
    by_name = {row.statistic: row for row in rows}
    kappa = by_name.get("Cohen kappa")
    read = {answer.item: answer.value for answer in mine}
    pairs = [(a.value, read[a.item]) for a in theirs if a.item in read]
    same = sum(one == two for one, two in pairs) / len(pairs)
    labelled = dimension.measurement in ("nominal", "ordinal")
    return ReaderComparison(
        reader=name,
        other=against,
        dimension=dimension.id,
        items=len(pairs),
        same=same if dimension.measurement == "interval" else by_name["percent agreement"].value,
        kappa=None if kappa is None else kappa.value,
        interval=None if kappa is None else kappa.interval,
        labels=dimension.values if labelled else (),
        matrix=_matrix(dimension, pairs) if labelled else (),
        statistics=rows,
        by_label=tuple(label_agreement(dimension, both, how=how)),
        overlap=_overlap(pairs) if dimension.measurement == "multi" else None,
    )


def _matrix(
    dimension: Dimension, pairs: Sequence[tuple[LabelValue, LabelValue]]
) -> tuple[tuple[int, ...], ...]:
    place: dict[LabelValue, int] = {label: code for code, label in enumerate(dimension.values)}
    codes = np.array([(place[one], place[two]) for one, two in pairs], dtype=np.intp)
    size = len(place)
    counted = count_matrix(codes[:, 0], codes[:, 1], size)
    return tuple(tuple(map(int, row[:size])) for row in counted)


def _overlap(pairs: Sequence[tuple[LabelValue, LabelValue]]) -> float:
    shares = []
    for one, two in pairs:
        first = set(one) if isinstance(one, tuple) else {one}
        second = set(two) if isinstance(two, tuple) else {two}
        either = first | second
        shares.append(len(first & second) / len(either) if either else 1.0)
    return float(np.mean(shares))
