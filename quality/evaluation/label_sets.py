"""Score answers that are several labels at once: how far the labels given are those that are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Literal

import numpy as np

from prompts.scheme_text import BAR
from quality.evaluation.answers import ScoredAnswer
from quality.evaluation.clustering import RESAMPLING, Clusters, Figure, clustered
from quality.evaluation.remarks import interval_remarks, missing_remarks
from quality.evaluation.scores import SetFloor, SetScores, Weighting
from quality.evaluation.scoring import (
    ScoreKey,
    answers_given,
    class_scores,
    sizes,
    tally,
    weights_of,
)
from quality.statistics.bootstrap import Floats, Resampling
from quality.statistics.class_figures import Flags, class_figures, share
from scenarios.schemes.vocabulary import NONE_OF_THEM

_PER_ANSWER = 3
"""What is summed up of an answer before its labels: its weight, whether it is exact, and its F1."""
_WHOLE = 4
"""Figures of all answers before those of each label."""


@dataclass(frozen=True, slots=True)
class CodedSets:
    """Sets of labels as flags, shape ``(answers, labels)``; failed answers are left out."""

    labels: tuple[str, ...]
    answers: tuple[ScoredAnswer, ...]
    true: Flags
    said: Flags
    outside: Flags
    """Which answers hold something that is no label, shape ``(answers,)``."""
    unread: Flags
    """Which answers are wrong whatever is right: those, and what could not be read at all."""
    weights: Floats


def coded_sets(
    answers: Sequence[ScoredAnswer],
    labels: Sequence[str],
    weights: Mapping[str, float] | None = None,
) -> CodedSets:
    """Turn answers into flags, as :func:`~quality.evaluation.scoring.coded` does single labels.

    Raises:
        UsageError: a reference has what is none of the labels.
    """
    parts = partial(_parts, labels=labels)
    scored = answers_given(answers, labels, parts)
    given = [parts(answer.answer or "") for answer in scored]
    outside = [not said <= set(labels) for said in given]
    read = [set() if odd else said for said, odd in zip(given, outside, strict=True)]
    unread = [odd or a.answer is None for a, odd in zip(scored, outside, strict=True)]
    return CodedSets(
        tuple(labels),
        scored,
        _flags([parts(answer.reference) for answer in scored], labels),
        _flags(read, labels),
        np.array(outside, dtype=np.bool_),
        np.array(unread, dtype=np.bool_),
        weights_of(scored, weights),
    )


def score_sets(
    key: ScoreKey,
    answers: Sequence[ScoredAnswer],
    labels: Sequence[str],
    *,
    weights: Mapping[str, float] | None = None,
    weighting: Weighting = "whole",
    drawn_over: str = "",
    unasked: int = 0,
    how: Resampling = RESAMPLING,
) -> SetScores:
    """Return the figures of one model on one dimension of which several labels may be right at once.

    The F1 of an answer is twice the labels that are both given and right, by all that are given and
    all that are right: 2|A n B| / (|A| + |B|). An answer that could not be read gives none.

    Args:
        key: what the figures are of.
        answers: one per item and draw; labels that stand together are joined by a bar.
        labels: the labels of the dimension, in the order of the scheme.
        weights: what an item counts; 1 for each if None.
        weighting: what the weights are.
        drawn_over: the dimension over whose classes items were drawn evenly.
        unasked: how many answers of the task have not been asked for yet.
        how: how intervals are bootstrapped.

    Raises:
        UsageError: a reference has what is none of the labels.
    """
    code = coded_sets(answers, labels, weights)
    size = len(code.labels)
    counted: Flags = np.any(code.true, axis=0)

    def figures(sums: Floats) -> Floats:
        return _figures(sums[:, 0], counted)

    layout = [Figure(is_share=True), *(Figure() for _ in range(_WHOLE - 1 + 3 * size))]
    features = _features(code.true, code.said, code.weights, code.unread)
    found = clustered(features, figures, layout, Clusters.of(code.answers), how=how)
    support, given = code.true.sum(axis=0), code.said.sum(axis=0)
    return SetScores(
        **asdict(key),
        **sizes(code.answers),
        labels=code.labels,
        tally=(told := tally(answers, int(code.outside.sum()), unasked)),
        f1=found[1],
        micro_f1=found[2],
        macro_f1=found[3],
        exact=found[0],
        classes=class_scores(code.labels, support, given, found[_WHOLE:]),
        floors=_floors(code, counted),
        weighting=weighting,
        drawn_over=drawn_over,
        remarks=(*missing_remarks(told), *interval_remarks(code.answers)),
    )


def _features(true: Flags, said: Flags, weights: Floats, unread: Flags | bool = False) -> Floats:
    """Return what is summed up: of each answer, then per label hits, references and answers."""
    hits = true & said
    both = (true.sum(axis=1) + said.sum(axis=1)).astype(np.float64)
    f1 = np.nan_to_num(share(2.0 * hits.sum(axis=1), both), nan=1.0)
    exact = (true == said).all(axis=1) & ~np.asarray(unread)
    whole = np.column_stack([np.ones(len(true)), exact, np.where(unread, 0.0, f1)])
    return np.hstack([whole, hits, true, said]) * weights[:, None]


def _figures(sums: Floats, counted: Flags) -> Floats:
    """Return exact match, mean F1, micro-F1 and macro-F1, then those of labels, per row of sums."""
    whole, by_label = sums[..., :_PER_ANSWER], sums[..., _PER_ANSWER:]
    hits, support, given = np.split(by_label, 3, axis=-1)
    found = class_figures(by_label, counted)
    micro = share(2 * hits.sum(axis=-1), support.sum(axis=-1) + given.sum(axis=-1))
    first = [share(whole[..., 1], whole[..., 0]), share(whole[..., 2], whole[..., 0]), micro]
    columns = np.stack([*first, found.macro_f1], axis=-1)
    return np.concatenate([columns, found.precision, found.recall, found.f1], axis=-1)


def _floors(code: CodedSets, counted: Flags) -> tuple[SetFloor, ...]:
    """Return what is reached by always giving the commonest set of labels, and by giving them all."""
    if not code.answers:
        return ()
    weighed: Counter[str] = Counter()
    for answer, weight in zip(code.answers, code.weights.tolist(), strict=True):
        weighed[answer.reference] += weight
    commonest = _parts(max(weighed, key=weighed.__getitem__), code.labels)
    floors = []
    given: tuple[tuple[Literal["majority", "all labels"], set[str]], ...]
    given = (("majority", commonest), ("all labels", set(code.labels)))
    for name, always in given:
        said = np.tile(_flags([always], code.labels), (len(code.answers), 1))
        sums = _features(code.true, said, code.weights).sum(axis=0)
        exact, f1, micro, macro = _figures(sums, counted)[:_WHOLE].tolist()
        shown = tuple(label for label in code.labels if label in always)
        floors.append(SetFloor(name, shown, f1, micro, macro, exact))
    return tuple(floors)


def _parts(text: str, labels: Sequence[str]) -> set[str]:
    """Return the labels that a text joins; "none of them" is one where a label is called so."""
    return {part for part in text.split(BAR) if part and (part != NONE_OF_THEM or part in labels)}


def _flags(sets: Sequence[set[str]], labels: Sequence[str]) -> Flags:
    shape = (len(sets), len(labels))
    return np.array([[label in one for label in labels] for one in sets], np.bool_).reshape(shape)
