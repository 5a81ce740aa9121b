"""A draft as the templates of reflection and revision print it."""

from __future__ import annotations

from prompts.scheme_text import label_text
from scenarios.dialogue import Draft


def draft_variables(draft: Draft) -> dict[str, object]:
    """Return the draft's text, and (dimension, label, rationale) of each label it declares."""
    declared = tuple((t.dimension, label_text(t.value), t.rationale) for t in draft.tactic)
    return {"draft": draft.text, "declared": declared}
