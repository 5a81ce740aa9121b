"""Guess the language of a text from its script and its letters."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from scenarios.scripts import SCRIPTS, script_share
from scenarios.wording import REMEMBERED, words

_SAME: Final = (
    frozenset({"no", "nb", "nn", "da"}), frozenset({"hr", "bs", "sr"}), frozenset({"id", "ms"}),
    frozenset({"pt", "gl"}), frozenset({"cs", "sk"}), frozenset({"bg", "mk"}),
    frozenset({"he", "hbo"}), frozenset({"el", "grc"}), frozenset({"fil", "tl"}),
)  # fmt: skip
"""Languages that short texts do not tell apart."""
_FOREIGN_LETTERS = 0.5
ANOTHER_SCRIPT: Final = "another script"
"""What a text looks like whose letters tell by themselves."""


@lru_cache(maxsize=REMEMBERED)
def other_language(text: str, expected: str, fewest_words: int, doubt: float) -> tuple[float, str]:
    """Say whether a text is in another language than expected.

    Args:
        text: any text.
        expected: the code of a language, such as ``en``; one that is not known is told by its
            script alone.
        fewest_words: that a language is guessed from; another script is seen in any text.
        doubt: probability of the expected language under which the text counts as another's.

    Returns:
        How improbable the expected language is (0: it may be), and what the text looks like.
    """
    known = _is_known(expected)
    if (expected in SCRIPTS or known) and any(char.isalpha() for char in text):
        fitting = script_share(text, [expected])
        if fitting < _FOREIGN_LETTERS:
            return 1 - fitting, ANOTHER_SCRIPT
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
