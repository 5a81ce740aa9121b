"""Labels that most people give to a turn, where no speaker declares any and no expert decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from pipeline.store.queries.export import Readings
from quality.agreement.annotations import majority
from scenarios.dialogue import Dialogue, TacticLabel, Turn
from scenarios.schemes.model import Dimension, Scheme
from scenarios.terms import LabelValue

SPLIT: Final = "labels left out on which people are split"
ALONE: Final = "labels of one person alone, which nobody else confirmed or denied"


def labelled_dimensions(scheme: Scheme) -> tuple[Dimension, ...]:
    """Return the dimensions that a turn can have a label of: by its speaker, an expert or people."""
    declared = (*scheme.utterance_dimensions, *undeclared_dimensions(scheme))
    # Where nobody declares anything, all labels are those of people.
    return declared or scheme.people_dimensions("utterance")


def undeclared_dimensions(scheme: Scheme) -> tuple[Dimension, ...]:
    """Return the dimensions of runs of turns: no speaker declares them beside those of a turn."""
    return tuple(d for d in scheme.read_dimensions("span") if d.by == "declared")


@dataclass(frozen=True, slots=True)
class PeopleLabels:
    """A dialogue with the labels that most people gave."""

    dialogue: Dialogue
    turns: frozenset[int]
    """Indices of the turns that have such labels and no others."""
    beside: Mapping[int, frozenset[str]]
    """By index of a turn with others, an expert's, the dimensions on which it has such labels."""
    remarks: Counter[str]
    """Labels by what is to be known of them: left out, or of one person alone."""


def with_people_labels(
    scheme: Scheme, dialogue: Dialogue, people: Mapping[int, Readings]
) -> PeopleLabels:
    """Add to each turn the labels that more than half of those gave who labelled it.

    A label that is there already, an expert's, stays. Where one person alone labelled a turn, that
    is its label.

    Args:
        scheme: only its dimensions that turns can have a label of are read.
        dialogue: what was said.
        people: by index of the turn what people said.
    """
    dimensions = labelled_dimensions(scheme)
    remarks: Counter[str] = Counter()
    turns, alone, beside = [], set(), {}
    for turn in dialogue.turns:
        given = people.get(turn.index) if turn.is_answer else None
        settled = _settled(dimensions, turn, given or {}, remarks)
        if settled and turn.tactic:
            beside[turn.index] = frozenset(label.dimension for label in settled)
        elif settled:
            alone.add(turn.index)
        turns.append(replace(turn, tactic=(*turn.tactic, *settled)) if settled else turn)
    return PeopleLabels(replace(dialogue, turns=tuple(turns)), frozenset(alone), beside, remarks)


def _settled(
    dimensions: tuple[Dimension, ...], turn: Turn, given: Readings, remarks: Counter[str]
) -> list[TacticLabel]:
    there = {label.dimension for label in turn.tactic}
    settled = []
    for dimension in dimensions:
        values = given.get(dimension.id, ())
        if not values or dimension.id in there:
            continue
        label = _shared(values)
        if label is None:
            remarks[SPLIT] += 1
            continue
        settled.append(TacticLabel(dimension.id, label))
        if len(values) == 1:
            remarks[ALONE] += 1
    return settled


def _shared(values: tuple[LabelValue, ...]) -> LabelValue | None:
    """Return the label that most share; several labels are the same in any order."""
    return majority([tuple(sorted(v)) if isinstance(v, tuple) else v for v in values])
