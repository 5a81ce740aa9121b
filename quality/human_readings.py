"""What people read in the lines of a study, beside each other, the gold labels and programs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from quality.agreement import AgreementRow, agreement_table, dimension_agreement
from quality.annotations import Answer
from quality.bootstrap import Interval, Resampling
from quality.class_figures import count_matrix
from scenarios.schemes.model import Dimension, Scheme

GOLD = "gold"
"""Stands for the gold labels where readers have names."""


@dataclass(frozen=True, slots=True)
class ReaderComparison:
    """One person beside the gold labels or a program, on one dimension."""

    reader: str
    other: str
    dimension: str
    items: int
    """Lines that both labelled."""
    same: float | None
    """Share of the lines that both gave one label, in ``[0, 1]``."""
    kappa: float | None
    """Cohen's; None where both gave one and the same label throughout."""
    interval: Interval | None
    """Of kappa, over lines."""
    labels: tuple[str, ...]
    matrix: tuple[tuple[int, ...], ...]
    """``matrix[i][j]``: how often the other gives ``labels[i]`` and the reader ``labels[j]``."""


@dataclass(frozen=True, slots=True)
class HumanReadings:
    """The readings of a study by people; nothing but their number before there are two."""

    readers: tuple[tuple[str, int], ...] = ()
    """(code, lines) of the people who answered lines that another of them answered, too."""
    alone: int = 0
    """People who have answered lines, but none that anybody else has."""
    agreement: tuple[AgreementRow, ...] = ()
    """Of people with each other."""
    against_gold: tuple[ReaderComparison, ...] = ()
    against_programs: tuple[ReaderComparison, ...] = ()


def human_readings(
    scheme: Scheme,
    people: Iterable[Answer],
    *,
    gold: Sequence[Answer] = (),
    programs: Sequence[Answer] = (),
    how: Resampling | None = None,
) -> HumanReadings:
    """Compare what people answered with each other, with gold and with programs.

    Args:
        scheme: the dimensions.
        people: their answers; ``annotator`` is a code.
        gold: the gold labels, whose ``annotator`` is :data:`GOLD`; none: the study has no gold.
        programs: readings by programs.
        how: how intervals are bootstrapped over lines; 2,000 times from seed 42 if None.

    Raises:
        UsageError: the packages of the extra ``stats`` are missing.
    """
    answers = list(people)
    who_read: defaultdict[str, set[str]] = defaultdict(set)
    for answer in answers:
        who_read[answer.item].add(answer.annotator)
    everybody = sorted({answer.annotator for answer in answers})
    joined = {name for names in who_read.values() if len(names) > 1 for name in names}
    readers = tuple(
        (name, sum(name in names for names in who_read.values()))
        for name in everybody
        if name in joined
    )
    alone = len(everybody) - len(readers)
    if not readers:
        return HumanReadings(alone=alone)
    others = sorted({answer.annotator for answer in programs})
    return HumanReadings(
        readers,
        alone,
        tuple(agreement_table(scheme, [a for a in answers if a.annotator in joined], how=how)),
        tuple(_beside(scheme, answers, gold, [r for r, _ in readers], [GOLD], how=how)),
        tuple(_beside(scheme, answers, programs, [r for r, _ in readers], others, how=how)),
    )


def _beside(
    scheme: Scheme,
    people: Sequence[Answer],
    given: Sequence[Answer],
    readers: Sequence[str],
    others: Sequence[str],
    *,
    how: Resampling | None,
) -> Iterator[ReaderComparison]:
    """Compare each reader with each other, on the dimensions that both have labelled."""
    for reader in readers:
        for other in others:
            for dimension in scheme.utterance_dimensions:
                mine = _of(people, reader, dimension)
                theirs = _of(given, other, dimension)
                if {a.item for a in mine} & {a.item for a in theirs}:
                    yield _comparison(dimension, mine, theirs, how)


def _of(answers: Sequence[Answer], name: str, dimension: Dimension) -> list[Answer]:
    return [a for a in answers if a.annotator == name and a.dimension == dimension.id]


def _comparison(
    dimension: Dimension, mine: list[Answer], theirs: list[Answer], how: Resampling | None
) -> ReaderComparison:
    rows = {r.statistic: r for r in dimension_agreement(dimension, [*mine, *theirs], how=how)}
    kappa = rows["Cohen kappa"]
    place = {label: code for code, label in enumerate(dimension.values)}
    read = {answer.item: answer.value for answer in mine}
    both = [(place[a.value], place[read[a.item]]) for a in theirs if a.item in read]  # type: ignore[index] # labels of the dimension
    codes = np.array(both, dtype=np.intp)
    size = len(place)
    return ReaderComparison(
        reader=mine[0].annotator,
        other=theirs[0].annotator,
        dimension=dimension.id,
        items=len(both),
        same=rows["percent agreement"].value,
        kappa=kappa.value,
        interval=kappa.interval,
        labels=dimension.values,
        matrix=tuple(
            tuple(map(int, row[:size])) for row in count_matrix(codes[:, 0], codes[:, 1], size)
        ),
    )
