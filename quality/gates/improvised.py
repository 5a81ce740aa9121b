"""What of a dialogue is compared with that of others."""

from __future__ import annotations

from quality.gates.protocol import GatedDialogue


def improvised_text(subject: GatedDialogue) -> str:
    """Return what was improvised in a dialogue, one line per turn."""
    return "\n".join(turn.text for turn in subject.improvised)
