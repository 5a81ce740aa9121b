"""Which templates ask about a scene: those of question and answer, or those for any people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from prompts.tasks.items import SceneView

LISTED: Final[Mapping[str, str]] = {
    "judge_turn": "people_utterance",
    "judge_dialogue": "people_dialogue",
    "task_utterance": "people_utterance",
    "task_dialogue": "people_dialogue",
    "verify_turn": "people_verify",
}
"""By the stem of templates that speak of an initiator, a responder and one private fact: those that
take their place where a scene lists its people. Templates of other stems are used for all scenes."""
PEOPLE_TEMPLATES: Final = (
    *(f"{stem}_{part}.j2" for stem in sorted(set(LISTED.values())) for part in ("system", "user")),
    "people_examples.j2", "people_intro.j2", "people_private.j2", "people_rules.j2",
    "people_scene.j2",
)  # fmt: skip
"""The templates that are used for scenes that list their people, besides those for all scenes."""


def stem_for(stem: str, *, listed: bool) -> str:
    """Return the stem of the templates that ask about a scene.

    Args:
        stem: that of a task.
        listed: whether the scene lists its people.
    """
    return LISTED.get(stem, stem) if listed else stem


def is_listed(scene: SceneView) -> bool:
    """Whether a scene lists its people, so that nothing is said of initiators and responders."""
    return bool(scene.people)
