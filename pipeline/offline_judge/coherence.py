"""Decide whether an utterance fits the conversation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.offline_judge.cues import plain, stems
from scenarios.wording import content_stems, share, shingles, union, words

FEWEST = 2
"""Topical words that an utterance must have before they can be called foreign."""
RUN, REPEATED = 3, 0.75
"""Words in a row, and the share of those runs that makes a line the same as an earlier one."""
FEWEST_HERE = 5
"""The same, where somebody speaks of himself, of the hearer or of what was just said."""
_MACHINE = re.compile(
    r"\b(?:language model|as an ai|ai assistant|your request|assist you|role-?play|json|prompt)\b"
)
_HERE = re.compile(r"\b(?:i|me|my|you|your|we|us|our|this|that|it)\b")


def incoherence(
    text: str, *, said: Sequence[str], situation: str, about: str, fact: str, at_home: bool = False
) -> str:
    """Return why an utterance does not go with what was said before; nothing where it does.

    It says something again, breaks off, speaks as a machine, or is about things that occur
    nowhere in the situation, the fact or the conversation; a line known to be ``at_home`` in the
    situation may be about anything.
    """
    flat = plain(text)
    if not words(flat):
        return "nothing is said"
    if any(words(before) == words(text) for before in said):
        return "it was said before, word for word"
    own = shingles(text, RUN)
    if own and any(share(own, shingles(before, RUN)) >= REPEATED for before in said):
        return "it was said before, but for a word or two"
    if text.rstrip()[-1].isalnum() or text.rstrip()[-1] in ",;:-(":
        return "it breaks off"
    if match := _MACHINE.search(flat):
        return f'no person talks like that: "{match[0]}"'
    return "" if at_home else _foreign(text, flat, said, (situation, about, fact))


def _foreign(text: str, flat: str, said: Sequence[str], world: Sequence[str]) -> str:
    """Return which words belong to some other conversation, if most topical words do."""
    topical = content_stems(text) - stems("talk", "words")
    known = union(world) | union(said)
    strange = topical - known
    fewest = FEWEST_HERE if _HERE.search(flat) else FEWEST
    if len(strange) >= fewest and not topical & known:
        return f"nobody is talking about {', '.join(sorted(strange)[:4])}"
    return ""
