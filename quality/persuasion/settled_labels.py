"""Whose labels of a turn count: an expert's, people's, judges', or what the speaker declared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from quality.persuasion.runs_of_turns import AGREEING, SpokenTurn, agreed
from quality.persuasion.spoken_dialogues import FACE_ACT, INTENTION
from scenarios.annotations import ADJUDICATED, DECLARED, HUMAN, Annotation
from scenarios.dialogue import Dialogue
from scenarios.terms import LabelValue

JUDGES: Final = ("external", "juror", "self")
"""Kinds of labels that models gave who read a turn."""
RANKS: Final = ((ADJUDICATED,), (HUMAN,), JUDGES, (DECLARED,))
"""Kinds of labels, those that count first; of each the labels that annotators agree on."""
KINDS: Final = tuple(kind for kinds in RANKS for kind in kinds)


def settled_turns(
    dialogue: Dialogue, annotations: Iterable[Annotation]
) -> tuple[tuple[SpokenTurn, ...], dict[int, str]]:
    """Return the turns of a dialogue with the face act and the intention that they have.

    Of the kinds in ``RANKS`` the first that says anything about a turn counts. Where several
    annotators of that kind do, two and more than half of them have to agree.

    Args:
        dialogue: what was said, with the labels that speakers declared.
        annotations: of this dialogue; other dimensions and other subjects are left aside.

    Returns:
        The turns, and by index of those with an intention whose labels count: ``adjudicated``,
        ``human``, ``judges`` or ``declared``.
    """
    given: defaultdict[tuple[int, str, int], list[LabelValue]] = defaultdict(list)
    for annotation in annotations:
        turn, value = annotation.subject.turn, annotation.value
        if turn is None or value is None or annotation.subject.part:
            continue
        rank = next((i for i, kinds in enumerate(RANKS) if annotation.kind in kinds), None)
        # What speakers declare stands in the turns themselves.
        if rank is not None and annotation.kind != DECLARED:
            given[turn, annotation.dimension, rank].append(value)
    for said in dialogue.turns:
        for label in said.tactic:
            given[said.index, label.dimension, len(RANKS) - 1].append(label.value)
    turns, sources = [], {}
    for said in dialogue.turns:
        intention, source = _settled(given, said.index, INTENTION)
        face_act, _ = _settled(given, said.index, FACE_ACT)
        turns.append(SpokenTurn(said.index, said.role, said.text, intention, face_act))
        if intention is not None:
            sources[said.index] = source
    return tuple(turns), sources


def _settled(
    given: defaultdict[tuple[int, str, int], list[LabelValue]], turn: int, dimension: str
) -> tuple[str | None, str]:
    for rank, kinds in enumerate(RANKS):
        values: Sequence[LabelValue] = given.get((turn, dimension, rank), ())
        if values:
            label = agreed(values, least=min(AGREEING, len(values)))
            name = kinds[0] if len(kinds) == 1 else "judges"
            return (label if isinstance(label, str) else None), name
    return None, ""
