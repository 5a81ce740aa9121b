"""A turn is in another language than the one that is to be spoken."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, ClassVar, Final

from py3langid.langid import MODEL_FILE, LanguageIdentifier
from pydantic import Field

from quality.gates.protocol import GatedDialogue, GateExtension
from scenarios.strict import Strict
from scenarios.verdicts import Flag
from scenarios.wording import REMEMBERED, SCRIPTS, script_share, words

_SAME: Final = (
    frozenset({"no", "nb", "nn", "da"}), frozenset({"hr", "bs", "sr"}), frozenset({"id", "ms"}),
    frozenset({"pt", "gl"}), frozenset({"cs", "sk"}), frozenset({"bg", "mk"}),
    frozenset({"he", "hbo"}), frozenset({"el", "grc"}), frozenset({"fil", "tl"}),
)  # fmt: skip
"""Languages that short texts do not tell apart."""
_FOREIGN_LETTERS = 0.5


class LanguageSettings(Strict):
    """How sure the guess of a language must be."""

    language_words: Annotated[int, Field(ge=1, le=100)] = 4
    """Fewest words that a language is guessed from; other scripts are seen in any text."""
    language_doubt: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Probability of the expected language under which a turn counts as another language."""


@dataclass(frozen=True, slots=True)
class WrongLanguage:
    """Guesses the language of every turn, the opening included, from its script and its letters."""

    fewest_words: int = 4
    doubt: float = 0.05
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
            improbable, seen = _other(turn.text, expected, self.fewest_words, self.doubt)
            if improbable:
                reason = f"expected {expected}, looks like {seen}"
                found.append(subject.flag(self.code, reason, turn, improbable))
        return found


@lru_cache(maxsize=REMEMBERED)
def _other(text: str, expected: str, fewest_words: int, doubt: float) -> tuple[float, str]:
    """Return how improbable the expected language is (0: it may be), and what it looks like."""
    known = _is_known(expected)
    if (expected in SCRIPTS or known) and any(char.isalpha() for char in text):
        fitting = script_share(text, [expected])
        if fitting < _FOREIGN_LETTERS:
            return 1 - fitting, "another script"
    if not known or len(words(text)) < fewest_words:
        return 0.0, ""
    clean, kin = text.encode("utf-8", "replace").decode(), _kin(expected)
    likely, _ = _identifier().classify(clean)
    if likely in kin:
        return 0.0, ""
    shares = dict(_identifier().rank(clean))
    probability = sum(shares.get(code, 0.0) for code in kin)
    return (1 - probability, likely) if probability < doubt else (0.0, "")


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@lru_cache(maxsize=256)
def _is_known(language: str) -> bool:
    return bool(_kin(language) & set(_identifier().labels))


@lru_cache(maxsize=256)
def _kin(language: str) -> frozenset[str]:
    return next((group for group in _SAME if language in group), frozenset({language}))


GATE = GateExtension(
    WrongLanguage.code,
    LanguageSettings,
    lambda its: WrongLanguage(its.language_words, its.language_doubt),
)
