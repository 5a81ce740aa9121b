"""A turn is in another language than the one that is to be spoken."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from pydantic import Field

from quality.gates.protocol import GatedDialogue, GateExtension
from scenarios.guessed_language import other_language
from scenarios.strict import Strict
from scenarios.verdicts import Flag


class LanguageSettings(Strict):
    """How sure the guess of a language must be."""

    language_words: Annotated[int, Field(ge=1, le=100)] = 4
    """Fewest words that a language is guessed from; other scripts are seen in any text."""
    language_doubt: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Probability of the expected language under which a turn counts as another language."""


@dataclass(frozen=True, slots=True)
class WrongLanguage:
    """Guesses the language of every turn, the opening included, from its script and its letters."""

    its: LanguageSettings = field(default_factory=LanguageSettings)
    code: ClassVar[str] = "wrong_language"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag every turn that is not in the language of the case.

        The severity is how improbable that language is. What the guesser does not know is judged
        by its script alone.
        """
        expected = subject.language
        if not expected:
            return []
        found = []
        for turn in subject.dialogue.turns:
            improbable, seen = other_language(
                turn.text, expected, self.its.language_words, self.its.language_doubt
            )
            if improbable:
                reason = f"expected {expected}, looks like {seen}"
                found.append(subject.flag(self.code, reason, turn, improbable))
        return found


GATE = GateExtension(WrongLanguage.code, LanguageSettings, WrongLanguage)
