"""Score swap items: one lie shown with its own fact, with another fact, and with none.

With the own fact the label of lies is right, with another one every other label; without a fact
nothing is right or wrong, and only how often a lie is named is counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from quality.evaluation.answers import ScoredAnswer
from quality.evaluation.clustering import RESAMPLING, Clusters, Figure, clustered
from quality.evaluation.remarks import interval_remarks
from quality.evaluation.result_row import NOT
from quality.evaluation.scores import SwapScore
from quality.evaluation.scoring import ScoreKey
from quality.statistics.bootstrap import Floats, Resampling
from quality.statistics.class_figures import Flags, share

Shown = Literal["own", "other", "none"]


def shown_of(answer: ScoredAnswer) -> Shown:
    """Return which fact an item shows, which its reference tells."""
    if not answer.reference:
        return "none"
    return "other" if answer.reference.startswith(NOT) else "own"


def line_of(item: str) -> str:
    """Return the line that a swap item is about: its id without what is shown."""
    for ending in ("/own", "/none"):
        if item.endswith(ending):
            return item.removesuffix(ending)
    return item.rpartition("/other/")[0] or item


def two_sided(answers: Sequence[ScoredAnswer]) -> tuple[list[ScoredAnswer], tuple[str, ...]]:
    """Return the scored items with two labels, a lie and none, so that they make one table.

    Args:
        answers: as for :func:`swap_score`.

    Returns:
        The answers, with every label but that of lies put as ``not`` it, and the two labels.
    """
    lie = label_of_lies(answers)
    labels = (lie, f"{NOT}{lie}")
    return [
        replace(
            answer,
            answer=None if answer.answer is None else labels[answer.answer != lie],
            options=(),
        )
        for answer in answers
        if answer.reference
    ], labels


def label_of_lies(answers: Sequence[ScoredAnswer]) -> str:
    """Return the label that is right with the own fact; empty where nothing is scored."""
    return next((a.reference.removeprefix(NOT) for a in answers if a.reference), "")


def swap_score(
    key: ScoreKey, answers: Sequence[ScoredAnswer], how: Resampling = RESAMPLING
) -> SwapScore:
    """Return how often a model is right with each fact, and on how many lines with both.

    Args:
        key: what the answers are of.
        answers: of one model; the reference is the label of lies with the own fact, ``not`` that
            label with another one, and empty with none. Those that failed are left out.
        how: how intervals are bootstrapped over cases and scenarios.
    """
    scored = [answer for answer in answers if answer.fault != "failed"]
    lie = label_of_lies(scored)
    shown = np.array([shown_of(answer) for answer in scored], dtype=np.str_)
    right = np.array([answer.right for answer in scored], dtype=np.bool_)
    named = np.array([answer.answer == lie for answer in scored], dtype=np.bool_)
    own, other, none = (shown == name for name in ("own", "other", "none"))
    both, pairs = _pairs(scored, shown, right)
    features = np.column_stack(
        [own & right, own, other & right, other, both, pairs, none & named, none]
    ).astype(np.float64)

    groups = np.column_stack([own, other, pairs, none, own | other])

    def figures(sums: Floats) -> Floats:
        # Every figure is about one group; the features of the others are 0 in it.
        hits, counts = sums[:, :4, 0::2], sums[:, :4, 1::2]
        shares = np.diagonal(share(hits, counts), axis1=1, axis2=2)
        return np.column_stack([shares, shares[:, :2].mean(axis=1)])

    layout = [*(Figure(group, is_share=True) for group in range(4)), Figure(4)]
    found = clustered(features, figures, layout, Clusters.of(scored), groups=groups, how=how)
    return SwapScore(
        task=key.task,
        mode=key.mode,
        model=key.model,
        dimension=key.dimension,
        lie=lie,
        n_own=int(own.sum()),
        n_other=int(other.sum()),
        own=found[0],
        other=found[1],
        mean=found[4],
        pairs=int(pairs.sum()),
        both=found[2],
        n_none=int(none.sum()),
        named_without_fact=found[3],
        remarks=tuple(interval_remarks([a for a in scored if a.reference])),
    )


def _pairs(
    answers: Sequence[ScoredAnswer], shown: np.typing.NDArray[np.str_], right: Flags
) -> tuple[Flags, Flags]:
    """Mark one item of each line that was answered with both facts: both right, and all of them.

    Where lines were asked about after several draws of examples, each draw counts.
    """
    by_line: defaultdict[tuple[str, int], dict[str, int]] = defaultdict(dict)
    for place, answer in enumerate(answers):
        by_line[line_of(answer.item), answer.draw][str(shown[place])] = place
    both, pairs = np.zeros(len(answers), np.bool_), np.zeros(len(answers), np.bool_)
    for places in by_line.values():
        if {"own", "other"} <= places.keys():
            pairs[places["own"]] = True
            both[places["own"]] = right[places["own"]] and right[places["other"]]
    return both, pairs
