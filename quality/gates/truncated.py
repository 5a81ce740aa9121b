"""A turn breaks off."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import ClassVar

from quality.gates.protocol import GatedDialogue, GateExtension, NoSettings, quoted
from scenarios.verdicts import Flag

_NO_FULL_STOP = frozenset({"th", "lo", "km", "my", "bo", "dz"})
"""Languages whose sentences end without a mark."""
_CLOSERS = "\"'*_~`"
_NEVER_LAST = re.compile(
    r"\b(?:the|an|my|our|its|their|and|or|because|although|whereas|unless|than)[.!?…]*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Truncated:
    """Looks for turns that end without the mark of an end, or in a word that none ends in."""

    code: ClassVar[str] = "truncated"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag every improvised turn that is cut off; one without words is left to another gate."""
        if subject.language in _NO_FULL_STOP:
            return []
        return [
            subject.flag(self.code, f"breaks off: {quoted(turn.text[-60:])}", turn)
            for turn in subject.improvised
            if any(char.isalnum() for char in turn.text) and is_cut(turn.text, subject.language)
        ]


def is_cut(text: str, language: str = "en") -> bool:
    """Whether a text lacks an end, going by its last characters and, in English, its last word."""
    end = text.rstrip()
    while end and (end[-1] in _CLOSERS or unicodedata.category(end[-1]) in _DECORATION):
        end = end[:-1].rstrip()
    if not end or not _ends(end[-1]):
        return True
    return language == "en" and _NEVER_LAST.search(end) is not None


_DECORATION = frozenset({"Pe", "Pf", "Pi", "So", "Sk", "Mn", "Cf"})
"""Closing quotes and brackets, emoji and what modifies them."""


def _ends(char: str) -> bool:
    """Whether a character ends a sentence in some script."""
    name = unicodedata.name(char, "")
    return char in ".!?…‽" or any(
        part in name for part in ("FULL STOP", "QUESTION MARK", "EXCLAMATION MARK", "DANDA")
    )


GATE = GateExtension(Truncated.code, NoSettings, lambda _: Truncated())
