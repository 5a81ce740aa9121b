"""The labels that experts decided on in review; people are slow, so there are few of them."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence

from pipeline.store.traces import label_from
from scenarios.dialogue import TacticLabel
from scenarios.schemes.model import LabelValue

Place = tuple[int, int]
"""Number of a dialogue, and index of a turn."""

# Quizzes are answered without the private fact, which veracity has no meaning without.
_DECIDED = """
    select i.dialogue, l.turn, l.dimension, l.value
    from newest_adjudications j join review_items i on i.seq = j.item
        join studies t on t.seq = i.study and t.mode = 'review'
        join adjudicated_labels l on l.adjudication = j.seq
    order by j.seq"""


def read_corrections(reader: sqlite3.Connection) -> dict[Place, dict[str, LabelValue]]:
    """Return what was decided, by place and dimension; the newest word counts."""
    found: defaultdict[Place, dict[str, LabelValue]] = defaultdict(dict)
    for dialogue, turn, dimension, value in reader.execute(_DECIDED):
        found[dialogue, turn][dimension] = label_from(value)
    return dict(found)


def corrected(
    tactic: Sequence[TacticLabel], decided: Mapping[str, LabelValue]
) -> tuple[TacticLabel, ...]:
    """Return the labels of an utterance with those that were decided on in their place.

    A label that was replaced has no rationale: the speaker gave one for another label.
    """
    return tuple(
        TacticLabel(label.dimension, decided[label.dimension])
        if decided.get(label.dimension, label.value) != label.value
        else label
        for label in tactic
    )
