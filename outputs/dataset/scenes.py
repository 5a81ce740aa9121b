"""The columns that say what both people of a dialogue know."""

from __future__ import annotations

from typing import Final

from outputs.dataset.columns import Row
from outputs.dataset.manifest import Column
from outputs.selection import SelectedDialogue
from prompts.evaluator import evaluator_view

SCENE: Final[tuple[Column, ...]] = (
    Column("situation", "text", "What both people know."),
    Column("initiator", "text", "Who asks."),
    Column("initiator_description", "text", "About the initiator."),
    Column("responder", "text", "Who answers."),
    Column("responder_description", "text", "About the responder."),
)


class Scenes:
    """The values of :data:`SCENE`, made once for each version of a scenario."""

    def __init__(self) -> None:
        """Begin with none."""
        self._known: dict[tuple[str, str], Row] = {}

    def of(self, selected: SelectedDialogue) -> Row:
        """Return what an evaluator may know of the situation and the people."""
        case = selected.dialogue.case
        key = (case.scenario, case.scenario_fingerprint)
        if key not in self._known:
            view = evaluator_view(selected.scenario, case.language)
            self._known[key] = {column.name: getattr(view, column.name) for column in SCENE}
        return self._known[key]
