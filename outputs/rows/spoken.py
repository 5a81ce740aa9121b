"""Who says a turn, in which phase, and what labels were asked for: for rows that show turns."""

from __future__ import annotations

from collections.abc import Mapping

from outputs.selecting.selection import SelectedDialogue
from quality.tables.header import SEPARATOR
from scenarios.dialogue import Turn
from scenarios.flow import planned_turns


def speaker(selected: SelectedDialogue, turn: Turn) -> str:
    """Return the name of who speaks; the role where the scenario has no name for it."""
    person = selected.scenario.roles.get(turn.role)
    return turn.role if person is None else person.name


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
