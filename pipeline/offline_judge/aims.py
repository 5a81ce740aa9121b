"""Tell what an utterance is after, by the steps of scheme ``hipo`` version 2.

Source: HIPO, section 3 (communicative intentions).
"""

from __future__ import annotations

import re
from typing import Final

from pipeline.offline_judge.acts import DIRECTIVES, EXPRESSIVES, act_of
from pipeline.offline_judge.cues import phrases, plain
from pipeline.offline_judge.refusals import refusal
from scenarios.wording import sentences

INFORM: Final = "Inform"
CONVINCE: Final = "Convince"
MOTIVATE: Final = "Motivate"
AFFECT: Final = "Affect"
AIMS: Final = (INFORM, CONVINCE, MOTIVATE, AFFECT)

_CLAUSE_END = re.compile("[,:;]")

CALL: Final = 2
"""Words of a sentence that is no more than a call or an interjection."""

Aim = tuple[str, str]
"""An intention, and the words that show it; no words where nothing does."""


def aim_of(text: str) -> Aim:
    """Return the intention of a line: action, then feeling, then doubt, else information.

    A feeling counts where hardly anything is left without it: every sentence that is more than a call
    shows one.
    """
    parts = [plain(part) for part in sentences(text)] or [""]
    for part in parts:
        if words := _action(part):
            return MOTIVATE, words
    if words := feeling_of(text):
        return AFFECT, words
    for part in reversed(parts):
        if match := phrases("aims", "convince").search(part):
            return CONVINCE, match[0]
    if len(parts) == 1 and "," not in parts[0] and (words := refusal(parts[0])):
        return INFORM, words
    for part in parts:
        if match := phrases("aims", "inform").search(part):
            return INFORM, match[0]
    return INFORM, ""


def feeling_of(text: str) -> str:
    """Return the words of feeling of a line that is all feeling; nothing of any other."""
    whole = [part for part in map(plain, sentences(text)) if len(part.split()) > CALL]
    felt = [_feeling(part) for part in whole]
    return felt[-1] if felt and all(felt) else ""


def _action(flat: str) -> str:
    """Return the words by which the hearer is to do something, or nothing."""
    if match := phrases("aims", "motivate").search(flat):
        return match[0]
    act, words = act_of(flat)
    if (
        act != DIRECTIVES
        or flat.endswith("?")
        or phrases("aims", "mental").search(_order(flat, words))
    ):
        return ""
    return words


def _order(flat: str, words: str) -> str:
    """Return the clause that an order is: what is said after it asks for nothing."""
    clause = _CLAUSE_END.split(flat.partition(words)[2].lstrip(" ,"), maxsplit=1)[0]
    return f"{words} {clause.lstrip()}"


def _feeling(flat: str) -> str:
    """Return the words of feeling of a sentence; of one with a colon, of what it leads up to."""
    flat = flat.rpartition(": ")[2]
    if match := phrases("aims", "affect").search(flat):
        return match[0]
    act, words = act_of(flat)
    bare = phrases("aims", "hearer").search(flat) and not phrases("aims", "told").search(flat)
    return words if act == EXPRESSIVES and bare else ""
