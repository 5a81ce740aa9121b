"""Say why a line carries its labels, in words of this line and this fact."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipeline.offline.dice import Dice
from pipeline.offline.grammar import listed, realise
from pipeline.offline.phrases import lowered, tidy
from pipeline.offline.tactics import LIE
from pipeline.offline.wording import sentence, sentences

_MOST_WORDS, _MOST_OF_A_LIE = 9, 16
"""Words that are quoted; what is false may stand at the end of a sentence."""
_CUES = {
    "Convince": r"never|not |n't|honest|promise|of course|no |believe|trust|because|every|all ",
    "Motivate": r"^(?!I\b)|\?|let",
    "Affect": r"sorry|thank|glad|hurt|sad|asham|grateful|love|hate|tired",
    "Directives": r"\?$|^(?!I\b)",
    "Commissives": r"\bI'll\b|\bI will\b|won't|not going|promise|can't|you may|you can",
    "Expressives": r"sorry|thank|glad|grateful|regret|apolog|relie",
    "Declarations": r"hereby|as of|declare|clos|cancel|this minute|now",
}
"""Signs by which the sentence is chosen that a reason quotes."""


@dataclass(frozen=True, slots=True)
class Reasons:
    """What the reasons for the labels of one line speak of."""

    text: str
    about: str
    """What the fact concerns."""
    hearer: str
    falsehood: str
    """A claim that is false; nothing where none is known."""

    def of(self, dimension: str, label: str, dice: Dice) -> str:
        """Say in one sentence how the line carries a label."""
        claim = lowered(tidy(self.falsehood))
        slots = {
            "words": (quoted(self.text, label),),
            "about": (lowered(tidy(self.about)) or "that",),
            "hearer": (tidy(self.hearer, limit=60) or "hearer",),
            "label": (tidy(label),),
            "claim": (claim,) if claim else (),
        }
        templates = listed("asides", "rationales", dimension, label)
        if claim:  # what is false is said best itself: its line may say it at the end, or imply it
            templates = tuple(one for one in templates if "{claim}" in one) or templates
        return sentence(realise(templates or listed("asides", "rationales", "other"), slots, dice))


def quoted(text: str, label: str = "") -> str:
    """Return the beginning of the sentence that speaks most for a label, without quotation marks."""
    parts = sentences(text.replace('"', "")) or [text]
    cue = _CUES.get(label)
    chosen = next((part for part in parts if cue and re.search(cue, part, re.IGNORECASE)), parts[0])
    bare = chosen.split()
    most = _MOST_OF_A_LIE if label == LIE else _MOST_WORDS
    if len(bare) <= most:
        return " ".join(bare).rstrip(".!,;:")
    for count in range(most, 3, -1):
        if bare[count - 1][-1] in ",;:":
            return " ".join(bare[:count]).rstrip(",;:")
    return f"{' '.join(bare[: most - 1])} ..."
