"""A turn says again what was said before."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

from quality.gates.protocol import GatedDialogue, GateExtension, Share
from scenarios.strict import Strict
from scenarios.verdicts import Flag
from scenarios.wording import REMEMBERED, words

Said = tuple[tuple[str, ...], frozenset[tuple[str, str, str]]]
"""The words of a text, and its word triples."""


class RepetitionSettings(Strict):
    """From when on two turns are one."""

    repeat_share: Share = 0.8
    """Share of common word triples from which on a turn repeats an earlier one."""


@dataclass(frozen=True, slots=True)
class RepeatedTurn:
    """Compares every improvised turn with all turns before it, whoever spoke."""

    its: RepetitionSettings = field(default_factory=RepetitionSettings)
    code: ClassVar[str] = "repeated_turn"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag every turn that is nearly an earlier one; the severity is how alike they are."""
        found = []
        turns = subject.dialogue.turns
        said = [_said(turn.text) for turn in turns]
        for at, turn in enumerate(turns):
            if turn.kind != "improvised":
                continue
            alike = [(likeness(said[at], said[i]), before) for i, before in enumerate(turns[:at])]
            best, before = max(alike, key=lambda pair: pair[0], default=(0.0, turn))
            if best >= self.its.repeat_share:
                reason = f"{best:.0%} the same as turn {before.index}"
                found.append(subject.flag(self.code, reason, turn, best))
        return found


def likeness(left: Said, right: Said) -> float:
    """Return the share of word triples two texts have in common (Jaccard), in [0, 1].

    Texts shorter than three words are alike only if they are equal; no words are like no others.
    """
    (words_of, triples), (words_before, others) = left, right
    if not words_of or not words_before:
        return 0.0
    if words_of == words_before:
        return 1.0
    common = len(triples & others)
    return common / (len(triples) + len(others) - common) if common else 0.0


@lru_cache(maxsize=REMEMBERED)
def _said(text: str) -> Said:
    said = words(text)
    return said, frozenset(zip(said, said[1:], said[2:], strict=False))


GATE = GateExtension(RepeatedTurn.code, RepetitionSettings, RepeatedTurn)
