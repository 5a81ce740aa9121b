"""What a returned sheet shows beside answers, held against the words that its ids name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from quality.review.exhibits import ReviewDialogue
from quality.review.outgoing import Incoming, dialogue_text
from quality.tables.header import SHOWN_WORDS
from scenarios.errors import Problem
from scenarios.located import shortened

UTTERANCE: Final = SHOWN_WORDS[0]
_NO_WORD = re.compile(r"[\W_]+")
_NO_ASCII = re.compile(r"[^a-z0-9]+")
_FIGURES = re.compile(r"(?=\D{0,20}\d)[\W\d_]{0,20}[^\W\d_]{0,12}[\W\d_]{0,20}")
"""What a spreadsheet may take for a number or a date: figures, and one word at most."""
_CHANGED: Final = 5
"""One in so many letters may be another: who mends a typo changes one place."""
_CUT: Final = 16_000
"""Characters of a cell that may have been cut: Excel keeps 32,767, of which a picture takes two."""
_SHOWN_BEFORE: Final = 20
"""Characters that are shown before what differs: twins of a case begin alike."""


def other_words(sheet: Incoming, exhibit: ReviewDialogue, file: str) -> Iterator[Problem]:
    """Yield where a row shows other words than those that its id names: ids and rows came apart."""
    turns: dict[int | None, str] = {said.turn: said.text for said in exhibit.utterances}
    for turn, column, cell, line in sheet.shown:
        words, what = dialogue_text(exhibit, turn), "the dialogue"
        if column == UTTERANCE:  # of a turn that is not there, the answers are told
            words, what = turns.get(turn, cell), f"turn {turn}"
        if not _same_words(cell, words):
            differs = max(_alike(*sorted((cell, words), key=len)) - _SHOWN_BEFORE, 0)
            yield Problem(
                file,
                line,
                column,
                shortened(cell[differs:]),
                f"{shortened(words[differs:])}, the words of {what} that item names",
                "put the ids of the exported sheet back, and sort whole rows; or, if only words were changed, "
                "leave the column out",
            )


def _same_words(cell: str, words: str) -> bool:
    """Return whether two texts are the same, but for what programs and who mends a typo make of one.

    Programs lose signs and accents, cut long cells, and write numbers and dates in their own way.
    """
    if _FIGURES.fullmatch(words) and _FIGURES.fullmatch(cell):
        return True
    some, others = (_NO_WORD.sub("", _composed(text)) for text in (cell, words))
    if len(cell) > _CUT:
        others = others[: len(some)]
    plain, plain_others = (_NO_ASCII.sub("", text) for text in (some, others))
    return not some or _nearly(some, others) or (plain != "" and _nearly(plain, plain_others))


def _composed(text: str) -> str:
    """Return a text in small letters, each with its accents, as some programs take them apart."""
    return unicodedata.normalize("NFC", text).lower()


def _nearly(some: str, others: str) -> bool:
    """Return whether two texts begin and end alike, but for a fifth of the longer one in one place."""
    short, long = sorted((some, others), key=len)
    before = _alike(short, long)
    after = _alike(short[before:][::-1], long[::-1])
    return _CHANGED * (len(long) - before - after) <= len(long)


def _alike(short: str, long: str) -> int:
    """Return how many letters two texts begin with alike."""
    pairs = enumerate(zip(short, long, strict=False))
    return next((place for place, (one, other) in pairs if one != other), len(short))
