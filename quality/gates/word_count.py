"""Lines that are shorter or longer than people talk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from pydantic import Field

from quality.gates.protocol import GatedDialogue, GateExtension
from scenarios.conversation import Length
from scenarios.plural import plural
from scenarios.strict import Strict
from scenarios.verdicts import Flag
from scenarios.wording import WITHOUT_SPACES, words


class WordSettings(Strict):
    """How many words a line may have; a scenario with a flow says so itself, by part."""

    fewest_words: Annotated[int, Field(ge=1, le=50)] = 3
    """People ask and answer in three words ("Who painted it?"); fewer say nothing to label."""
    most_words: Annotated[int, Field(ge=1, le=500)] = 45
    """Actors are asked for 35 at most; a third more is let pass."""


@dataclass(frozen=True, slots=True)
class WordCount:
    """Counts the words of every improvised turn, whoever speaks."""

    its: WordSettings = field(default_factory=WordSettings)
    code: ClassVar[str] = "word_count"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag every turn with fewer or more words; the severity is their number.

        Languages that put no space between words are not judged.
        """
        if subject.language in WITHOUT_SPACES:
            return []
        found = []
        for turn in subject.improvised:
            count = len(words(turn.text))
            length = subject.wanted_length(turn)
            fewest, most = self.its.fewest_words, self.its.most_words
            if length is not None:
                fewest, most = _let_pass(length)
            if not fewest <= count <= most:
                wanted = f"{fewest} to {most} are wanted"
                found.append(
                    subject.flag(
                        self.code, f"{plural(count, 'word')}, {wanted}", turn, float(count)
                    )
                )
        return found


def _let_pass(length: Length) -> tuple[int, int]:
    """Return the least and the most words that pass: a quarter beyond those that are wanted."""
    least, most = length.words
    return least * 3 // 4, most * 5 // 4


GATE = GateExtension(
    WordCount.code,
    WordSettings,
    WordCount,
    reads=lambda code: code not in WITHOUT_SPACES,
)
