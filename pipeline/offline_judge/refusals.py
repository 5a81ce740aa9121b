"""Find the words with which somebody openly keeps something back."""

from __future__ import annotations

import re

from pipeline.offline_judge.cues import phrases

_HELD_BACK = re.compile(
    r"\b(?:i|we)(?: am| are| have)? (?:still |now |just )?(?:hold|keep|leav|sat|sit|stay)(?:e|s|ing|t)? (?!nothing\b|coming\b)"
    r"(?:\w+ ){0,5}(?:back|out|aside|alone|to myself|to ourselves|unanswered|where it is|open|off the \w+)\b"
)
_NOT_DONE = re.compile(
    r"\b(?:i|we)(?: \w+ly| also| just| simply)* (?:(?:will|would|can|could|may|must|shall|do|am|are)(?: rather)? (?:not|never|hardly)|"
    r"cannot|refuse to|decline to|prefer not)\b(?: (?:going|want|wish|able|allowed|free|prepared|ready|"
    r"willing|in a position))?(?: to)?(?: \w+ly)?((?: \w+){1,4})"
)


def refusal(flat: str) -> str:
    """Return the words with which a plain text refuses to tell something, or nothing."""
    for pattern in (phrases("refusals", "withholding"), _HELD_BACK):
        if match := pattern.search(flat):
            return match[0].strip()
    for match in _NOT_DONE.finditer(flat):
        if not phrases("refusals", "no_refusal").search(match[1]):
            return match[0].strip()
    return ""
