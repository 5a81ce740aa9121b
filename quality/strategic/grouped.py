"""Labels and benefit of answers by what is known of them: a trial, a scenario, the side that asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quality.strategic.discourses import Discourse, LabelledAnswer
from quality.strategic.distributions import Distribution, distribution
from quality.strategic.histograms import Histogram, histograms


@dataclass(frozen=True, slots=True)
class GroupedAnswers:
    """What annotators say of the answers of each group; ``dialogue`` of a row names the group.

    Where the witness stands at the end is a matter of a dialogue, and is left out.
    """

    distributions: tuple[Distribution, ...] = ()
    """One per group and annotator."""
    histograms: tuple[Histogram, ...] = ()
    """One per metric and group; z-scores of net benefit are over the answers of all groups."""


def grouped_answers(
    discourses: Sequence[Discourse], groups: Mapping[tuple[str, int], str], threshold: int
) -> GroupedAnswers:
    """Count the answers of all dialogues by group.

    Args:
        discourses: the labels of all annotators.
        groups: by dialogue and turn, the group of an answer; what has none is left out.
        threshold: from which rating on a maxim is violated.

    Source: CoBRA, figures 5 and 6, which hold cross-examinations against a cooperative control.
    """
    pooled: dict[tuple[str, str], list[LabelledAnswer]] = {}
    for discourse in discourses:
        for answer in discourse.answers:
            group = groups.get((discourse.dialogue, answer.turn))
            if group:
                pooled.setdefault((group, discourse.annotator), []).append(answer)
    together = [Discourse(*key, tuple(pooled[key])) for key in sorted(pooled)]
    return GroupedAnswers(
        tuple(distribution(one, threshold).without_end() for one in together),
        tuple(histograms(together)),
    )
