"""Who says a turn, in which phase, and what labels were asked for: for rows that show turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from outputs.dataset.columns import Row
from outputs.dataset.manifest import Column
from outputs.selecting.selection import SelectedDialogue
from quality.tables.header import SEPARATOR
from scenarios.dialogue import Turn
from scenarios.flow import planned_turns

SPOKEN: Final = (
    Column("role", "text", "Who speaks."),
    Column("speaker", "text", "The name of who speaks."),
    Column("phase", "text", "The phase of a flow; null without a flow."),
    Column("kind", "text", "opening (fixed words) or improvised."),
    Column("text", "text", "The words."),
)


def spoken(selected: SelectedDialogue, turn: Turn, in_phase: Mapping[int, str]) -> Row:
    """Return the values of :data:`SPOKEN`; who has no name in the scenario is called by the role.

    Args:
        selected: the dialogue.
        turn: one of its turns.
        in_phase: what :func:`phases` returns of the dialogue.
    """
    person = selected.scenario.roles.get(turn.role)
    return {
        "role": turn.role,
        "speaker": turn.role if person is None else person.name,
        "phase": in_phase.get(turn.index),
        "kind": turn.kind,
        "text": turn.text,
    }


def phases(selected: SelectedDialogue) -> Mapping[int, str]:
    """Return the id of the phase of every turn of a flow, by index; nothing without a flow.

    Turns of imported dialogues that do not follow the flow are left out.
    """
    if not selected.scenario.flow:
        return {}
    planned = planned_turns(selected.scenario, selected.dialogue.case)
    return {
        turn.index: plan.phase.id
        for turn in selected.dialogue.turns
        if turn.index < len(planned)
        and (plan := planned[turn.index]).role == turn.role
        and plan.phase is not None
    }


def wanted_labels(turn: Turn) -> dict[str, str]:
    """Return the labels a turn was asked for, by dimension; several of one joined."""
    found: dict[str, list[str]] = {}
    for dimension, label in turn.wanted:
        found.setdefault(dimension, []).append(label)
    return {dimension: SEPARATOR.join(labels) for dimension, labels in found.items()}
