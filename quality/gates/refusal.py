"""The actor falls out of its role: it refuses to play, or speaks as a machine that serves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from pydantic import Field

from prompts.refusals import refusal_in, refusal_languages
from quality.gates.protocol import GatedDialogue, GateExtension, quoted
from scenarios.strict import Strict
from scenarios.verdicts import Flag


class RefusalSettings(Strict):
    """What only a machine would say."""

    refusal_phrases: tuple[Annotated[str, Field(min_length=3)], ...] = ()
    """Further phrases that only a machine would say, beside those that ship; taken literally, in any case."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Looks for what assistants say and people in a conversation do not."""

    its: RefusalSettings = field(default_factory=RefusalSettings)
    code: ClassVar[str] = "refusal"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag every improvised turn that holds such a phrase."""
        found = []
        for turn in subject.improvised:
            if phrase := refusal_in(turn.text, self.its.refusal_phrases):
                reason = f"speaks as a machine: {quoted(phrase)}"
                found.append(subject.flag(self.code, reason, turn))
        return found


GATE = GateExtension(
    Refusal.code,
    RefusalSettings,
    Refusal,
    reads=lambda code: code in refusal_languages(),
)
