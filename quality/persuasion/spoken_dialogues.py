"""Dialogues with the face act and the intention of every turn, as its annotators agree on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from quality.agreement.annotations import Answer
from quality.persuasion.runs_of_turns import AGREEING, SpokenTurn, agreed
from scenarios.terms import LabelValue

INTENTION: Final = "intention"
FACE_ACT: Final = "face_act"
Lines = Sequence[tuple[str, str]]
"""(role, text) of every turn of a dialogue."""


def spoken_dialogues(
    dialogues: Mapping[str, Lines], answers: Iterable[Answer]
) -> dict[str, tuple[SpokenTurn, ...]]:
    """Return dialogues with the labels that at least two annotators agree on.

    Where one annotator alone says anything about a dimension, e.g. the speakers themselves, or the
    authors of a file with settled labels, what that one says counts.

    Args:
        dialogues: what was said, by the name of the dialogue.
        answers: on items called ``dialogue#turn``; those on other dimensions are left aside.
    """
    said: defaultdict[str, defaultdict[str, list[LabelValue]]]
    said = defaultdict(lambda: defaultdict(list))
    annotators: defaultdict[str, set[str]] = defaultdict(set)
    for answer in answers:
        said[answer.dimension][answer.item].append(answer.value)
        annotators[answer.dimension].add(answer.annotator)

    def label(dimension: str, item: str) -> str | None:
        least = min(AGREEING, len(annotators[dimension]))
        value = agreed(said[dimension].get(item, ()), least=max(least, 1))
        return value if isinstance(value, str) else None

    return {
        name: tuple(
            SpokenTurn(
                place,
                role,
                text,
                intention=label(INTENTION, f"{name}#{place}"),
                face_act=label(FACE_ACT, f"{name}#{place}"),
            )
            for place, (role, text) in enumerate(lines)
        )
        for name, lines in dialogues.items()
    }
