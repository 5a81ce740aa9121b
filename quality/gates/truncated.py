"""A turn breaks off."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import ClassVar

from quality.gates.protocol import GatedDialogue, GateExtension, NoSettings, quoted
from scenarios.verdicts import Flag
from scenarios.wording import words

_NO_FULL_STOP = frozenset({"th", "lo", "km", "my", "bo", "dz"})
"""Languages whose sentences end without a mark."""
_CLOSERS = "\"'*_~`"
_MARKS = ".!?…"
_BRACKETS = dict(
    zip("(\uff08\u300c\u300e\u300a\u3010", ")\uff09\u300d\u300f\u300b\u3011", strict=True)
)
_LONGEST_ENDING = 24
"""More characters than any ending has that :data:`_NEVER_LAST` looks for, marks aside."""
_NEVER_LAST = re.compile(
    r"(?:(?<![\w'\u2019-])(?:the|a|an|my|our|your|its|their|every|and|or|nor|but|if|because|although|"
    r"whereas|unless|than|during|until|upon|towards|via|per|such as|as well as|in order to|due to|"
    r"according to|instead of|because of|one of|some of|most of|out of|"
    r"(?:i|you|we|they)['\u2019](?:m|ve|re|ll|d)|(?:it|he|she|there|that)['\u2019](?:s|d|ll))|,)[.!?…]*$",
    re.IGNORECASE,
)
_SELDOM_LAST = re.compile(
    r"(?<![\w'\u2019-])(?P<before>[\w'\u2019-]+) (?:of|from|at|by|as)[.!…]+$", re.IGNORECASE
)
_STRANDS = frozenset(
    words(
        "think thinking thought dream dreamt dreamed hear heard hearing speak spoken made proud afraid "
        "aware sure fond know knew known sort kind tired sick guilty accused full short capable come came "
        "coming comes are is am was were look looking looked good bad getting laughed staying stay live "
        "lived living work worked working stand stood go goes going went drive drove drop dropped stop "
        "stopped close near pass passed swear live sworn far away borrow borrowed hide hid run ran such "
        "apart where it them him her me us you this that"
    )
)
"""After these a preposition may end a sentence: "that I know of", "where she comes from"."""


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
    """Whether a text lacks an end.

    It does if no mark ends it, if a bracket or a quotation is never closed and, in English, if its
    last word ends no sentence, whatever mark stands after it. What an endpoint reports as cut never
    becomes an answer (``pipeline.calls.records.parse_sample``); this is for the cuts it does not tell.
    """
    last = len(text)
    while last and _stands_behind(text[last - 1]):
        last -= 1
    end = text[:last]
    if not end or not _ends(end[-1]):
        return True
    if _is_open(end, text):
        return True
    if language != "en":
        return False
    # Both patterns end where the marks begin: nothing further forward has to be looked at.
    core = end.rstrip(_MARKS)
    if _NEVER_LAST.search(end, max(0, len(core) - _LONGEST_ENDING)) is not None:
        return True
    found = _SELDOM_LAST.search(end, core.rfind(" ", 0, max(0, core.rfind(" "))) + 1)
    return found is not None and found["before"].casefold() not in _STRANDS


def _is_open(end: str, text: str) -> bool:
    """Whether a bracket or a quotation begins that the text does not close.

    German, Czech and others begin with a low mark and close with the one that begins in English.
    """
    if any(end.count(first) > text.count(last) for first, last in _BRACKETS.items()):
        return True
    if "\u201e" in text:
        return end.count("\u201e") > text.count("\u201c") + text.count("\u201d")
    return end.count("\u201c") > text.count("\u201d")


_DECORATION = frozenset({"Pe", "Pf", "Pi", "So", "Sk", "Mn", "Cf"})
"""Closing quotes and brackets, emoji and what modifies them."""


def _stands_behind(char: str) -> bool:
    """Whether a character may follow the mark that ends a sentence."""
    return char.isspace() or char in _CLOSERS or unicodedata.category(char) in _DECORATION


def _ends(char: str) -> bool:
    """Whether a character ends a sentence in some script."""
    name = unicodedata.name(char, "")
    return char in ".!?…‽" or any(
        part in name for part in ("FULL STOP", "QUESTION MARK", "EXCLAMATION MARK", "DANDA")
    )


GATE = GateExtension(
    Truncated.code, NoSettings, lambda _: Truncated(), reads=lambda code: code not in _NO_FULL_STOP
)
