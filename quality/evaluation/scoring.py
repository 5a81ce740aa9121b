"""Score the answers of one model on one dimension against one kind of reference."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from quality.evaluation.answers import Grouping, ScoredAnswer
from quality.evaluation.clustering import RESAMPLING, Clusters, Figure, clustered
from quality.evaluation.floors import floors, majority_code
from quality.evaluation.positions import position_shares
from quality.evaluation.remarks import missing_remarks, remarks
from quality.evaluation.scores import (
    AnswerTally,
    ClassScore,
    ClusteredEstimate,
    DrawScore,
    GroupScore,
    PositionShare,
    Scores,
    Weighting,
)
from quality.statistics.bootstrap import Floats, Resampling
from quality.statistics.class_figures import (
    Codes,
    Flags,
    accuracy,
    class_features,
    class_figures,
    count_matrix,
    macro_f1,
    share,
)
from scenarios.errors import UsageError

_WHOLE = 4
"""Figures of all answers before those of each label."""


@dataclass(frozen=True, slots=True)
class ScoreKey:
    """What a table of scores is of."""

    reference: str
    task: str
    mode: str
    model: str
    dimension: str


@dataclass(frozen=True, slots=True)
class CodedAnswers:
    """Scored answers as numbers: failed ones are left out."""

    labels: tuple[str, ...]
    answers: tuple[ScoredAnswer, ...]
    true: Codes
    said: Codes
    weights: Floats

    @property
    def features(self) -> Floats:
        """What figures are made of, shape ``(answers, 3 * labels)``."""
        return class_features(self.true, self.said, len(self.labels), self.weights)


def coded(
    answers: Sequence[ScoredAnswer],
    labels: Sequence[str],
    weights: Mapping[str, float] | None = None,
) -> CodedAnswers:
    """Turn answers into numbers.

    A label that is none of ``labels`` counts as one that could not be read.

    Args:
        answers: of one dimension; those that failed are left out.
        labels: the labels of the dimension.
        weights: what an item counts; 1 where it is missing.

    Raises:
        UsageError: a reference is none of the labels.
    """
    place = {label: code for code, label in enumerate(labels)}
    scored = answers_given(answers, labels)
    return CodedAnswers(
        labels=tuple(labels),
        answers=scored,
        true=np.array([place[answer.reference] for answer in scored], dtype=np.intp),
        said=np.array([_said(answer, place) for answer in scored], dtype=np.intp),
        weights=weights_of(scored, weights),
    )


def answers_given(
    answers: Sequence[ScoredAnswer],
    labels: Sequence[str],
    parts: Callable[[str], Collection[str]] = lambda label: (label,),
) -> tuple[ScoredAnswer, ...]:
    """Return the answers that did not fail; ``parts`` takes a reference of several labels apart.

    Raises:
        UsageError: a reference has what is none of the labels.
    """
    given = tuple(answer for answer in answers if answer.fault != "failed")
    for answer in given:
        for label in parts(answer.reference):
            if label not in labels:
                raise UsageError(
                    f"item {answer.item}: {label!r} is no label of {answer.dimension}",
                    f"its labels are {', '.join(labels)}",
                )
    return given


def weights_of(answers: Sequence[ScoredAnswer], weights: Mapping[str, float] | None) -> Floats:
    """Return what each answer counts: 1 where its item has no weight."""
    return np.array([(weights or {}).get(answer.item, 1.0) for answer in answers])


def _said(answer: ScoredAnswer, place: Mapping[str, int]) -> int:
    return len(place) if answer.answer is None else place.get(answer.answer, len(place))


def score(
    key: ScoreKey,
    answers: Sequence[ScoredAnswer],
    labels: Sequence[str],
    *,
    weights: Mapping[str, float] | None = None,
    weighting: Weighting = "whole",
    drawn_over: str = "",
    unasked: int = 0,
    how: Resampling = RESAMPLING,
) -> Scores:
    """Return the figures of one model on one dimension.

    An answer that could not be read, with an unknown label, or refused is wrong, and counted
    apart. One that the endpoint did not give is missing: it enters no figure, and is told.

    Args:
        key: what the figures are of.
        answers: one per item and draw.
        labels: the labels of the dimension, in the order of the scheme.
        weights: what an item counts; 1 for each if None.
        weighting: what the weights are.
        drawn_over: the dimension over whose classes items were drawn evenly.
        unasked: how many answers of the task have not been asked for yet.
        how: how intervals are bootstrapped.

    Raises:
        UsageError: a reference is none of the labels.
    """
    code = coded(answers, labels, weights)
    names, groups = _groups(code.answers)
    estimates = _estimates(code, groups, how)
    size = len(code.labels)
    table = count_matrix(code.true, code.said, size)
    draws = _draws(code)
    majority, random = floors(code.labels, code.true, code.weights, _offered(code))
    return Scores(
        **asdict(key),
        **sizes(code.answers),
        labels=code.labels,
        tally=(told := tally(answers, _outside(code), unasked)),
        accuracy=estimates[0],
        macro_f1=estimates[1],
        balanced_accuracy=estimates[2],
        above_majority=estimates[3],
        classes=_classes(code, table, estimates[_WHOLE:]),
        matrix=tuple(tuple(map(int, row[:size])) for row in table),
        unread=tuple(map(int, table[:, size])),
        majority=majority,
        random=random,
        groups=_group_scores(names, groups, estimates[_WHOLE + 3 * size :]),
        positions=_positions(code.answers),
        draws=draws,
        accuracy_sd=_spread([draw.accuracy for draw in draws]),
        macro_f1_sd=_spread([draw.macro_f1 for draw in draws]),
        weighting=weighting,
        drawn_over=drawn_over,
        remarks=(*missing_remarks(told), *remarks(answers, code.answers, majority)),
    )


def _classes(
    code: CodedAnswers, table: NDArray[np.intp], estimates: Sequence[ClusteredEstimate]
) -> tuple[ClassScore, ...]:
    """Return the figures of each label; the last column of ``table`` counts what names none."""
    given = table[:, : len(code.labels)].sum(axis=0)
    return class_scores(code.labels, table.sum(axis=1), given, estimates)


def sizes(answers: Sequence[ScoredAnswer]) -> dict[str, Any]:
    """Return how many answers, items, cases and scenarios there are."""
    return {
        "n": len(answers),
        "items": len({answer.item for answer in answers}),
        "cases": len({answer.case for answer in answers}),
        "scenarios": len({answer.scenario for answer in answers}),
    }


def class_scores(
    labels: Sequence[str],
    support: NDArray[np.intp],
    given: NDArray[np.intp],
    estimates: Sequence[ClusteredEstimate],
) -> tuple[ClassScore, ...]:
    """Return the figures of each label: all precisions come first, then recalls, then F1s."""
    size = len(labels)
    return tuple(
        ClassScore(
            label,
            int(support[i]),
            int(given[i]),
            *(estimates[kind * size + i] for kind in range(3)),
        )
        for i, label in enumerate(labels)
    )


def _group_scores(
    names: Sequence[tuple[Grouping, str]], groups: Flags, estimates: Sequence[ClusteredEstimate]
) -> tuple[GroupScore, ...]:
    """Return accuracy and macro-F1 of each group; the first column of ``groups`` is everything."""
    return tuple(
        GroupScore(by, group, int(groups[:, 1 + i].sum()), *estimates[2 * i : 2 * i + 2])
        for i, (by, group) in enumerate(names)
    )


def _estimates(code: CodedAnswers, groups: Flags, how: Resampling) -> list[ClusteredEstimate]:
    """Return four figures of all answers, those of each label, and two of each further group.

    Of all: accuracy, macro-F1, balanced accuracy, accuracy above the majority floor; then
    precisions, recalls and F1s of the labels. Of a group: accuracy and macro-F1.
    """
    size, others = len(code.labels), groups.shape[1] - 1
    features = code.features
    counted = np.stack([features[group, size : 2 * size].sum(axis=0) > 0 for group in groups.T])
    commonest = majority_code(code.true, code.weights, size)

    def figures(sums: Floats) -> Floats:
        whole, rest = sums[:, 0], sums[:, 1:]
        support = whole[:, size : 2 * size]
        floor = share(support[:, commonest], support.sum(axis=-1))
        found = class_figures(whole, counted[0])
        first = [found.accuracy, found.macro_f1, found.balanced_accuracy, found.accuracy - floor]
        brief = np.stack([accuracy(rest), macro_f1(rest, counted[1:])], axis=-1)
        by_label = [found.precision, found.recall, found.f1]
        return np.hstack([np.stack(first, axis=-1), *by_label, brief.reshape(len(sums), -1)])

    layout = [Figure(is_share=True), *(Figure() for _ in range(_WHOLE - 1 + 3 * size))]
    layout += [Figure(1 + group, is_share) for group in range(others) for is_share in (True, False)]
    return clustered(features, figures, layout, Clusters.of(code.answers), groups=groups, how=how)


def _groups(
    answers: Sequence[ScoredAnswer],
) -> tuple[list[tuple[Grouping, str]], Flags]:
    """Return the names of all groups, and which answers are in all and in each of them."""
    names = [
        (by, group)
        for by in cast("tuple[Grouping, ...]", get_args(Grouping))
        for group in sorted({a.groups[by] for a in answers if by in a.groups}, key=natural_order)
    ]
    columns = [[True] * len(answers)]
    columns += [[answer.groups.get(by) == group for answer in answers] for by, group in names]
    return names, np.array(columns, dtype=np.bool_).T.reshape(len(answers), len(columns))


def natural_order(text: str) -> tuple[bool, int, str]:
    """Sort numbers by size, before other texts."""
    is_number = text.isdecimal()
    return (not is_number, int(text) if is_number else 0, text)


def _offered(code: CodedAnswers) -> Floats:
    """Return the chance of each label where one of those shown is drawn evenly."""
    offered = np.zeros((len(code.answers), len(code.labels)))
    for row, answer in zip(offered, code.answers, strict=True):
        shown = [label in answer.options or not answer.options for label in code.labels]
        row[:] = np.array(shown) / max(sum(shown), 1)
    return offered


def _outside(code: CodedAnswers) -> int:
    return sum(
        answer.answer is not None and said == len(code.labels)
        for answer, said in zip(code.answers, code.said.tolist(), strict=True)
    )


def tally(answers: Sequence[ScoredAnswer], outside: int, unasked: int = 0) -> AnswerTally:
    """Count what became of the questions; ``outside`` answers name what is no label."""
    faults = [answer.fault for answer in answers]
    return AnswerTally(
        # Who finds that something need not be answered has answered; where a label is right, wrongly.
        read=faults.count("") + faults.count("not asked") - outside,
        unreadable=faults.count("unreadable") + faults.count("cut off"),
        unknown_labels=faults.count("unknown label") + outside,
        refused=faults.count("refused"),
        failed=faults.count("failed"),
        harmonised=sum(answer.harmonised for answer in answers),
        cut_off=faults.count("cut off"),
        unasked=unasked,
    )


def _positions(answers: Sequence[ScoredAnswer]) -> tuple[PositionShare, ...]:
    """Count the places of answers and of references among the options as they were shown."""
    shown = [answer for answer in answers if answer.reference in answer.options]
    given = [place for answer in shown if (place := answer.position) is not None]
    right = [answer.options.index(answer.reference) for answer in shown]
    return position_shares(given, right, max((len(a.options) for a in shown), default=0))


def _draws(code: CodedAnswers) -> tuple[DrawScore, ...]:
    numbers = np.array([answer.draw for answer in code.answers], dtype=np.intp)
    if len(np.unique(numbers)) < 2:
        return ()
    features = code.features
    size = len(code.labels)
    found = []
    for number in np.unique(numbers):
        mine = numbers == number
        sums = features[mine].sum(axis=0)
        figures = class_figures(sums, sums[size : 2 * size] > 0)
        accuracy, macro = float(figures.accuracy), float(figures.macro_f1)
        found.append(DrawScore(int(number), int(mine.sum()), accuracy, macro))
    return tuple(found)


def _spread(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return float(np.std(defined, ddof=1)) if len(defined) > 1 else None
