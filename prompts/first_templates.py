"""The actors' templates of hipo 0.1, which runs made with it go on with."""

from __future__ import annotations

from typing import Final

from prompts.environment import SHIPPED, Templates

FIRST_TEMPLATES: Final = (
    "initiator_system.j2", "initiator_user.j2", "responder_system.j2", "responder_user.j2",
    "reflect_system.j2", "reflect_user.j2", "revise_system.j2", "revise_user.j2", "repair.j2",
    "answer_format.j2", "conversation.j2", "draft.j2", "labels.j2", "private.j2", "rules.j2",
    "scene.j2", "speech.j2", "wanted.j2",
)  # fmt: skip
"""In this order they are part of the fingerprints of such runs."""
ADDED: Final = (
    "answer_rules.j2", "dimension.j2", "knowledge.j2", "reframe.j2", "terms.j2",
)  # fmt: skip
"""What later versions have besides. Runs of hipo 0.1 stored none of them: their prompts ask for no
plan and no verdict on the fit, and name nobody beside the roles."""


def first_sources() -> dict[str, str]:
    """Return the sources by name, as runs of hipo 0.1 used them and did not store them."""
    folder = SHIPPED / "hipo_0_1"
    return {name: (folder / name).read_text(encoding="utf-8") for name in FIRST_TEMPLATES}


def are_first(templates: Templates) -> bool:
    """Return whether templates are those that a run of hipo 0.1 is made with."""
    names = templates.stored_names
    return names is not None and not names.intersection(ADDED)
