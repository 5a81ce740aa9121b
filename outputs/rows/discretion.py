"""Detect texts that give away private knowledge."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from scenarios.guessed_language import other_language
from scenarios.wording import content_stems, numbers

_DENSE = 0x2E80
"""From here on, most scripts write words without spaces between them."""


_FEWEST_WORDS = 4
_DOUBT = 0.05


def reveals(text: str, *, fact: str, public: Iterable[str], language: str = "en") -> bool:
    """Return whether a text holds a word of the private fact that no public text holds.

    It errs on the side of silence: a rationale that shares one telling word with the fact counts,
    though it may not mean the same by it, and so does one in another language than the fact, whose
    words cannot be compared, as long as the fact is private at all.

    Args:
        text: what somebody who knows the fact has written.
        fact: the private fact, with what it concerns.
        public: everything that may be known, the words of the task included.
        language: of the fact, as its code.
    """
    telling = _telling(fact)
    code = language.partition("-")[0].casefold()
    if code == "en" or not other_language(text, code, _FEWEST_WORDS, _DOUBT)[0]:
        telling = telling & _telling(text)
    for statement in public:
        if not telling:
            return False
        telling -= _telling(statement)
    return bool(telling)


@lru_cache(maxsize=4096)
def _telling(text: str) -> frozenset[str]:
    """Return stems, numbers, and pairs of characters of scripts that do not divide words."""
    dense = {
        a + b
        for a, b in pairwise(text)
        if ord(a) >= _DENSE and ord(b) >= _DENSE and a.isalpha() and b.isalpha()
    }
    return content_stems(text) | numbers(text) | dense
