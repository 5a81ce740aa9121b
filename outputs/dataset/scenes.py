"""The columns that say what both people of a dialogue know, and what one of them knows."""

from __future__ import annotations

from typing import Final

from outputs.dataset.columns import Row
from outputs.dataset.manifest import Column
from outputs.selection import SelectedDialogue
from prompts.tasks.items import SceneView, scene_view

SCENE: Final[tuple[Column, ...]] = (
    Column("situation", "text", "What both people know."),
    Column("initiator", "text", "Who asks."),
    Column("initiator_description", "text", "About the initiator."),
    Column("responder", "text", "Who answers."),
    Column("responder_description", "text", "About the responder."),
)
FACT: Final[tuple[Column, ...]] = (
    Column("fact_about", "text", "What the private fact concerns. For no model but an oracle."),
    Column("fact_text", "text", "The private fact of the responder. For no model but an oracle."),
)


class Scenes:
    """The values of :data:`SCENE`, made once for each version of a scenario."""

    def __init__(self) -> None:
        """Begin with none."""
        self._views: dict[tuple[str, str, str], SceneView] = {}
        self._known: dict[tuple[str, str, str], Row] = {}

    def view(self, selected: SelectedDialogue) -> SceneView:
        """Return what both people of a dialogue know."""
        key = _key(selected)
        if key not in self._views:
            self._views[key] = scene_view(selected.scenario, key[2])
        return self._views[key]

    def of(self, selected: SelectedDialogue) -> Row:
        """Return the columns that say what both people of a dialogue know."""
        key = _key(selected)
        if key not in self._known:
            view = self.view(selected)
            self._known[key] = {column.name: getattr(view, column.name) for column in SCENE}
        return self._known[key]


def private_fact(selected: SelectedDialogue) -> Row:
    """Return the values of :data:`FACT`."""
    fact = selected.scenario.fact(selected.dialogue.case.fact)
    return {"fact_about": fact.about, "fact_text": fact.text}


def _key(selected: SelectedDialogue) -> tuple[str, str, str]:
    case = selected.dialogue.case
    return case.scenario, case.scenario_fingerprint, case.language
