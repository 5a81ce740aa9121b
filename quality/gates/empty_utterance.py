"""Nothing is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from quality.gates.protocol import GatedDialogue, GateExtension, NoSettings
from scenarios.verdicts import Flag


@dataclass(frozen=True, slots=True)
class EmptyUtterance:
    """Looks for turns without a single letter or digit."""

    code: ClassVar[str] = "empty_utterance"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag every turn that says nothing, the opening included."""
        return [
            subject.flag(self.code, "there is no word in it", turn)
            for turn in subject.dialogue.turns
            if not any(char.isalnum() for char in turn.text)
        ]


GATE = GateExtension(EmptyUtterance.code, NoSettings, lambda _: EmptyUtterance())
