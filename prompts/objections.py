"""What there is to say against an answer that can be read: it repeats words, or will not play."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from prompts.refusals import refusal_in
from scenarios.dialogue import Draft, History
from scenarios.wording import words

_NO_LETTER = re.compile(r"[\W_]+")
_ASCII_SIGNS = dict.fromkeys(code for code in range(128) if not chr(code).isalnum())
SAID_ALREADY = "utterance: this line has been said already; say something else"
DECLINED = "utterance: found words of a machine, expected what this person says"


def against_utterance(text: str, history: History) -> tuple[str, ...]:
    """Object to an utterance that is one of the conversation's, whoever said it, or a refusal.

    Case, spaces and punctuation make no difference.

    Returns:
        One reason, fit to be handed back to the model; none where the utterance is new and spoken
        in a role.
    """
    if refusal_in(text):
        return (DECLINED,)
    repeated = _first_same(text, [line for _, line in history])
    return () if repeated is None else (SAID_ALREADY,)


def against_draft(draft: Draft, history: History) -> tuple[str, ...]:
    """Object to a draft whose utterance was said before, or is one of its own reasons or labels.

    Returns:
        One reason for each objection, fit to be handed back to the model.
    """
    found = list(against_utterance(draft.text, history))
    reasons = [label.rationale for label in draft.tactic]
    labels = [str(label.value) for label in draft.tactic]
    copied = _first_same(draft.text, [*reasons, *labels, str(draft.goal)])
    if copied is not None:
        keys = [f"{label.dimension}_rationale" for label in draft.tactic]
        keys += [label.dimension for label in draft.tactic]
        what = f'the words of "{keys[copied]}"' if copied < len(keys) else "a label"
        found.append(f"utterance: found {what}, expected what is said to the other person")
    return tuple(found)


def _first_same(text: str, others: Sequence[str]) -> int | None:
    """Return the place of the first that is the same words; no words are the same as none."""
    letters = _letters(text)
    # Telling words apart in every script takes its time, and nearly all lines are new: their
    # letters alone show it.
    if not letters or letters not in map(_letters, others):
        return None
    for place, other in enumerate(others):
        if _letters(other) == letters and words(other) == words(text):
            return place
    return None


@lru_cache(maxsize=4096)
def _letters(text: str) -> str:
    """Return the letters and digits of a text, whatever their case; all but a few signs are ASCII."""
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_ASCII_SIGNS)
    return folded if folded.isascii() else _NO_LETTER.sub("", folded)
