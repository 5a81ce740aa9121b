"""Draw the dialogues of a quiz evenly over labels, so that the commonest do not fill it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from quality.evaluation.draw import draw_evenly
from quality.review.exhibits import target_turns
from scenarios.dialogue import Dialogue
from scenarios.reviews import ReviewStudy

K = TypeVar("K", bound=Hashable)
LabelName = tuple[str, str]
"""A dimension and one of its labels."""


def quiz_draw(
    dialogues: Iterable[Dialogue], study: ReviewStudy, n: int, *, dimension: str | None
) -> list[str]:
    """Return the ids of dialogues whose labels are as evenly spread as one draw can make them.

    A dialogue stands for the rarest label of its lines, and as many are drawn for one label as for
    another. Labels that the study does not offer do not count; dialogues without any other are not
    drawn. Source: HIPO, appendix E.

    Args:
        dialogues: looked at one after the other; none is kept.
        study: its seed, and the labels it does not offer.
        n: how many to draw.
        dimension: whose labels; None: those of all dimensions of utterances.
    """
    labels = {f"{one.case.id}/{one.arm}": _labels(one, study, dimension) for one in dialogues}
    classes = rarest({name: found for name, found in labels.items() if found})
    names = {item: f"{label[0]}: {label[1]}" for item, label in classes.items()}
    drawn = draw_evenly(names, n, dimension=dimension or "", seed=study.seed)
    return list(drawn.items)


def rarest(labels: Mapping[K, Sequence[LabelName]]) -> dict[K, LabelName]:
    """Return the label of each that is the rarest of its dimension, of all that are there."""
    counts = Counter(label for found in labels.values() for label in found)
    whole: Counter[str] = Counter()
    for (dimension, _), count in counts.items():
        whole[dimension] += count
    return {
        key: min(found, key=lambda label: (counts[label] / whole[label[0]], label))
        for key, found in labels.items()
    }


def _labels(dialogue: Dialogue, study: ReviewStudy, dimension: str | None) -> list[LabelName]:
    targets = target_turns(dialogue)
    return [
        (label.dimension, label.value)
        for turn in dialogue.turns
        if turn.index in targets
        for label in turn.tactic
        if dimension in (None, label.dimension)
        and isinstance(label.value, str)
        and label.value not in study.hidden.get(label.dimension, ())
    ]
