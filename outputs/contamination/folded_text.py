"""Texts as they look: without signs that nobody sees, and each letter as the one it is taken for."""

from __future__ import annotations

import unicodedata
from functools import cache

_UNSEEN = frozenset({"Cf", "Mn", "Me"})
"""Zero-width signs, soft hyphens and marks of direction; accents and other marks on letters."""


def folded_text(text: str) -> str:
    """Return a text so that two that look alike are the same.

    Letters are those of the Latin alphabet that they can be confused with (Unicode's list of
    confusables: a Cyrillic or Greek ``a`` becomes ``a``), accents are left out, and so is what has
    no width. Russian or Greek words become strange ones, the same on both sides of a comparison.
    """
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text)
    return "".join(_looks(sign) for sign in parts if unicodedata.category(sign) not in _UNSEEN)


@cache
def _looks(sign: str) -> str:
    from confusable_homoglyphs.confusables import confusables_data  # noqa: PLC0415 reads a megabyte

    if sign.isascii() or not sign.isalpha():
        return sign
    for other in confusables_data.get(sign, ()):
        name = other["c"]
        if len(name) == 1 and name.isascii() and name.isalpha():
            return str(name)
    return sign
