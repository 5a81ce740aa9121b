"""The columns that say what everybody in a dialogue knows, and what one of them alone knows."""

from __future__ import annotations

from typing import Final

from outputs.dataset.columns import Row
from outputs.dataset.manifest import Column
from outputs.selecting.selection import SelectedDialogue
from prompts.tasks.items import SceneView, fact_views, scene_view
from scenarios.spec import Scenario
from scenarios.variation import as_told

SCENE: Final[tuple[Column, ...]] = (
    Column("situation", "text", "What everybody knows."),
    Column("initiator", "text", "Who asks; empty with a flow, where there are other roles."),
    Column("initiator_description", "text", "About the initiator."),
    Column("responder", "text", "Who answers; empty with a flow."),
    Column("responder_description", "text", "About the responder."),
)
FACT: Final[tuple[Column, ...]] = (
    Column("fact_about", "text", "What the private fact concerns. For no model but an oracle."),
    Column("fact_text", "text", "The private fact itself. For no model but an oracle."),
)


PEOPLE: Final[tuple[Column, ...]] = (
    Column("people", "messages", "Everybody, by role: the name, and on the next line who that is."),
    Column(
        "private",
        "messages",
        "What each knows and not all do, by role. For no model but an oracle.",
    ),
    Column("role", "text", "Who says the utterance; empty where it is the conversation."),
    Column("question_role", "text", "Who says what the utterance answers; empty without question."),
)
"""Of runs with other scenes than question and answer; the columns before are empty there."""


_Key = tuple[str, str, str, str]


class Scenes:
    """The values of :data:`SCENE`, made once for each version of a scenario and what was told beside it."""

    def __init__(self) -> None:
        """Begin with none."""
        self._views: dict[_Key, SceneView] = {}
        self._known: dict[_Key, Row] = {}

    def view(self, selected: SelectedDialogue) -> SceneView:
        """Return what both people of a dialogue know."""
        key = _key(selected)
        if key not in self._views:
            self._views[key] = scene_view(as_told_in(selected), key[2])
        return self._views[key]

    def of(self, selected: SelectedDialogue) -> Row:
        """Return the columns that say what both people of a dialogue know."""
        key = _key(selected)
        if key not in self._known:
            view = self.view(selected)
            self._known[key] = {column.name: getattr(view, column.name) for column in SCENE}
        return self._known[key]


def as_told_in(selected: SelectedDialogue) -> Scenario:
    """Return the scenario of a dialogue with what everybody in it was told; see :func:`as_told`."""
    dialogue = selected.dialogue
    axes = selected.source.material.axes_of(dialogue)
    return as_told(selected.scenario, axes, dialogue.case.variation)


def listed_people(selected: SelectedDialogue, scene: SceneView) -> Row:
    """Return what of :data:`PEOPLE` is the same for every row of a dialogue."""
    facts = fact_views(selected.scenario) if scene.people else ()
    return {
        "people": [
            {"role": one.role, "content": f"{one.name}\n{one.description}"} for one in scene.people
        ],
        "private": [
            {"role": role, "content": f"{one.about}\n{one.text}"}
            for one in facts
            for role in (one.owner, *one.others)
        ],
    }


def private_fact(selected: SelectedDialogue) -> Row:
    """Return the values of :data:`FACT`; nothing where the case has none of its own."""
    if not selected.dialogue.case.fact:
        return {"fact_about": "", "fact_text": ""}
    fact = selected.scenario.fact(selected.dialogue.case.fact)
    return {"fact_about": fact.about, "fact_text": fact.text}


def _key(selected: SelectedDialogue) -> _Key:
    case = selected.dialogue.case
    return case.scenario, case.scenario_fingerprint, case.language, as_told_in(selected).background
