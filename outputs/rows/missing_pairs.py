"""Why a dialogue gives no preference pair: what of two answers, and of what prefers one, is missing."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from outputs.kinds.origins import Origin
from outputs.rows.preferred_answers import PreferredAnswer, parting, same_words
from outputs.selecting.left_out import (
    DRAFT_KEPT,
    NOTHING_WANTED,
    ONE_ANSWER,
    OTHER_PAIRS,
    PAIRS_LEFT_OUT,
    SAME_ANSWERS,
    SAME_STANDING,
    WORSE_SIDE,
)
from outputs.selecting.selection import SelectedDialogue


def why_no_pair(
    selected: SelectedDialogue,
    batch: Sequence[SelectedDialogue],
    preferred: Sequence[PreferredAnswer],
    origins: Collection[Origin],
) -> str:
    """Return the reason why no pair has its better answer in a dialogue.

    Args:
        selected: the dialogue.
        batch: the dialogues of its case, itself among them.
        preferred: all that any kind prefers in them.
        origins: the kinds that were asked for.
    """
    own = [one for one in preferred if one.selected is selected]
    if any(one.origin in origins for one in own):
        return PAIRS_LEFT_OUT
    arm = selected.dialogue.arm
    if any(one.rejected_arm == arm and one.origin in origins for one in preferred):
        return WORSE_SIDE
    if own:
        return OTHER_PAIRS
    others = [one for one in batch if one is not selected]
    places = [place for one in others if (place := parting(selected, one)) is not None]
    if places:
        wanted = any(mine.wanted or theirs.wanted for mine, theirs in places)
        return SAME_STANDING if wanted or "wanted" not in origins else NOTHING_WANTED
    turns = selected.dialogue.turns
    if any(turn.trace is not None and turn.trace.attempts for turn in turns):
        return DRAFT_KEPT
    said = _words(selected)
    return SAME_ANSWERS if any(same_words(said, _words(one)) for one in others) else ONE_ANSWER


def _words(selected: SelectedDialogue) -> str:
    return "\n".join(turn.text for turn in selected.dialogue.turns)
