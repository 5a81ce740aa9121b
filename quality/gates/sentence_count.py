"""More sentences than people say in one breath."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from pydantic import Field

from quality.gates.protocol import GatedDialogue, GateExtension
from scenarios.strict import Strict
from scenarios.verdicts import Flag
from scenarios.wording import sentences


class SentenceSettings(Strict):
    """How long an utterance may be."""

    max_sentences: Annotated[int, Field(ge=1, le=50)] = 2
    """Sentences that an utterance may have; a scenario with a flow says so itself, by part.

    Source: HIPO, section 4.3 (one or two sentences).
    """


@dataclass(frozen=True, slots=True)
class SentenceCount:
    """Counts the sentences of every improvised turn, whoever speaks."""

    its: SentenceSettings = field(default_factory=SentenceSettings)
    code: ClassVar[str] = "too_many_sentences"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag every turn with more sentences than are wanted; the severity is their number."""
        found = []
        for turn in subject.improvised:
            count = len(sentences(turn.text))
            wanted = subject.wanted_length(turn)
            limit = self.its.max_sentences if wanted is None else wanted.sentences[1]
            if count > limit:
                reason = f"{count} sentences, at most {limit} are wanted"
                found.append(subject.flag(self.code, reason, turn, float(count)))
        return found


GATE = GateExtension(SentenceCount.code, SentenceSettings, SentenceCount)
