"""Which script a language is written in, and how much of a text is in it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_BY_SCRIPTS = {
    "ARABIC": "ar ary arz fa ckb ps sd ug ur",
    "ARMENIAN": "hy",
    "BENGALI": "as bn",
    "CJK": "wuu yue zh",
    "CJK HIRAGANA KATAKANA": "ja",
    "CYRILLIC": "ab ba be bg ce cv ky mk mn os ru tg tt uk",
    "CYRILLIC LATIN": "crh kk sr tk uz",
    "DEVANAGARI": "gom hi mai mr ne sa",
    "ETHIOPIC": "am ti",
    "GEORGIAN": "ka",
    "GREEK": "el grc",
    "GUJARATI": "gu",
    "GURMUKHI ARABIC": "pa",
    "HANGUL CJK": "ko",
    "HEBREW": "hbo he yi",
    "KANNADA": "kn",
    "KHMER": "km",
    "LAO": "lo",
    "MALAYALAM": "ml",
    "MYANMAR": "my",
    "ORIYA": "or",
    "SINHALA": "si",
    "TAMIL": "ta",
    "TELUGU": "te",
    "THAI": "th",
    "TIBETAN": "bo dz",
}
SCRIPTS = {
    language: tuple(scripts.split())
    for scripts, languages in _BY_SCRIPTS.items()
    for language in languages.split()
}
"""Scripts of languages not written in Latin letters alone, by the names Unicode gives their letters."""
_WORDS_IN_ONE_SIGN = frozenset({"CJK", "HANGUL"})
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+")
REMEMBERED = 8192
"""Letters of which the script is kept."""


def script_share(text: str, languages: Sequence[str]) -> float:
    """Return which share of the letters belongs to a script of the languages, in [0, 1].

    Where a sign is a word or a syllable, a word in Latin letters counts as one sign, too: in
    Chinese, a sentence with the name of a product is still a Chinese sentence.
    """
    expected = {
        script
        for language in languages
        for script in SCRIPTS.get(language.split("-")[0].casefold(), ("LATIN",))
    }
    if text.isascii() and "LATIN" in expected:
        return 1.0
    if expected & _WORDS_IN_ONE_SIGN:
        text = _LATIN_WORD.sub("x", text)
    letters = [char for char in text if char.isalpha()]
    fitting = sum(_script_of(letter) in expected for letter in letters)
    return fitting / len(letters) if letters else 1.0


@lru_cache(maxsize=REMEMBERED)
def _script_of(letter: str) -> str:
    """Return the first word of the name that Unicode gives a letter: its script."""
    return unicodedata.name(letter, "").split(" ")[0].split("-")[0]
