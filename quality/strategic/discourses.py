"""Discourses: the answers of one dialogue as one annotator labelled them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from quality.strategic.formula import Formula
from quality.strategic.moves import LABELLED, Move, read_move
from quality.strategic.trajectory import AnswerMetrics, trajectory
from scenarios.terms import LabelValue


@dataclass(frozen=True, slots=True)
class AnswerLabel:
    """One label that one annotator gave one answer."""

    dialogue: str
    turn: int
    """Orders the answers of a dialogue."""
    annotator: str
    dimension: str
    value: LabelValue | None


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """An answer as one annotator sees it, with where the witness then stands."""

    turn: int
    move: Move
    metrics: AnswerMetrics


@dataclass(frozen=True, slots=True)
class Discourse:
    """All answers of a dialogue that one annotator labelled, in order."""

    dialogue: str
    annotator: str
    answers: tuple[LabelledAnswer, ...]


def discourses(labels: Iterable[AnswerLabel], formula: Formula) -> list[Discourse]:
    """Group labels by dialogue and annotator, and compute the metrics of each discourse.

    Dialogues and annotators keep the order in which they first come; labels of other dimensions
    are passed over.

    Raises:
        UsageError: a label is none of its dimension.
    """
    rows: dict[tuple[str, str], dict[int, dict[str, LabelValue | None]]] = {}
    for label in labels:
        if label.dimension in LABELLED:
            turns = rows.setdefault((label.dialogue, label.annotator), {})
            turns.setdefault(label.turn, {})[label.dimension] = label.value
    # Labels are forgotten as their discourse is there: together they would take the most memory.
    return [_discourse(*key, rows.pop(key), formula) for key in list(rows)]


def _discourse(
    dialogue: str,
    annotator: str,
    turns: Mapping[int, Mapping[str, LabelValue | None]],
    formula: Formula,
) -> Discourse:
    numbers = sorted(turns)
    moves = [read_move(turns[number]) for number in numbers]
    rows = zip(numbers, moves, trajectory(moves, formula), strict=True)
    return Discourse(dialogue, annotator, tuple(LabelledAnswer(*row) for row in rows))
